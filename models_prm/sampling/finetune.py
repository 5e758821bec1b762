"""Teaching a language model to write solutions one step a line: the generator's one epoch of fine-tuning.

    config = FinetuneConfig(data=(Path("pool.jsonl"),), output_dir=Path("var/generator"), base="var/base")
    result = finetune(config)

As the generator of arXiv 2305.20050: solutions with a right final answer, written in the step
format, one epoch; the model learns the format, and is fixed from then on. The text is the template of
`prompts.py` without examples, then the steps, then the end token. Next-token loss on steps and end only.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from models_prm import data
from models_prm.config import ModelShape, Stage
from models_prm.encoding.tokenizer import StepEncoder, train_tokenizer
from models_prm.errors import Cancelled, DataError, RecipeError
from models_prm.records import OnProgress, Progress, ShouldStop
from models_prm.sampling.prompts import build_prompt
from models_prm.sampling.weights import encode_prompts, encode_texts, load_generator, quiet
from models_prm.steps import SPLITTERS, join_steps
from models_prm.training.checkpoint import load_checkpoint, remove_checkpoint, save_checkpoint, write_atomic
from models_prm.training.stages import learning_rate, plan

CARD = "stepmark_generator.json"
END = "<|end|>"
IGNORED = -100


@dataclass(frozen=True)
class FinetuneConfig:
    """Everything that decides the generator.

    `data`: JSONL pools with `problem` and `steps`. `keep` "right": only lines with `is_correct` true; "all":
    every finished line. `base`: directory or hub name of any causal language model; empty: a small one from
    scratch of the given `shape`, with a tokenizer of its own. `max_length`: tokens of prompt and solution;
    longer ones are left out and counted. `refuse_problems`: keys (`records.problem_key`) of problems that may
    not be trained on: the test split.
    """

    data: tuple[Path, ...]
    output_dir: Path
    base: str = ""
    keep: str = "right"
    splitter: str = "newline"
    max_length: int = 1024
    seed: int = 0
    device: str = "cpu"
    threads: int = 0
    checkpoint_seconds: float = 60.0
    refuse_problems: frozenset[str] = frozenset()
    shape: ModelShape = field(default_factory=ModelShape)
    train: Stage = field(default_factory=lambda: Stage(epochs=1, lr=1e-4))

    def __post_init__(self) -> None:
        if not self.data:
            raise RecipeError("data is empty: name at least one JSONL file of solutions")
        if self.keep not in ("right", "all"):
            raise RecipeError(f"keep {self.keep!r} is unknown: use right or all")
        if self.splitter not in SPLITTERS:
            raise RecipeError(f"no splitter {self.splitter!r}: choose one of {', '.join(SPLITTERS)}")
        if self.max_length < 16 or self.checkpoint_seconds <= 0:
            raise RecipeError("max_length must be at least 16 and checkpoint_seconds positive")

    def fingerprint(self) -> str:
        """Digest of settings and data: a run resumes only under the same one."""
        plain = asdict(self)
        for key in ("output_dir", "data", "checkpoint_seconds", "device", "threads"):
            del plain[key]
        plain["refuse_problems"] = sorted(self.refuse_problems)
        plain["files"] = [data.file_sha256(path) for path in self.data]
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class FinetuneResult:
    """The finished generator: its directory, its card, and the loss of every step (nats per token)."""

    model_dir: Path
    card: dict[str, Any]
    losses: tuple[float, ...]


@dataclass(frozen=True)
class _Text:
    """Ids of a prompt and of the solution after it, the end token last."""

    prompt: list[int]
    solution: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.solution)


def finetune(
    config: FinetuneConfig, *, on_progress: OnProgress | None = None, should_stop: ShouldStop | None = None
) -> FinetuneResult:
    """Fine-tune and save a generator; goes on from its checkpoint, and only reads a finished directory.

    Raises DataError (no usable solutions), LeakError, RecipeError (directory of other settings), ModelError,
    and Cancelled after writing a checkpoint when `should_stop` says so.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    digest = config.fingerprint()
    if (done := _finished(config.output_dir, digest)) is not None:
        return done
    counts: Counter[str] = Counter()
    solutions = load_solutions(config, counts)
    torch.manual_seed(config.seed)
    lm, tokenizer = _start(config, solutions)
    texts = encode_solutions(tokenizer, solutions, config, counts)
    if not texts:
        raise DataError(f"no solution fits into {config.max_length} tokens: raise max_length")
    losses = _train(
        config, digest, lm, texts, pad=_pad(tokenizer), on_progress=on_progress, should_stop=should_stop
    )
    return _save(config, digest, lm, tokenizer, counts=counts, losses=losses)


