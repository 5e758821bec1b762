"""The key-value cache of the decoding loop: one fixed buffer per layer, one row per sample in flight.

Rows have lengths of their own, so a finished row can be dropped or given to a waiting sample at once. The
buffers keep their shape; they grow only when a longer prompt comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

GRAIN = 64
"""Buffers and attention spans are multiples of this, so that few different shapes occur."""

Layers = list[tuple[Tensor, Tensor]]
"""Keys and values [heads, tokens, size] of one prompt, per layer."""


def rounded(length: int, grain: int = GRAIN) -> int:
    """`length` raised to a multiple of `grain`."""
    return -(-length // grain) * grain


class _RowLayer(CacheLayerMixin):  # type: ignore[misc]
    """Keys and values of one layer: [rows, heads, capacity, size]."""

    is_sliding = False

    def __init__(self, rows: RowCache) -> None:
        super().__init__()
        self.rows = rows
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Write the one new token of every row at the end of its row; the part in use comes back."""
        rows = self.rows
        self.keys[rows.index, :, rows.ends] = key_states[:, :, 0]
        self.values[rows.index, :, rows.ends] = value_states[:, :, 0]
        count = len(rows.index)
        return self.keys[:count, :, : rows.span], self.values[:count, :, : rows.span]

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Nothing is lazy here."""

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Keys in view, and their offset."""
        return self.rows.span, 0

    def get_seq_length(self) -> int:
        """Keys in view."""
        return self.rows.span

    def get_max_length(self) -> int:
        """Size of the buffer."""
        return self.rows.capacity


class RowCache(Cache):  # type: ignore[misc]
    """A `transformers` cache whose rows are filled, moved and dropped one by one.

    `lengths[i]` is the number of tokens of row i that are in the cache. Before a forward pass over the first
    `count` rows call `begin(count)`, after it `advance(count)`.
    """

    def __init__(self, layers: int, rows: int, device: torch.device) -> None:
        self.capacity = 0
        self.row_count = rows
        self.device = device
        self.lengths = [0] * rows
        self.span = 0
        self.index = torch.arange(0)
        self.ends = torch.arange(0)
        self.mask = torch.empty(0)
        super().__init__(layers=[_RowLayer(self) for _ in range(layers)])

    def fill(self, row: int, prompt: Layers, room: int) -> None:
        """Put a prompt into a row and make room for `room` tokens after it."""
        length = prompt[0][0].shape[1]
        self._grow(length + room, prompt)
        for layer, (keys, values) in zip(self.layers, prompt, strict=True):
            layer.keys[row, :, :length] = keys
            layer.values[row, :, :length] = values
        self._set_length(row, length)

    def move(self, source: int, target: int) -> None:
        """Copy a row over another one."""
        length = self.lengths[source]
        for layer in self.layers:
            layer.keys[target, :, :length] = layer.keys[source, :, :length]
            layer.values[target, :, :length] = layer.values[source, :, :length]
        self._set_length(target, length)

    def begin(self, count: int) -> Tensor:
        """Prepare a pass over rows 0 .. count - 1: positions [count, 1] of their new tokens."""
        ends = torch.tensor(self.lengths[:count])
        self.span = min(self.capacity, rounded(max(self.lengths[:count]) + 1))
        self.index = torch.arange(count, device=self.device)
        self.ends = ends.to(self.device)
        self.mask[self.index, self.ends] = 0.0
        return self.ends[:, None]

    def advance(self, count: int) -> None:
        """Count the tokens that the pass has added. The caller keeps every row within the room it asked."""
        for row in range(count):
            self.lengths[row] += 1

    def attention(self, count: int, dtype: torch.dtype) -> Tensor:
        """What is added to the attention's logits: [count, 1, 1, span], 0 or -inf."""
        return self.mask[:count, None, None, : self.span].to(dtype)

    def _set_length(self, row: int, length: int) -> None:
        self.lengths[row] = length
        self.mask[row] = float("-inf")
        self.mask[row, :length] = 0.0

    def _grow(self, need: int, prompt: Layers) -> None:
        if need <= self.capacity:
            return
        capacity = rounded(max(need, self.capacity))
        for layer, pair in zip(self.layers, prompt, strict=True):
            for name, new in zip(("keys", "values"), pair, strict=True):
                heads, _, size = new.shape
                buffer = torch.zeros(
                    self.row_count, heads, capacity, size, dtype=new.dtype, device=self.device
                )
                if self.capacity:
                    buffer[:, :, : self.capacity] = getattr(layer, name)
                setattr(layer, name, buffer)
        mask = torch.full((self.row_count, capacity), float("-inf"), device=self.device)
        if self.capacity:
            mask[:, : self.capacity] = self.mask
        else:
            mask[:, 0] = 0.0  # a row of nothing but -inf would be NaN
        self.mask, self.capacity = mask, capacity


def split_rows(cache: Cache, lengths: Sequence[int]) -> list[Layers]:
    """Keys and values of each prompt of a right-padded batch that went through `cache`."""
    return [
        [(layer.keys[row, :, :length], layer.values[row, :, :length]) for layer in cache.layers]
        for row, length in enumerate(lengths)
    ]
