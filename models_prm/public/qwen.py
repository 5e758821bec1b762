"""Qwen2.5-Math-PRM: a two-layer head with two classes, read at the token <extra_0> after each step.

From the model card of Qwen/Qwen2.5-Math-PRM-7B: chat of system, user and assistant, the assistant's content
being the steps with <extra_0> after each; softmax over the two classes, class 1 is a right step. The card
then keeps the probabilities that are not 0, which loses a step whose probability underflows; here positions
decide. The head's tensors (score.0, score.2) are read from the files: the repository's own code is not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn import functional

from models_prm.errors import ModelError
from models_prm.public.base import Adapter, Encoded
from models_prm.public.text import Template
from models_prm.public.weights import load_model, load_tokenizer, read_tensors

MARK = "<extra_0>"
SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."


class QwenAdapter(Adapter):
    """`head`: tensors 0.weight, 0.bias, 2.weight, 2.bias of linear, ReLU, linear."""

    kind = "qwen"

    def __init__(self, lm: Any, tokenizer: Any, name: str, head: dict[str, Tensor]) -> None:
        super().__init__(lm, tokenizer, name)
        if lm is not None:
            if set(head) != {"0.weight", "0.bias", "2.weight", "2.bias"} or len(head["2.bias"]) != 2:
                raise ModelError(f"{name}: its head is not the two layers and two classes of a Qwen PRM")
            head = {key: value.to(lm.device, lm.dtype) for key, value in head.items()}
        self._head = head
        if tokenizer.convert_tokens_to_ids(MARK) in (None, tokenizer.unk_token_id):
            raise ModelError(f"{name}: its tokenizer does not know {MARK}")
        self._template = Template(tokenizer)

    @classmethod
    def load(cls, directory: Path, name: str, device: str, dtype: str) -> QwenAdapter:
        """From a model directory. Raises ModelError."""
        from transformers import Qwen2Model

        lm = load_model(directory, Qwen2Model, device, dtype)
        return cls(lm, load_tokenizer(directory), name, read_tensors(directory, "score."))

    @classmethod
    def for_ids(cls, directory: Path) -> QwenAdapter:
        """Makes ids only, from the tokenizer.

        For a model that runs on a server (`models_prm.public.server`).
        """
        return cls(None, load_tokenizer(directory), directory.name, {})

    def encode(self, problem: str, steps: Sequence[str]) -> Encoded:
        """Ids of the chat, and the positions of our own marks."""
        contents = {"problem": problem} | {f"step {i}": step for i, step in enumerate(steps)}
        answer = [part for i in range(len(steps)) for part in (f"step {i}", MARK)]
        messages = [("system", [SYSTEM]), ("user", ["problem"]), ("assistant", answer)]
        ids, runs = self._template.ids(messages, contents)
        return Encoded(ids, [run.start for run in runs if run.text == MARK])

    def logits(self, states: Tensor) -> Tensor:
        """The head's two classes, already in the order (bad, good)."""
        inner = functional.linear(states, self._head["0.weight"], self._head["0.bias"]).relu()
        return functional.linear(inner, self._head["2.weight"], self._head["2.bias"]).float()
