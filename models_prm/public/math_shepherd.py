"""Math-Shepherd: a plain language model, read at a tag word after each step as "+" against "-".

From the model card of peiyi9979/math-shepherd-mistral-7b-prm: the input is "problem Step 1: ... tag\\nStep
2: ... tag", tokenized as one text; at the tag's own position the logits of "+" and "-" go through a
softmax.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn import functional

from models_prm.errors import MarkerError, ModelError
from models_prm.public.base import Adapter, Encoded
from models_prm.public.weights import load_model, load_tokenizer

TAG = "\u043a\u0438"
_NUMBERED = re.compile(r"\s*Step \d+:")


class MathShepherdAdapter(Adapter):
    """Reads the tag where it was put; the same word inside a text is only a word."""

    kind = "math-shepherd"

    def __init__(self, lm: Any, tokenizer: Any, name: str) -> None:
        super().__init__(lm, tokenizer, name)
        self._tag: int = tokenizer.encode(TAG)[-1]
        good, bad = tokenizer.encode("+ -")[-2:]
        if len({good, bad, self._tag}) != 3 or tokenizer.unk_token_id in (good, bad, self._tag):
            raise ModelError(f"{name}: its tokenizer has no tokens of their own for +, - and {TAG}")
        self._signs = [bad, good]

    @classmethod
    def load(cls, directory: Path, name: str, device: str, dtype: str) -> MathShepherdAdapter:
        """From a model directory. Raises ModelError."""
        from transformers import AutoModelForCausalLM

        lm = load_model(directory, AutoModelForCausalLM, device, dtype)
        return cls(lm, load_tokenizer(directory), name)

    def encode(self, problem: str, steps: Sequence[str]) -> Encoded:
        """Ids of the one text, and the position of each tag. Steps without a "Step k:" get theirs."""
        text, ends = problem, []
        for number, step in enumerate(steps, start=1):
            numbered = step if _NUMBERED.match(step) else f"Step {number}: {step}"
            text += f"{' ' if number == 1 else chr(10)}{numbered} {TAG}"
            ends.append(len(text))
        clean = "".join(c if not 0xD800 <= ord(c) < 0xE000 else "?" for c in text)
        made = self.tokenizer(clean, split_special_tokens=True, return_offsets_mapping=True)
        ids: list[int] = made["input_ids"]
        by_end = {end: i for i, (start, end) in enumerate(made["offset_mapping"]) if end > start}
        reads = [by_end.get(end, -1) for end in ends]
        if any(read < 0 or ids[read] != self._tag for read in reads):
            raise MarkerError(f"a tag {TAG} did not stay a token of its own: nothing was scored")
        return Encoded(ids, reads)

    def logits(self, states: Tensor) -> Tensor:
        """Rows of "-" and "+" of the output matrix."""
        head = self.lm.get_output_embeddings()
        return functional.linear(states, head.weight[self._signs]).float()
