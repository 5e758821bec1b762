"""TRL token classification: a head with two classes, read at the last token of each step's separator.

Ids as in `trl.experimental.prm.PRMTrainer.tokenize_row` (trl 1.13.0): [bos] problem, then for each step its
ids and the separator's, tokenized apart; no separator between problem and first step. Class 1 is a right
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from models_prm.errors import ModelError
from models_prm.public.base import Adapter, Encoded
from models_prm.public.text import plain_ids
from models_prm.public.weights import load_model, load_tokenizer


class TrlAdapter(Adapter):
    """A model trained by TRL's PRMTrainer. `separator` must be the trainer's `step_separator`."""

    kind = "trl"

    def __init__(self, lm: Any, tokenizer: Any, name: str, separator: str = "\n") -> None:
        super().__init__(lm, tokenizer, name)
        if lm.config.num_labels != 2:
            raise ModelError(f"{name}: {lm.config.num_labels} classes where 2 are expected (1: right step)")
        self._separator = tokenizer.encode(separator, add_special_tokens=False)
        if not self._separator:
            raise ModelError(f"{name}: the separator {separator!r} has no token")

    @classmethod
    def load(cls, directory: Path, name: str, device: str, dtype: str) -> TrlAdapter:
        """From a model directory. Raises ModelError."""
        from transformers import AutoModelForTokenClassification

        lm = load_model(directory, AutoModelForTokenClassification, device, dtype)
        return cls(lm, load_tokenizer(directory), name)

    def encode(self, problem: str, steps: Sequence[str]) -> Encoded:
        """Ids, and the last token of each separator."""
        first, *rest = plain_ids(self.tokenizer, [problem, *steps])
        bos = self.tokenizer.bos_token_id
        ids = [*([] if bos is None else [bos]), *first]
        reads = []
        for step in rest:
            ids += [*step, *self._separator]
            reads.append(len(ids) - 1)
        return Encoded(ids, reads)

    def logits(self, states: Tensor) -> Tensor:
        """The head's two classes, already in the order (bad, good)."""
        found: Tensor = self.lm.score(states)
        return found.float()
