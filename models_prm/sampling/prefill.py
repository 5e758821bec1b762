"""Reading prompts: each goes through the model once, whatever number of samples it gets.

What all prompts of a call begin with (the few-shot examples) goes through the model once, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicCache

from models_prm.errors import ModelError
from models_prm.sampling.cache import Layers, split_rows

HEAD_MIN = 32
"""A common beginning shorter than this many tokens is not worth a pass of its own."""


@dataclass(frozen=True)
class ReadPrompt:
    """A prompt in the cache: keys and values per layer, and the logits [vocabulary] that follow it."""

    length: int
    layers: Layers
    logits: Tensor


def cache_argument(lm: Any) -> str:
    """The name under which this model takes its cache: it was renamed within version 5 of transformers."""
    return "cache" if "cache" in inspect.signature(lm.forward).parameters else "past_key_values"


def refuse_other_caches(config: Any, length: int) -> None:
    """Raise ModelError for layers whose cache is no list of all keys and values up to `length` tokens."""
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    window = getattr(config, "sliding_window", None)
    slides = "sliding_attention" in kinds or (not getattr(config, "layer_types", None) and window)
    if kinds - {"full_attention", "sliding_attention"}:
        raise ModelError(
            f"{', '.join(sorted(kinds))} layers are not supported by the local sampler: serve the model and "
            "give the server's address instead"
        )
    if getattr(config, "alibi", False) or config.model_type in {"bloom", "mpt"}:
        raise ModelError(
            f"{config.model_type}: positions by attention bias are not supported by the local sampler: serve "
            "the model and give the server's address instead"
        )
    if slides and window and length > window:
        raise ModelError(
            f"{length} tokens are more than this model's attention window of {window}: ask for fewer tokens, "
            "or serve the model and give the server's address instead"
        )


class PromptReader:
    """Runs prompts of one model. `lm`: a transformers causal LM in evaluation mode."""

    def __init__(self, lm: Any, pad_id: int) -> None:
        self.lm = lm
        self.pad_id = pad_id
        self.cache_name = cache_argument(lm)
        self._head: list[int] = []
        self._head_layers: Layers = []

    @torch.inference_mode()
    def read(self, prompts: Sequence[list[int]]) -> list[ReadPrompt]:
        """Read prompts (ids, none empty) in one batch, padded on the right."""
        if not self._head and len(prompts) > 1:
            self._read_head(common_head(prompts))
        head = len(self._head) if all(p[: len(self._head)] == self._head for p in prompts) else 0
        lengths = [len(p) for p in prompts]
        ids = torch.full((len(prompts), max(lengths) - head), self.pad_id)
        mask = torch.zeros(len(prompts), max(lengths), dtype=torch.long)
        for row, prompt in enumerate(prompts):
            ids[row, : lengths[row] - head] = torch.tensor(prompt[head:])
            mask[row, : lengths[row]] = 1
        cache = self._beginning(len(prompts)) if head else DynamicCache()
        lasts = sorted({length - head - 1 for length in lengths})
        logits = self._forward(ids, mask, head, cache, lasts)
        return [
            ReadPrompt(length, layers, logits[row, lasts.index(length - head - 1)])
            for row, (length, layers) in enumerate(zip(lengths, split_rows(cache, lengths), strict=True))
        ]

    def _read_head(self, head: list[int]) -> None:
        if len(head) < HEAD_MIN:
            return
        cache = DynamicCache()
        self._forward(torch.tensor([head]), torch.ones(1, len(head), dtype=torch.long), 0, cache, [0])
        self._head, self._head_layers = head, split_rows(cache, [len(head)])[0]

    def _beginning(self, count: int) -> Cache:
        cache = DynamicCache()
        for layer, (keys, values) in enumerate(self._head_layers):
            cache.update(keys.expand(count, -1, -1, -1), values.expand(count, -1, -1, -1), layer)
        return cache

    def _forward(self, ids: Tensor, mask: Tensor, start: int, cache: Cache, keep: list[int]) -> Tensor:
        device = self.lm.device
        positions = torch.arange(start, start + ids.shape[1])[None].expand(len(ids), -1)
        out = self.lm(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            position_ids=positions.to(device),
            use_cache=True,
            logits_to_keep=torch.tensor(keep, device=device),
            **{self.cache_name: cache},
        )
        logits = out.logits
        assert isinstance(logits, Tensor)
        return logits


def common_head(prompts: Sequence[list[int]]) -> list[int]:
    """The ids with which all prompts begin; every prompt keeps at least one id of its own."""
    first, last = min(prompts), max(prompts)
    limit = min(len(p) for p in prompts) - 1
    length = 0
    while length < limit and first[length] == last[length]:
        length += 1
    return first[:length]
