"""Forward pass of training without padding: what `forward` is to scoring, with gradients.

The pieces of a step become sequences of tokens, one for each path that carries a label, and `packed.plan`
lays them into one row in which every token stands once. Attention runs along the paths, so its cost is that
of the solutions and not that of the row squared; the last layer is worked out only where something is read.
Models built like Llama go this way (with adapters too); others, and those with dropout in their attention,
through the library's own forward pass with a mask. Both give the same loss and gradient to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from models_prm.config import TrainConfig
from models_prm.encoding.collate import Piece
from models_prm.encoding.packed import Ints, PackedBatch, PathGroup, plan
from models_prm.errors import MarkerError
from models_prm.prm import Prm
from models_prm.training.losses import every_token, folded, loss_sum

KINDS = frozenset({"llama", "mistral", "qwen2", "qwen3"})
ROPES = frozenset({"default", "linear", "llama3", "yarn"})
CHECKED = "_stepmark_learns_packed"
NO_LIMIT = 1 << 60
IN_CACHE = 1 << 16
"""Numbers of one tensor that elementwise work takes at a time."""
Embed = Callable[[Tensor], Tensor]


@dataclass
class _Path:
    """A sequence of a piece: `labels` are its labelled places as (position, mass), `tokens` those positions
    whose tokens are to be predicted from the one before."""

    ids: Ints
    labels: list[tuple[Ints, Any]]
    tokens: list[Ints]


def step_sums(
    prm: Prm, pieces: Sequence[Piece], config: TrainConfig, *, labels: bool, texts: bool
) -> dict[str, Tensor]:
    """Sums of the label losses and of the next-token losses over the pieces, as `losses.label_sum` and
    `losses.token_sum` give them for the collated batch. Raises MarkerError where marks and steps do not
    match."""
    paths = [path for piece in pieces for path in _paths(prm, piece, config, labels, texts)]
    label_reads = [_joined([at for at, _ in path.labels]) for path in paths]
    token_reads = [_joined(path.tokens) for path in paths]
    reads = [np.concatenate([a, b - 1]) for a, b in zip(label_reads, token_reads, strict=True)]
    (batch,) = plan([path.ids for path in paths], reads, NO_LIMIT)
    states = trained_states(prm.lm.base_model, batch, prm.embed)
    rows = dict(zip(batch.members, batch.rows, strict=True))
    sums: dict[str, Tensor] = {}
    if labels:
        at = np.concatenate([rows[i][: len(label_reads[i])] for i in range(len(paths))])
        mass = np.concatenate([part for path in paths for _, part in path.labels])
        sums["label_loss"] = loss_sum(
            prm.read(states[_index(at, states)]), _index(mass, states).float(), config
        )
    if texts:
        at = np.concatenate([rows[i][len(label_reads[i]) :] for i in range(len(paths))])
        wanted = np.concatenate([path.ids[reads_] for path, reads_ in zip(paths, token_reads, strict=True)])
        logits = prm.lm.get_output_embeddings()(states[_index(at, states)]).float()
        sums["lm_loss"] = functional.cross_entropy(logits, _index(wanted, states), reduction="sum")
    return sums


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _index(values: Any, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(like.device)


def _paths(prm: Prm, piece: Piece, config: TrainConfig, labels: bool, texts: bool) -> Iterator[_Path]:
    """Paths down to every node that is wanted, each wanted node read in one of them."""
    source, step_id = piece.source, prm.encoder.step_id
    parents, counts = source.tree.parents, source.tree.counts
    fresh = [node for node, new in zip(piece.nodes, piece.fresh, strict=True) if new]
    mass = dict(zip(fresh, folded(np.array([counts[n] for n in fresh]).reshape(-1, 3), config), strict=True))
    wanted = [n for n in fresh if texts or (labels and mass[n].sum() > 0)]
    inner = {parents[n] for n in wanted}
    prompt_counts = texts and any(piece.fresh[:1])
    unread = set(wanted)
    for leaf in wanted:
        if leaf in inner:
            continue
        line: list[int] = []
        node = leaf
        while node >= 0:
            line.append(node)
            node = parents[node]
        line.reverse()
        ids = np.array([*source.prompt, *(i for n in line for i in source.nodes[n])], np.int64)
        ends = len(source.prompt) + np.cumsum([len(source.nodes[n]) for n in line])
        if not np.array_equal(np.flatnonzero(ids == step_id), ends - 1):
            raise MarkerError(
                f"{len(line)} steps but {int((ids == step_id).sum())} step marks in the sequence: "
                "nothing was trained"
            )
        path = _Path(ids, [], [np.arange(1, len(source.prompt))] if prompt_counts else [])
        prompt_counts = False
        for n, end in zip(line, ends.tolist(), strict=True):
            if n in unread:
                unread.discard(n)
                if labels and mass[n].sum() > 0:
                    path.labels.append(_labelled(len(source.nodes[n]), end, mass[n], config))
                if texts:
                    path.tokens.append(np.arange(end - len(source.nodes[n]), end))
        yield path


def _labelled(length: int, end: int, mass: Any, config: TrainConfig) -> tuple[Ints, Any]:
    """Positions that carry the label of a node whose tokens end before `end`, and their mass."""
    last = end - (config.readout == "before")
    at = np.arange(end - length, last) if every_token(config) else np.array([last - 1])
    return at, np.broadcast_to(mass, (len(at), 3))


def learns_packed(lm: Any) -> bool:
    """Whether this model is trained by our own forward pass; found out once for a model."""
    known = getattr(lm, CHECKED, None)
    if known is None:
        known = _is_known_shape(lm) and _agrees(lm)
        setattr(lm, CHECKED, known)
    return bool(known)


def _is_known_shape(lm: Any) -> bool:
    config, base = lm.config, lm.base_model
    rope = getattr(config, "rope_parameters", None) or {}
    if config.model_type not in KINDS or rope.get("rope_type", "default") not in ROPES:
        return False
    if any(kind != "full_attention" for kind in getattr(config, "layer_types", None) or ()):
        return False
    if config.model_type == "mistral" and getattr(config, "sliding_window", None) is not None:
        return False
    plain = config.hidden_act == "silu" and not getattr(config, "attention_dropout", 0.0)
    return bool(plain and hasattr(base, "layers") and not getattr(base, "gradient_checkpointing", False))


@torch.no_grad()
def _agrees(lm: Any) -> bool:
    """Both forward passes on a few made-up sequences that share beginnings."""
    rng = np.random.default_rng(0)
    begin = rng.integers(0, lm.config.vocab_size, 12)
    ids = [
        np.concatenate([begin[:n], rng.integers(0, lm.config.vocab_size, m)])
        for n, m in ((12, 9), (12, 3), (5, 6))
    ]
    reads = [np.array([4, len(i) - 1]) for i in ids]
    (batch,) = plan(ids, reads, NO_LIMIT)
    before = lm.training
    lm.eval()
    states = trained_states(lm.base_model, batch, lm.get_input_embeddings())
    close = True
    for member, row in zip(batch.members, batch.rows, strict=True):
        given = torch.from_numpy(ids[member])[None].to(lm.device)
        wanted = lm.base_model(input_ids=given, use_cache=False).last_hidden_state[0, reads[member]]
        error = (states[_index(row, states)] - wanted).abs().max()
        close = close and bool(error <= (1e-3 if lm.dtype is torch.float32 else 0.1) * wanted.abs().max())
    lm.train(before)
    return close


def trained_states(base: Any, batch: PackedBatch, embed: Embed) -> Tensor:
    """Final hidden states [k, width] at `batch.read`, of a Llama-like base model, with gradients."""
    device = base.embed_tokens.weight.device
    x = embed(torch.from_numpy(batch.ids).to(device)[None])[0]
    cos, sin = base.rotary_emb(x[None], torch.from_numpy(batch.positions).to(device)[None])
    turn = (cos[0][:, None], sin[0][:, None])
    calls = _Calls(batch.groups, x)
    for layer in base.layers[:-1]:
        states = _norm(layer.input_layernorm, x)
        mixed = _attention(layer.self_attn, states, states, (turn, turn), calls)
        x = x + layer.self_attn.o_proj(mixed)
        x = x + _feed_forward(layer, x)
    layer = base.layers[-1]
    read = torch.from_numpy(batch.read).to(device)
    states = _norm(layer.input_layernorm, x)
    turned = (turn[0][read], turn[1][read])
    mixed = _attention(layer.self_attn, states[read], states, (turned, turn), _Calls(batch.last, x))
    x = x[read] + layer.self_attn.o_proj(mixed)
    x = x + _feed_forward(layer, x)
    return _norm(base.norm, x)


class _Call:
    """Index tensors of one attention group, made once for all layers."""

    def __init__(self, group: PathGroup, device: torch.device, dtype: torch.dtype) -> None:
        self.keys = torch.from_numpy(group.keys.reshape(-1)).to(device)
        self.queries = self.keys if group.causal else torch.from_numpy(group.queries.reshape(-1)).to(device)
        self.slots = torch.from_numpy(group.slots).to(device)
        self.paths = len(group.keys)
        self.mask: Tensor | None = None  # what is added to the attention's logits, made once for all layers
        if not group.causal:
            seen = torch.from_numpy(np.arange(group.keys.shape[1]) <= group.columns[:, :, None])
            mask = torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, float("-inf"))
            self.mask = mask[:, None].to(device)


class _Calls:
    """The attention calls of a layer; `order`: where each place's output is among the outputs of all."""

    def __init__(self, groups: Sequence[PathGroup], like: Tensor) -> None:
        device, kind = like.device, like.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else like.dtype
        self.groups = [_Call(group, device, dtype) for group in groups]
        order = np.argsort(np.concatenate([group.places for group in groups]))
        self.order = torch.from_numpy(order).to(device)