def load_solutions(config: FinetuneConfig, counts: Counter[str]) -> list[data.CorpusText]:
    """Distinct solutions to learn from, in file order. Counts what is left out, and why."""
    found: dict[data.CorpusText, None] = {}
    for path in config.data:
        for number, record in data.read_jsonl(path):
            try:
                text = data.corpus_text(record)
            except DataError as error:
                raise DataError(f"{path}: line {number}: {error}") from error
            if record.get("finish", "stop") != "stop":
                counts["unfinished"] += 1
            elif config.keep == "right" and record.get("is_correct") is not True:
                counts["not right"] += 1
            elif not text.steps:
                counts["no steps"] += 1
            elif text in found:
                counts["repeated"] += 1
            else:
                found[text] = None
    if not found:
        raise DataError(
            f"{', '.join(map(str, config.data))}: no solutions to learn from ({dict(counts)}): grade them "
            'first, or keep "all"'
        )
    data.refuse_overlap((t.problem for t in found), config.refuse_problems, "the solutions")
    return list(found)


def encode_solutions(
    tokenizer: Any, solutions: Sequence[data.CorpusText], config: FinetuneConfig, counts: Counter[str]
) -> list[_Text]:
    """Ids as the sampler will see them: prompt and solution are tokenized apart, the end token closes."""
    end = tokenizer.eos_token_id
    prompts = encode_prompts(tokenizer, [build_prompt(s.problem, (), config.splitter) for s in solutions])
    bodies = encode_texts(tokenizer, [join_steps(s.steps, config.splitter) for s in solutions])
    texts = [_Text(prompt, [*body, end]) for prompt, body in zip(prompts, bodies, strict=True)]
    kept = [text for text in texts if len(text) <= config.max_length]
    counts["too long"] += len(texts) - len(kept)
    counts["used"] += len(kept)
    return kept


def _start(config: FinetuneConfig, solutions: Sequence[data.CorpusText]) -> tuple[Any, Any]:
    """The model to tune. Any base gets an end token if it has none."""
    if config.base:
        lm, tokenizer = load_generator(config.base, config.device)
    else:
        from models_prm.prm import new_lm

        prompts = [build_prompt(s.problem, (), config.splitter) for s in solutions]
        bodies = [join_steps(s.steps, config.splitter) for s in solutions]
        tokenizer = train_tokenizer([*prompts, *bodies], config.shape.vocab_size)
        tokenizer.add_special_tokens({"eos_token": END})
        lm = new_lm(config.shape, StepEncoder(tokenizer), config.max_length).to(config.device)
    if tokenizer.eos_token_id is None:
        tokenizer.add_special_tokens({"eos_token": END})
    if len(tokenizer) > lm.get_input_embeddings().weight.shape[0]:
        lm.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    lm.config.eos_token_id = lm.generation_config.eos_token_id = tokenizer.eos_token_id
    return lm, tokenizer


def _pad(tokenizer: Any) -> int:
    pad = tokenizer.pad_token_id
    return int(tokenizer.eos_token_id if pad is None else pad)


