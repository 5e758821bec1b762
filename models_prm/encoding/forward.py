"""States of a causal language model at the places that are read, for packed batches.

Models built like Llama (Llama, Mistral, Qwen2, Qwen3) go through a forward pass of our own: one row without
padding or mask, in-place arithmetic, and a last layer that is worked out only where it is read. It uses the
model's own weights and is checked once against the model's own forward pass. Every other model goes through
the library's forward pass, padded on the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from models_prm.encoding.packed import Ints, PackedBatch, PathGroup, plan

KINDS = frozenset({"llama", "mistral", "qwen2", "qwen3"})
ROPES = frozenset({"default", "linear", "llama3", "yarn"})
CHUNK = 1 << 20
"""Numbers in the widest intermediate at once: what stays in a processor's cache."""
_CHECKED: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_Turn = tuple[Tensor, Tensor]
"""Cosines and sines [t, 1, size]."""


def read_states(
    lm: Any,
    ids: Sequence[Ints],
    reads: Sequence[Ints],
    batch_tokens: int,
    *,
    padded: Callable[[Sequence[Ints]], Tensor] | None = None,
    packed: bool = True,
) -> Iterator[tuple[list[int], list[Ints], Tensor]]:
    """Final hidden states (after the last norm) where they are read, in a stream of batches.

    `ids[i]`: int64 tokens of sequence i; `reads[i]`: positions in it. Each entry is (members, rows,
    states): sequence `members[j]` has its readings at `states[rows[j]]`, states is [k, width] in the
    model's dtype. `padded` takes sequences to states [b, t, width] padded on the right, where ours cannot
    be used or is not wanted (`packed` false).
    """
    longest = max(map(len, ids), default=0)
    if packed and packs(lm) and longest <= _window(lm):
        for batch in plan(ids, reads, batch_tokens):
            yield batch.members, batch.rows, packed_states(lm.base_model, batch)
        return
    for members in _padded_batches(ids, batch_tokens):
        chosen = [ids[i] for i in members]
        states = padded_states(lm, chosen) if padded is None else padded(chosen)
        columns = np.concatenate([reads[i] for i in members])
        counts = [len(reads[i]) for i in members]
        lines = np.repeat(np.arange(len(members)), counts)
        ends = np.cumsum(counts)
        rows = [np.arange(end - count, end) for end, count in zip(ends, counts, strict=True)]
        yield members, rows, states[_index(lines, lm), _index(columns, lm)]


def _index(values: Ints, lm: Any) -> Tensor:
    return torch.from_numpy(values).to(lm.device)


def _padded_batches(ids: Sequence[Ints], batch_tokens: int) -> Iterator[list[int]]:
    """Indices by length, so that the padded size stays within `batch_tokens`."""
    batch: list[int] = []
    for index in sorted(range(len(ids)), key=lambda i: len(ids[i])):
        if batch and len(ids[index]) * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def padded_states(lm: Any, ids: Sequence[Ints]) -> Tensor:
    """Final hidden states [b, t, width] by the library's own forward pass, padded on the right."""
    size = max(map(len, ids))
    rows, mask = np.zeros((len(ids), size), np.int64), np.zeros((len(ids), size), np.int64)
    for i, sequence in enumerate(ids):
        rows[i, : len(sequence)] = sequence
        mask[i, : len(sequence)] = 1
    out: Any = lm.base_model(input_ids=_index(rows, lm), attention_mask=_index(mask, lm), use_cache=False)
    states: Tensor = out.last_hidden_state
    return states


def packs(lm: Any) -> bool:
    """Whether a model goes through our own forward pass; found out once for each. Never while it trains."""
    if lm.training:
        return False
    if lm not in _CHECKED:
        _CHECKED[lm] = _is_known_shape(lm) and _agrees(lm)
    return _CHECKED[lm]


def _window(lm: Any) -> float:
    """Longest sequence in which every token still sees every earlier one."""
    window = getattr(lm.config, "sliding_window", None) if lm.config.model_type == "mistral" else None
    return float("inf") if window is None else window


def _is_known_shape(lm: Any) -> bool:
    config, base = lm.config, lm.base_model
    rope = getattr(config, "rope_parameters", None) or {}
    layers = getattr(base, "layers", None)
    if config.model_type not in KINDS or layers is None or rope.get("rope_type", "default") not in ROPES:
        return False
    if any(kind != "full_attention" for kind in getattr(config, "layer_types", None) or ()):
        return False
    names = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    parts = [getattr(layer.self_attn, n, None) or getattr(layer.mlp, n) for layer in layers for n in names]
    return config.hidden_act == "silu" and all(type(part) is nn.Linear for part in parts)


def _agrees(lm: Any) -> bool:
    """Both forward passes on a few made-up sequences that share beginnings."""
    rng = np.random.default_rng(0)
    start = rng.integers(0, lm.config.vocab_size, 12)
    ids = [
        np.concatenate([start[:n], rng.integers(0, lm.config.vocab_size, m)])
        for n, m in ((12, 9), (12, 3), (5, 6))
    ]
    reads = [np.array([4, len(i) - 1]) for i in ids]
    expected = padded_states(lm, ids)
    (batch,) = plan(ids, reads, 1000)
    states = packed_states(lm.base_model, batch)
    found = torch.stack([states[_index(row, lm)] for row in batch.rows])
    wanted = torch.stack([expected[i, _index(reads[i], lm)] for i in batch.members])
    close = 1e-3 if lm.dtype is torch.float32 else 0.1
    return bool((found - wanted).abs().max() <= close * wanted.abs().max())


