"""Text to token ids for process reward models: one path for training and scoring.

A solution becomes [bos] problem <|solution|> step <|step|> step <|step|> ... (with `numbered`, each step
begins with its number and a colon, which a small model cannot count for itself). The marks are ids, never
text: special-token parsing is off for what people and models wrote, so no text can imitate a mark. The step
mark is neutral: ratings of earlier steps are nowhere in the input. The label tokens never occur in the
input; their rows of the output matrix are the classifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from models_prm.errors import MarkerError, ModelError

SOLUTION = "<|solution|>"
STEP = "<|step|>"
LABELS: tuple[str, str, str] = ("<|bad|>", "<|okay|>", "<|good|>")
"""Label tokens in the order of records.CLASSES: -1, 0, +1."""
PADDING = "<|pad|>"


@dataclass(frozen=True)
class MarkNames:
    """Names of the tokens that carry meaning, as a model card stores them."""

    solution: str = SOLUTION
    step: str = STEP
    labels: tuple[str, str, str] = LABELS

    def all(self) -> tuple[str, ...]:
        """Every mark."""
        return (self.solution, self.step, *self.labels)


class StepEncoder:
    """Turns problems and steps into ids with a Hugging Face fast tokenizer that knows the marks."""

    def __init__(self, tokenizer: Any, marks: MarkNames | None = None, numbered: bool = False) -> None:
        self.tokenizer = tokenizer
        self.numbered = numbered
        self.marks = marks or MarkNames()
        ids = tokenizer.convert_tokens_to_ids(list(self.marks.all()))
        if len(set(ids)) != len(ids) or None in ids or tokenizer.unk_token_id in ids:
            raise ModelError(
                f"the tokenizer does not know the tokens {', '.join(self.marks.all())}: "
                "is this a model trained by models_prm? For a base model, add them with add_marks"
            )
        self.solution_id: int = ids[0]
        self.step_id: int = ids[1]
        self.label_ids: tuple[int, int, int] = (ids[2], ids[3], ids[4])
        self._reserved = frozenset(ids)

    @property
    def pad_id(self) -> int:
        """Id used to fill batches; never attended to."""
        pad = self.tokenizer.pad_token_id
        return int(pad) if pad is not None else self.step_id

    def texts(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, nothing added. Text that looks like a special token stays ordinary text.

        Raises MarkerError if a tokenizer maps text onto a mark all the same.
        """
        if not texts:
            return []
        encoded: list[list[int]] = self.tokenizer(
            [text.encode("utf-8", "replace").decode("utf-8") for text in texts],
            add_special_tokens=False,
            split_special_tokens=True,
            return_attention_mask=False,
        )["input_ids"]
        for text, ids in zip(texts, encoded, strict=True):
            if found := self._reserved.intersection(ids):
                names = self.tokenizer.convert_ids_to_tokens(sorted(found))
                raise MarkerError(f"text is tokenized to the reserved tokens {names}: {text[:80]!r}")
        return encoded

    def prompts(self, problems: Sequence[str]) -> list[list[int]]:
        """Ids of each problem with the mark that begins its solution."""
        bos = self.tokenizer.bos_token_id
        head = [] if bos is None else [int(bos)]
        return [[*head, *ids, self.solution_id] for ids in self.texts(problems)]

    def steps(self, steps: Sequence[str], places: Sequence[int]) -> list[list[int]]:
        """Ids of each step, ending with the step mark at whose position its score is read.

        `places[i]` is the number of steps before step i in its solution.
        """
        numbers = {place: self.texts([f"{place + 1}:"])[0] if self.numbered else [] for place in {*places}}
        encoded = self.texts(steps)
        return [[*numbers[place], *ids, self.step_id] for place, ids in zip(places, encoded, strict=True)]


def add_marks(tokenizer: Any, marks: MarkNames | None = None) -> int:
    """Add the marks to a base model's tokenizer; returns how many were new. Sets a padding token if none."""
    from tokenizers import AddedToken

    names = (marks or MarkNames()).all()
    added = int(
        tokenizer.add_tokens(
            [AddedToken(name, special=True, normalized=False) for name in names], special_tokens=True
        )
    )
    if tokenizer.pad_token_id is None:
        added += int(tokenizer.add_special_tokens({"pad_token": PADDING}))
    return added


def train_tokenizer(texts: Iterable[str], vocab_size: int) -> Any:
    """A byte-level BPE tokenizer of our own: every text can be encoded, digits stay single tokens.

    `texts` is read once. The result is a `PreTrainedTokenizerFast` that knows the marks.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=2,
        special_tokens=[PADDING, *MarkNames().all()],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(_clean(texts), trainer=trainer)
    make: Any = PreTrainedTokenizerFast
    return make(
        tokenizer_object=core,
        pad_token=PADDING,
        additional_special_tokens=list(MarkNames().all()),
        clean_up_tokenization_spaces=False,
    )


def _clean(texts: Iterable[str]) -> Iterator[str]:
    """Lone surrogates cannot be encoded as UTF-8: they become question marks."""
    return (text.encode("utf-8", "replace").decode("utf-8") for text in texts)
