"""RLHFlow: a chat in which each step is a user turn answered by "+" or "-", read just before the answer.

From the model cards of RLHFlow/Llama3.1-8B-PRM-Mistral-Data and -Deepseek-Data: the problem and the first
step share a turn, with a space between; all answers in the input are "+". Softmax over "+" and "-" at the
position that predicts the answer. The card runs one forward pass per step and counts back three tokens,
which holds for one chat template; here one pass gives all steps, and the position comes from where the
answer was put.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn import functional

from models_prm.errors import MarkerError, ModelError
from models_prm.public.base import Adapter, Encoded
from models_prm.public.text import Template
from models_prm.public.weights import load_model, load_tokenizer


class RlhflowAdapter(Adapter):
    """Reads each answer's position minus one."""

    kind = "rlhflow"

    def __init__(self, lm: Any, tokenizer: Any, name: str) -> None:
        super().__init__(lm, tokenizer, name)
        good, bad = (tokenizer.encode(sign, add_special_tokens=False)[-1] for sign in "+-")
        if good == bad:
            raise ModelError(f"{name}: its tokenizer has no tokens of their own for + and -")
        self._signs = [bad, good]
        self._template = Template(tokenizer)

    @classmethod
    def load(cls, directory: Path, name: str, device: str, dtype: str) -> RlhflowAdapter:
        """From a model directory. Raises ModelError."""
        from transformers import AutoModelForCausalLM

        lm = load_model(directory, AutoModelForCausalLM, device, dtype)
        return cls(lm, load_tokenizer(directory), name)

    def encode(self, problem: str, steps: Sequence[str]) -> Encoded:
        """Ids of the chat, and the token before each of our answers."""
        contents: dict[str, str] = {}
        messages = []
        for i, step in enumerate(steps):
            contents |= {f"step {i}": f"{problem} {step}" if i == 0 else step, f"label {i}": "+"}
            messages += [("user", [f"step {i}"]), ("assistant", [f"label {i}"])]
        if not messages:
            return Encoded([], [])
        ids, runs = self._template.ids(messages, contents)
        answers = [run for run in runs if any(field.startswith("label") for field in run.fields)]
        if any(ids[run.end - 1] != self._signs[1] for run in answers):
            raise MarkerError("the answer + did not stay a token of its own: nothing was scored")
        return Encoded(ids, [run.end - 2 for run in answers])

    def logits(self, states: Tensor) -> Tensor:
        """Rows of "-" and "+" of the output matrix."""
        head = self.lm.get_output_embeddings()
        return functional.linear(states, head.weight[self._signs]).float()