def _attention(
    attention: Any,
    asking: Tensor,
    states: Tensor,
    turns: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]],
    calls: _Calls,
) -> Tensor:
    """Attention of `asking` [q, width] over `states` [t, width] along the paths: [q, heads * size]."""
    size = attention.head_dim
    q = attention.q_proj(asking).view(len(asking), -1, size)
    k = attention.k_proj(states).view(len(states), -1, size)
    v = attention.v_proj(states).view(len(states), -1, size)
    if hasattr(attention, "q_norm"):
        q, k = _norm(attention.q_norm, q), _norm(attention.k_norm, k)
    q, k = _turned(q, *turns[0]).to(v.dtype), _turned(k, *turns[1]).to(v.dtype)
    parts = []
    for group in calls.groups:
        asked, keys, values = (
            t.index_select(0, index).view(group.paths, -1, t.shape[1], size).transpose(1, 2)
            for t, index in ((q, group.queries), (k, group.keys), (v, group.keys))
        )
        if (share := attention.num_key_value_groups) > 1:
            keys, values = keys.repeat_interleave(share, 1), values.repeat_interleave(share, 1)
        mixed = functional.scaled_dot_product_attention(
            asked, keys, values, attn_mask=group.mask, is_causal=group.mask is None, scale=attention.scaling
        )
        parts.append(mixed.transpose(1, 2).reshape(-1, *q.shape[1:]).index_select(0, group.slots))
    result: Tensor = torch.cat(parts).index_select(0, calls.order).flatten(1)
    return result


