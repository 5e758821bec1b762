"""The process reward model: a causal LM read at the step marks, projected on its three label rows.

Saved as an ordinary Hugging Face directory (config, safetensors, tokenizer) with a card `stepmark_prm.json`
that names the classes' order, the marks and where the model came from. Any causal LM directory can be a base.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models_prm.collate import Batch
from models_prm.config import ModelShape
from models_prm.errors import ModelError
from models_prm.records import CLASSES
from models_prm.tokenizer import MarkNames, StepEncoder, add_marks

CARD = "stepmark_prm.json"
CARD_FORMAT = 1


@dataclass
class Prm:
    """Language model, encoder and card of one process reward model."""

    lm: Any
    encoder: StepEncoder
    max_length: int
    card: dict[str, Any] = field(default_factory=dict)

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
        out: Any = self.lm.base_model(
            input_ids=torch.from_numpy(batch.ids).to(self.device),
            attention_mask=mask if mask.is_floating_point() else mask.long(),
            position_ids=torch.from_numpy(batch.positions).to(self.device),
            use_cache=False,
        )
        states = out.last_hidden_state
        assert isinstance(states, Tensor)
        return states

    def label_logits(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Logits [steps, 3] for (-1, 0, +1) in float32, read at the step marks in the batch's order."""
        rows = torch.from_numpy(batch.rows).to(hidden.device)
        columns = torch.from_numpy(batch.columns).to(hidden.device)
        weight = self.lm.get_output_embeddings().weight[list(self.encoder.label_ids)]
        with torch.autocast(hidden.device.type, enabled=False):
            logits: Tensor = hidden[rows, columns].float() @ weight.T.float()
        return logits

    def parameters(self) -> int:
        """Number of weights."""
        return sum(p.numel() for p in self.lm.parameters())

    def save(self, directory: Path) -> None:
        """Write weights, tokenizer and, last of all, the card: a directory with a card is complete."""
        directory.mkdir(parents=True, exist_ok=True)
        quiet()
        self.lm.save_pretrained(directory)
        self.encoder.tokenizer.save_pretrained(directory)
        marks = self.encoder.marks
        card = {
            "format": CARD_FORMAT,
            "classes": list(CLASSES),
            "step_mark": marks.step,
            "solution_mark": marks.solution,
            "label_tokens": list(marks.labels),
            "max_length": self.max_length,
            "numbered_steps": self.encoder.numbered,
            **self.card,
        }
        temporary = directory / f"{CARD}.tmp"
        temporary.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(directory / CARD)


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


def load_base(base: str, numbered: bool = False) -> tuple[Any, StepEncoder]:
    """A causal LM and its tokenizer from a directory or hub name, with the marks added.

    Raises ModelError if it cannot be loaded or has no fast tokenizer.
    """
    lm, tokenizer = _load_pair(base, "float32")
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


def _load_pair(source: str, dtype: str) -> tuple[Any, Any]:
    """Language model and tokenizer of a directory or hub name."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quiet()
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(source)
        lm: Any = AutoModelForCausalLM.from_pretrained(source, dtype=getattr(torch, dtype))
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
    if sorted(card.get("classes", [])) != sorted(CLASSES) or len(card.get("label_tokens", [])) != len(
        CLASSES
    ):
        raise ModelError(f"{directory / CARD}: classes must be -1, 0 and 1 with one label token each")
    return dict(card)


def load_prm(directory: Path, device: str = "cpu", dtype: str = "float32") -> Prm:
    """Load a saved model. The card says which label token means which class, whatever its order there."""
    card = read_card(directory)
    by_class = dict(zip(card["classes"], card["label_tokens"], strict=True))
    bad, okay, good = (by_class[c] for c in CLASSES)
    lm, tokenizer = _load_pair(str(directory), dtype)
    marks = MarkNames(card["solution_mark"], card["step_mark"], (bad, okay, good))
    encoder = StepEncoder(tokenizer, marks, bool(card.get("numbered_steps", False)))
    lm.to(device).eval()
    return Prm(lm, encoder, int(card["max_length"]), card)