def packed_states(base: Any, batch: PackedBatch) -> Tensor:
    """Final hidden states [k, width] at `batch.read`, by our own forward pass of a Llama-like base model."""
    device = base.embed_tokens.weight.device
    x = functional.embedding(torch.from_numpy(batch.ids).to(device), base.embed_tokens.weight)
    cos, sin = base.rotary_emb(x[None], torch.from_numpy(batch.positions).to(device)[None])
    turn = (cos[0][:, None], sin[0][:, None])
    groups = [_Calls(group, device, x.dtype) for group in batch.groups]
    layers = base.layers
    for layer in layers[:-1]:
        states = _norm(layer.input_layernorm, x)
        mixed = _attention(layer.self_attn, states, states, (turn, turn), groups)
        _add(x, mixed, layer.self_attn.o_proj)
        _feed_forward(layer, x)
    read = torch.from_numpy(batch.read).to(device)
    last = [_Calls(group, device, x.dtype) for group in batch.last]
    states = _norm(layers[-1].input_layernorm, x)
    turned = (turn[0][read], turn[1][read])
    mixed = _attention(layers[-1].self_attn, states[read], states, (turned, turn), last)
    x = x[read]
    _add(x, mixed, layers[-1].self_attn.o_proj)
    _feed_forward(layers[-1], x)
    return _norm(base.norm, x)


class _Calls:
    """Index tensors of one attention group, made once for all layers."""

    def __init__(self, group: PathGroup, device: torch.device, dtype: torch.dtype) -> None:
        self.keys = torch.from_numpy(group.keys.reshape(-1)).to(device)
        self.queries = self.keys if group.causal else torch.from_numpy(group.queries.reshape(-1)).to(device)
        self.slots = torch.from_numpy(group.slots).to(device)
        self.places = torch.from_numpy(group.places).to(device)
        self.paths = len(group.keys)
        self.mask: Tensor | None = None
        if not group.causal:
            seen = torch.arange(group.keys.shape[1]) <= torch.from_numpy(group.columns)[:, :, None]
            mask = torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, float("-inf"))
            self.mask = mask[:, None].to(device)


def _norm(norm: Any, x: Tensor) -> Tensor:
    """Root-mean-square norm over the last dimension, worked out in float32."""
    y = x.float()
    scale = torch.linalg.vector_norm(y, dim=-1, keepdim=True).square_()
    scale = scale.div_(y.shape[-1]).add_(norm.variance_epsilon).rsqrt_()
    normed: Tensor = (y * scale).to(x.dtype).mul_(norm.weight)
    return normed


def _turn(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary position embedding of [t, heads, size]: pairs are a half apart."""
    cos, sin = turn
    half = x.shape[-1] // 2
    out = x * cos
    out[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-1)
    out[..., half:].addcmul_(x[..., :half], sin[..., half:])
    return out


def _attention(
    attention: Any, asking: Tensor, states: Tensor, turns: tuple[_Turn, _Turn], groups: Sequence[_Calls]
) -> Tensor:
    """Attention of `asking` [q, width] over `states` [t, width] along the paths: [q, heads * size]."""
    size = attention.head_dim
    q = attention.q_proj(asking).view(len(asking), -1, size)
    k = attention.k_proj(states).view(len(states), -1, size)
    v = attention.v_proj(states).view(len(states), -1, size)
    if hasattr(attention, "q_norm"):
        q, k = _norm(attention.q_norm, q), _norm(attention.k_norm, k)
    q, k = _turn(q, turns[0]), _turn(k, turns[1])
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    for group in groups:
        asked, keys, values = (
            t.index_select(0, index).view(group.paths, -1, t.shape[1], size).transpose(1, 2)
            for t, index in ((q, group.queries), (k, group.keys), (v, group.keys))
        )
        if (share := attention.num_key_value_groups) > 1:
            keys, values = keys.repeat_interleave(share, 1), values.repeat_interleave(share, 1)
        mixed = functional.scaled_dot_product_attention(
            asked, keys, values, attn_mask=group.mask, is_causal=group.mask is None, scale=attention.scaling
        )
        rows = mixed.transpose(1, 2).reshape(-1, *q.shape[1:])
        out.index_copy_(0, group.places, rows.index_select(0, group.slots))
    return out.view(len(q), -1)


def _add(x: Tensor, y: Tensor, linear: nn.Linear) -> None:
    """x += linear(y), in place."""
    x.addmm_(y, linear.weight.t())
    if linear.bias is not None:
        x.add_(linear.bias)


def _feed_forward(layer: Any, x: Tensor) -> None:
    """x += mlp(norm(x)), in place and a piece at a time."""
    mlp = layer.mlp
    rows = max(64, CHUNK // mlp.gate_proj.out_features)
    for part in torch.split(x, rows):
        states = _norm(layer.post_attention_layernorm, part)
        gate = functional.silu(mlp.gate_proj(states), inplace=True)
        _add(part, gate.mul_(mlp.up_proj(states)), mlp.down_proj)
