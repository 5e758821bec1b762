"""The reward model: a causal LM read at the step marks, projected on its label rows or by a head of its own.

Saved as an ordinary Hugging Face directory (config, safetensors, tokenizer) with a card `stepmark_prm.json`
that names the classes' order, the marks, the design and where the model came from. With design "label" it is
a causal LM, with design "head" a token classification model. Any causal LM directory can be a base.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from models_prm.config import ModelShape
from models_prm.encoding.collate import Batch
from models_prm.encoding.selftest import Pair, self_test
from models_prm.encoding.tokenizer import LABELS, MarkNames, StepEncoder, add_marks
from models_prm.errors import ModelError
from models_prm.records import CLASSES
from models_prm.training.lora import MarkRows
from models_prm.training.modelcard import write_readme

CARD = "stepmark_prm.json"
CARD_FORMAT = 1


HEADS = ("score", "classifier")
"""What Transformers calls the linear layer of its token classification models."""
_OURS = "stepmark."
"""Prefix of the parts in a state that are not the language model's."""


@dataclass
class Prm:
    """Language model, encoder and card of one reward model.

    `classes`: what the model tells apart, (-1, 0, 1) or (-1, 1), in the order of the head's rows. `readout`:
    "mark" reads a step's score at its mark, "before" at the last token before it. `head`: linear layer of the
    head design, None for the label design. `marks`: trainable rows beside frozen embeddings, while adapters
    train.
    """

    lm: Any
    encoder: StepEncoder
    max_length: int
    card: dict[str, Any] = field(default_factory=dict)
    classes: tuple[int, ...] = CLASSES
    readout: str = "mark"
    head: nn.Linear | None = None
    marks: MarkRows | None = None

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return torch.device(self.lm.device)

    def hidden(self, batch: Batch) -> Tensor:
        """Last hidden states [b, t, width] of a batch, one forward pass."""
        mask = torch.from_numpy(batch.mask).to(self.device)
        if mask.dim() == 4:  # what is added to the attention's logits, made once for all layers
            kind = (
                torch.get_autocast_dtype(self.device.type)
                if torch.is_autocast_enabled(self.device.type)
                else None
            )
            added = torch.zeros(mask.shape, dtype=kind or self.lm.dtype, device=self.device)
            mask = added.masked_fill_(~mask, float("-inf"))
        ids = torch.from_numpy(batch.ids).to(self.device)
        given = {"input_ids": ids} if self.marks is None else {"inputs_embeds": self.embed(ids)}
        out: Any = self.lm.base_model(
            **given,
            attention_mask=mask if mask.is_floating_point() else mask.long(),
            position_ids=torch.from_numpy(batch.positions).to(self.device),
            use_cache=False,
        )
        states = out.last_hidden_state
        assert isinstance(states, Tensor)
        return states

    def embed(self, ids: Tensor) -> Tensor:
        """Embeddings [b, t, width] of ids [b, t], with the marks' own rows where adapters train."""
        if self.marks is not None:
            return self.marks.embed(self.lm, ids)
        states: Tensor = self.lm.get_input_embeddings()(ids)
        return states

    def label_logits(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Logits [steps, 3] for (-1, 0, +1) in float32, read where the design says, in the batch's order."""
        columns = batch.before if self.readout == "before" else batch.columns
        return self.read(hidden[torch.from_numpy(batch.rows), torch.from_numpy(columns)])

    def read(self, states: Tensor) -> Tensor:
        """Logits [n, 3] for (-1, 0, +1) in float32 from last hidden states [n, width] at the places that are
        read.

        A model of two classes has -inf for 0, so that softmax gives p(0) = 0.
        """
        with torch.autocast(states.device.type, enabled=False):
            if self.head is not None:
                bias = None if self.head.bias is None else self.head.bias.float()
                logits = functional.linear(states.float(), self.head.weight.float(), bias)
                order = self.classes
            else:
                logits = states.float() @ self._label_rows().T.float()
                order = CLASSES
        if order == CLASSES == self.classes:
            return logits
        never = logits.new_full((len(logits),), float("-inf"))
        return torch.stack([logits[:, order.index(c)] if c in self.classes else never for c in CLASSES], -1)

    def _label_rows(self) -> Tensor:
        if self.marks is not None:
            return self.marks.outputs
        rows: Tensor = self.lm.get_output_embeddings().weight[list(self.encoder.label_ids)]
        return rows

    def parts(self) -> dict[str, nn.Module]:
        """Modules beside the language model that are trained and stored with it."""
        return {k: m for k, m in (("head", self.head), ("marks", self.marks)) if m is not None}

    def trainable(self) -> list[nn.Parameter]:
        """Weights that training changes."""
        modules = [self.lm, *self.parts().values()]
        return [p for module in modules for p in module.parameters() if p.requires_grad]

    def state_dict(self) -> dict[str, Tensor]:
        """Everything that training changes, by name: with adapters the frozen base is left out."""
        state: dict[str, Tensor] = self.lm.state_dict()
        if self.marks is not None:
            trained = {name for name, p in self.lm.named_parameters() if p.requires_grad}
            state = {name: value for name, value in state.items() if name in trained}
        for key, module in self.parts().items():
            state |= {f"{_OURS}{key}.{name}": value for name, value in module.state_dict().items()}
        return state

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `state_dict` gave."""
        self.lm.load_state_dict(
            {k: v for k, v in state.items() if not k.startswith(_OURS)}, strict=self.marks is None
        )
        if self.marks is None:
            self.lm.tie_weights()
        for key, module in self.parts().items():
            begin = f"{_OURS}{key}."
            module.load_state_dict(
                {k.removeprefix(begin): v for k, v in state.items() if k.startswith(begin)}
            )

    def train(self, mode: bool = True) -> None:
        """Dropout on or off."""
        self.lm.train(mode)

    def parameters(self) -> int:
        """Number of weights."""
        inside = set(self.lm.parameters())
        more = [p for module in self.parts().values() for p in module.parameters() if p not in inside]
        return sum(p.numel() for p in [*inside, *more])

    def save(self, directory: Path) -> None:
        """Write weights, tokenizer, README and, last of all, the card: a directory with a card is
        complete."""
        directory.mkdir(parents=True, exist_ok=True)
        quiet()
        model = self.lm if self.head is None else classifier(self.lm, self.head, self.classes)
        model.save_pretrained(directory)
        self.encoder.tokenizer.save_pretrained(directory)
        marks = self.encoder.marks
        tokens = dict(zip(CLASSES, marks.labels, strict=True))
        card = {
            "format": CARD_FORMAT,
            "kind": "prm",
            "design": "label" if self.head is None else "head",
            "readout": self.readout,
            "classes": list(self.classes),
            "label_tokens": [tokens[c] for c in self.classes],
            "okay_token": tokens[0],
            "step_mark": marks.step,
            "solution_mark": marks.solution,
            "max_length": self.max_length,
            "numbered_steps": self.encoder.numbered,
            **self.card,
        }
        write_readme(directory, card)
        temporary = directory / f"{CARD}.tmp"
        temporary.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(directory / CARD)


def new_head(lm: Any, classes: tuple[int, ...]) -> nn.Linear:
    """A head with one row per class, from the global torch seed. Raises ModelError if this kind of model
    cannot be saved with one."""
    from transformers import MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING

    if type(lm.config) not in MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING:
        raise ModelError(f"{lm.config.model_type} models have no form with a head: use design = 'label'")
    head = nn.Linear(lm.config.hidden_size, len(classes))
    nn.init.normal_(head.weight, std=0.02)
    nn.init.zeros_(head.bias)
    return head.to(lm.device)


def classifier(lm: Any, head: nn.Linear, classes: tuple[int, ...]) -> Any:
    """The same weights as Transformers' token classification model, which TRL and others can load."""
    from transformers import AutoModelForTokenClassification

    if any(getattr(lm, name, None) is head for name in HEADS):
        return lm
    config = copy.deepcopy(lm.config)
    names = {-1: "bad", 0: "okay", 1: "good"}
    config.id2label = {row: names[c] for row, c in enumerate(classes)}
    config.label2id = {names[c]: row for row, c in enumerate(classes)}
    config.classifier_dropout = 0.0
    with torch.device("meta"):
        model: Any = AutoModelForTokenClassification.from_config(config)
    setattr(model, model.base_model_prefix, lm.base_model)
    name = next(name for name in HEADS if hasattr(model, name))
    setattr(model, name, head.to(lm.dtype))
    return model


def new_lm(shape: ModelShape, encoder: StepEncoder, max_length: int) -> Any:
    """A small Qwen2-shaped language model with random weights, from the global torch seed."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(encoder.tokenizer),
            hidden_size=shape.width,
            intermediate_size=shape.feed_forward,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.heads,
            max_position_embeddings=max_length,
            tie_word_embeddings=True,
            attention_dropout=shape.dropout,
            pad_token_id=encoder.pad_id,
            bos_token_id=None,
            eos_token_id=None,
        )
    )


def load_base(base: str, numbered: bool = False, dtype: str = "float32") -> tuple[Any, StepEncoder]:
    """A causal LM and its tokenizer from a directory or hub name, with the marks added.

    Raises ModelError if it cannot be loaded or has no fast tokenizer.
    """
    lm, tokenizer = _load_pair(base, dtype)
    if not tokenizer.is_fast:
        raise ModelError(f"{base}: needs a fast tokenizer (tokenizer.json)")
    add_marks(tokenizer)
    if len(tokenizer) > lm.get_input_embeddings().weight.shape[0]:
        lm.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return lm, StepEncoder(tokenizer, numbered=numbered)


def quiet() -> None:
    """Keep the Transformers library from drawing bars of its own: progress is reported by `on_progress`."""
    from transformers.utils import logging

    switch: Any = logging.disable_progress_bar
    switch()


def _load_pair(source: str, dtype: str, design: str = "label") -> tuple[Any, Any]:
    """Language model and tokenizer of a directory or hub name."""
    from transformers import AutoModelForCausalLM, AutoModelForTokenClassification, AutoTokenizer

    quiet()
    kind: Any = AutoModelForCausalLM if design == "label" else AutoModelForTokenClassification
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(source)
        lm: Any = kind.from_pretrained(source, dtype=getattr(torch, dtype))
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{source}: cannot load as a causal language model ({error})") from error
    return lm, tokenizer


def read_card(directory: Path) -> dict[str, Any]:
    """The card of a saved model. Raises ModelError when it is missing, damaged or of another format."""
    try:
        card = json.loads((directory / CARD).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(
            f"{directory}: no {CARD} here: train it first, or was the training unfinished?"
        ) from error
    except ValueError as error:
        raise ModelError(f"{directory / CARD}: damaged ({error})") from error
    if not isinstance(card, Mapping) or card.get("format") != CARD_FORMAT:
        raise ModelError(f"{directory / CARD}: format {CARD_FORMAT} expected")
    classes, tokens = card.get("classes", []), card.get("label_tokens", [])
    if sorted(classes) not in ([-1, 0, 1], [-1, 1]) or len(tokens) != len(classes):
        raise ModelError(
            f"{directory / CARD}: classes must be -1, 0 and 1 (or -1 and 1) with one label token each"
        )
    if card.get("design", "label") not in ("label", "head") or card.get("readout", "mark") not in (
        "mark",
        "before",
    ):
        raise ModelError(f"{directory / CARD}: design must be label or head, readout mark or before")
    return dict(card)


def load_prm(directory: Path, device: str = "cpu", dtype: str = "float32") -> Prm:
    """Load a saved model. The card says which label token or row of the head means which class, whatever its
    order.

    Raises ModelError when it is no model, or when it fails the self-test of its card (`encoding.selftest`).
    """
    card = read_card(directory)
    design = str(card.get("design", "label"))
    by_class = dict(zip(card["classes"], card["label_tokens"], strict=True))
    by_class.setdefault(0, card.get("okay_token", LABELS[1]))
    bad, okay, good = (by_class[c] for c in CLASSES)
    lm, tokenizer = _load_pair(str(directory), dtype, design)
    marks = MarkNames(card["solution_mark"], card["step_mark"], (bad, okay, good))
    encoder = StepEncoder(tokenizer, marks, bool(card.get("numbered_steps", False)))
    lm.to(device).eval()
    head: nn.Linear | None = None
    classes = tuple(c for c in CLASSES if c in card["classes"])
    if design == "head":
        head = next(getattr(lm, name) for name in HEADS if hasattr(lm, name))
        classes = tuple(card["classes"])
        if len(head.weight) != len(classes):
            raise ModelError(f"{directory}: the head has {len(head.weight)} rows for {len(classes)} classes")
    prm = Prm(lm, encoder, int(card["max_length"]), card, classes, str(card.get("readout", "mark")), head)
    if card.get("self_test"):
        from models_prm.scoring import PrmScorer

        self_test(PrmScorer(prm), Pair.from_json(card["self_test"]))
    return prm