class _RmsNorm(torch.autograd.Function):
    """Root-mean-square norm over the last dimension, worked out in float32 (Zhang and Sennrich 2019); keeps
    the normed input and the scale, where plain arithmetic keeps four tensors and passes over them."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        y = x.float()
        scale = (
            torch.linalg.vector_norm(y, dim=-1, keepdim=True).square_().div_(y.shape[-1]).add_(eps).rsqrt_()
        )
        normed = y * scale
        ctx.save_for_backward(normed, scale, weight)
        ctx.dtype = x.dtype
        result: Tensor = normed.to(x.dtype) * weight
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None]:
        normed, scale, weight = ctx.saved_tensors
        grad = grads[0].float()
        to_weight = None
        if ctx.needs_input_grad[1]:
            to_weight = (grad * normed).flatten(0, -2).sum(0).to(weight.dtype)
        inner = grad * weight.float()
        mean = (inner * normed).mean(-1, keepdim=True)
        return inner.addcmul_(normed, mean, value=-1).mul_(scale).to(ctx.dtype), to_weight, None


def _norm(norm: Any, x: Tensor) -> Tensor:
    apply: Any = _RmsNorm.apply
    result: Tensor = apply(x, norm.weight, norm.variance_epsilon)
    return result


class _Gated(torch.autograd.Function):
    """silu(gate) * up of [t, width] (Shazeer 2020), some rows at a time so that what is between stays in the
    processor's cache; only its inputs are kept."""

    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor) -> Tensor:
        ctx.save_for_backward(gate, up)
        out = torch.empty_like(gate)
        for g, u, o in _in_pieces(gate, up, out):
            torch.mul(functional.silu(g), u, out=o)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        gate, up = ctx.saved_tensors
        to_gate, to_up = torch.empty_like(gate), torch.empty_like(up)
        for g, u, grad, out_g, out_u in _in_pieces(gate, up, grads[0], to_gate, to_up):
            share = torch.sigmoid(g)
            torch.mul(grad, g * share, out=out_u)
            slope = (1.0 - share).mul_(g).add_(1.0).mul_(share)  # of silu
            torch.mul(slope.mul_(u), grad, out=out_g)
        return to_gate, to_up


def _in_pieces(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    rows = max(16, IN_CACHE // tensors[0].shape[-1]) if tensors[0].device.type == "cpu" else len(tensors[0])
    for begin in range(0, len(tensors[0]), max(rows, 1)):
        yield tuple(tensor[begin : begin + rows] for tensor in tensors)


def _feed_forward(layer: Any, x: Tensor) -> Tensor:
    """What the layer's gated feed-forward part adds to x [t, width]."""
    mlp, states = layer.mlp, _norm(layer.post_attention_layernorm, x)
    apply: Any = _Gated.apply
    result: Tensor = mlp.down_proj(apply(mlp.gate_proj(states), mlp.up_proj(states)))
    return result


class _Turn(torch.autograd.Function):
    """Rotary position embedding of [t, heads, size] whose pairs are a half apart (Su et al. 2021); its
    gradient is turned back by the same angle."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        return _rotated(x, cos, sin, 1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        cos, sin = ctx.saved_tensors
        return _rotated(grads[0], cos, sin, -1), None, None


def _rotated(x: Tensor, cos: Tensor, sin: Tensor, sign: int) -> Tensor:
    half = x.shape[-1] // 2
    out: Tensor = x * cos
    out[..., :half].addcmul_(x[..., half:].to(out.dtype), sin[..., :half].to(out.dtype), value=-sign)
    out[..., half:].addcmul_(x[..., :half].to(out.dtype), sin[..., half:].to(out.dtype), value=sign)
    return out


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    apply: Any = _Turn.apply
    result: Tensor = apply(x, cos, sin)
    return result
