"""Skywork-o1-Open-PRM: one logit per token from a value head, read at the newline after each step.

From SkyworkAI/skywork-o1-prm-inference: [bos] problem and a newline, then for each step its ids and the
newline's, tokenized apart, with a flag per token that says where the step's value stands; sigmoid of the
value is the probability of a right step. The head's tensors (v_head.summary) are read from the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from models_prm.errors import ModelError
from models_prm.public.base import Adapter, Encoded
from models_prm.public.text import plain_ids
from models_prm.public.weights import load_model, load_tokenizer, read_tensors


class SkyworkAdapter(Adapter):
    """`head`: weight [1, width] and bias [1] of the value head."""

    kind = "skywork"

    def __init__(self, lm: Any, tokenizer: Any, name: str, head: dict[str, Tensor]) -> None:
        super().__init__(lm, tokenizer, name)
        if set(head) != {"weight", "bias"} or len(head["bias"]) != 1:
            raise ModelError(f"{name}: its value head does not give one number")
        self._head = {key: value.to(lm.device).float() for key, value in head.items()}
        self._mark: int = tokenizer.encode("\n", add_special_tokens=False)[-1]

    @classmethod
    def load(cls, directory: Path, name: str, device: str, dtype: str) -> SkyworkAdapter:
        """From a model directory. Raises ModelError."""
        from transformers import Qwen2Model

        lm = load_model(directory, Qwen2Model, device, dtype)
        return cls(lm, load_tokenizer(directory), name, read_tensors(directory, "v_head.summary."))

    def encode(self, problem: str, steps: Sequence[str]) -> Encoded:
        """Ids, and the newline after each step."""
        first, *rest = plain_ids(self.tokenizer, [f"{problem}\n", *steps])
        bos = self.tokenizer.bos_token_id
        ids = [*([] if bos is None else [bos]), *first]
        reads = []
        for step in rest:
            ids += [*step, self._mark]
            reads.append(len(ids) - 1)
        return Encoded(ids, reads)

    def logits(self, states: Tensor) -> Tensor:
        """(0, value): the softmax of the pair is the sigmoid of the value."""
        value = functional.linear(states.float(), self._head["weight"], self._head["bias"])
        return torch.cat([torch.zeros_like(value), value], dim=-1)