def _train(
    config: FinetuneConfig,
    digest: str,
    lm: Any,
    texts: Sequence[_Text],
    *,
    pad: int,
    on_progress: OnProgress | None,
    should_stop: ShouldStop | None,
) -> list[float]:
    stage = config.train
    batches = plan(stage, [len(text) for text in texts], [config.seed])
    optimizer = torch.optim.AdamW(lm.parameters(), lr=stage.lr, weight_decay=stage.weight_decay)
    losses: list[float] = []
    if (state := load_checkpoint(config.output_dir, digest)) is not None:
        lm.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        losses = list(state["losses"])

    def save() -> None:
        state = {"fingerprint": digest, "model": lm.state_dict(), "optimizer": optimizer.state_dict()}
        save_checkpoint(config.output_dir, {**state, "rng": torch.get_rng_state(), "losses": losses})

    saved = time.monotonic()
    lm.train()
    for step in range(len(losses), len(batches)):
        if should_stop is not None and should_stop():
            save()
            raise Cancelled(f"stopped at step {step} of {len(batches)}; the same call goes on from there")
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(stage, step, len(batches))
        loss = solution_loss(lm, [texts[i] for i in batches[step]], pad)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(lm.parameters(), stage.clip)
        optimizer.step()
        losses.append(float(loss.detach()))
        if on_progress is not None:
            metrics = {"loss": losses[-1]}
            on_progress(Progress("finetune", step + 1, len(batches), f"loss {losses[-1]:.3f}", metrics))
        if time.monotonic() - saved >= config.checkpoint_seconds:
            save()
            saved = time.monotonic()
    return losses


def solution_loss(lm: Any, texts: Sequence[_Text], pad: int) -> Tensor:
    """Mean next-token loss (nats) over the solutions' tokens, ends included; prompts carry none."""
    size = max(map(len, texts))
    ids = torch.full((len(texts), size), pad)
    mask = torch.zeros(len(texts), size, dtype=torch.long)
    labels = torch.full((len(texts), size), IGNORED)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor([*text.prompt, *text.solution])
        mask[row, : len(text)] = 1
        labels[row, len(text.prompt) : len(text)] = torch.tensor(text.solution)
    out = lm(input_ids=ids.to(lm.device), attention_mask=mask.to(lm.device), use_cache=False)
    logits = out.logits[:, :-1].flatten(0, 1).float()
    return functional.cross_entropy(logits, labels[:, 1:].flatten().to(lm.device), ignore_index=IGNORED)


def _finished(directory: Path, digest: str) -> FinetuneResult | None:
    path = directory / CARD
    if not path.exists():
        return None
    card = json.loads(path.read_text(encoding="utf-8"))
    if card.get("fingerprint") != digest:
        raise RecipeError(
            f"{directory} holds a generator of other settings or data: choose another output directory"
        )
    remove_checkpoint(directory)
    return FinetuneResult(directory, card, tuple(card["losses"]))


def _save(
    config: FinetuneConfig,
    digest: str,
    lm: Any,
    tokenizer: Any,
    *,
    counts: Counter[str],
    losses: list[float],
) -> FinetuneResult:
    """Weights, tokenizer and, last of all, the card: a directory with a card is complete."""
    quiet()
    lm.eval().save_pretrained(config.output_dir)
    tokenizer.save_pretrained(config.output_dir)
    card = {
        "fingerprint": digest,
        "base": Path(config.base).name if Path(config.base).is_dir() else config.base,
        "splitter": config.splitter,
        "prompt": build_prompt("{problem}", (), config.splitter),
        "end_token": tokenizer.eos_token,
        "max_length": config.max_length,
        "seed": config.seed,
        "train": asdict(config.train),
        "data": {path.name: data.file_sha256(path) for path in config.data},
        "counts": dict(sorted(counts.items())),
        "losses": losses,
    }
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    write_atomic(config.output_dir / CARD, lambda path: path.write_text(text, encoding="utf-8"))
    remove_checkpoint(config.output_dir)
    return FinetuneResult(config.output_dir, card, tuple(losses))
