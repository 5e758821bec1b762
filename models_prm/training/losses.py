"""Losses of the label stage and of the warm-up, as sums that a whole optimizer step is divided by.

A step of training may be cut into several forward passes and over several processes. Each adds up the losses
of its own labels, and all are divided by the label mass of the whole step (`label_weight`, `token_count`),
known beforehand from the pieces: so the gradient is that of one large batch, whatever it was cut into.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from models_prm.config import TrainConfig
from models_prm.encoding.collate import Batch, Piece
from models_prm.prm import Prm

Floats = NDArray[np.float64]
BAD, OKAY, GOOD = range(3)


def targets(batch: Batch) -> Floats:
    """Label mass [steps, 3] of the batch's nodes; zero for nodes that are context only."""
    return np.array(
        [
            s.piece.source.tree.counts[node] if fresh else (0.0, 0.0, 0.0)
            for s in batch.sequences
            for node, fresh in zip(s.piece.nodes, s.piece.fresh, strict=True)
        ],
        np.float64,
    ).reshape(-1, 3)


def folded(mass: Floats, config: TrainConfig) -> Floats:
    """Mass [n, 3] as the model's classes see it: with two classes an okay step is good or bad (`neutral`)."""
    if len(config.class_order) == 3:
        return mass
    mass = mass.copy()
    mass[:, GOOD if config.neutral == "good" else BAD] += mass[:, OKAY]
    mass[:, OKAY] = 0.0
    return mass


def class_weights(config: TrainConfig) -> tuple[float, float, float]:
    """Weights of (-1, 0, +1); all one where the recipe names none."""
    return (1.0, 1.0, 1.0) if isinstance(config.class_weights, str) else config.class_weights


def every_token(config: TrainConfig) -> bool:
    """Whether all tokens of a step carry its label (an ORM as in Cobbe et al. 2021) or one place alone."""
    return config.kind == "orm" and config.outcome == "all"


def label_weight(pieces: Sequence[Piece], config: TrainConfig) -> float:
    """What the sum of label losses over these pieces is divided by: their label mass times class weights."""
    rows: list[list[float]] = []
    tokens: list[int] = []
    skip = int(config.readout == "before")
    for piece in pieces:
        tree = piece.source
        for node, fresh in zip(piece.nodes, piece.fresh, strict=True):
            if fresh:
                rows.append(tree.tree.counts[node])
                tokens.append(len(tree.nodes[node]) - skip if every_token(config) else 1)
    mass = folded(np.array(rows, np.float64).reshape(-1, 3), config)
    return float(((mass * np.array(class_weights(config))).sum(1) * np.array(tokens)).sum())


def places(batch: Batch, config: TrainConfig) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Row [n], column [n] and mass [n, 3] of every place of the batch that carries loss."""
    mass = folded(targets(batch), config)
    if not every_token(config):
        kept = np.flatnonzero(mass.sum(1) > 0)
        columns = batch.before if config.readout == "before" else batch.columns
        return batch.rows[kept], columns[kept], mass[kept]
    rows, columns_, masses = [], [], []
    begin = 0
    for row, s in enumerate(batch.sequences):
        table = np.vstack([np.zeros((1, 3)), mass[begin : begin + len(s.markers)]])
        begin += len(s.markers)
        of_token = table[s.owner]
        if config.readout == "before":
            of_token[s.markers] = 0.0
        index = np.flatnonzero(of_token.sum(1) > 0)
        rows.append(np.full(len(index), row))
        columns_.append(index)
        masses.append(of_token[index])
    return np.concatenate(rows), np.concatenate(columns_), np.concatenate(masses)


def loss_sum(logits: Tensor, mass: Tensor, config: TrainConfig) -> Tensor:
    """Sum of the losses of n places: float32 logits [n, 3] and target mass [n, 3] over (-1, 0, +1).

    Cross-entropy -sum_k m_k log p_k; focal -sum_k m_k (1 - p_k)^gamma log p_k (Lin et al. 2017, hard targets
    being the one-hot case); squared error sum_k (p_k - t_k)^2 / 2 with t = m / |m|, which is (p - t)^2 for
    two classes. Class weights multiply the mass.
    """
    weights = torch.tensor(class_weights(config), device=logits.device)
    if len(config.class_order) == 2:
        logits, mass, weights = (x[..., [BAD, GOOD]] for x in (logits, mass, weights))
    weighted = mass * weights
    log_p = logits.log_softmax(-1)
    if config.loss == "mse":
        share = mass / mass.sum(-1, keepdim=True).clamp(min=1e-12)
        return (weighted.sum(-1) * (log_p.exp() - share).square().sum(-1)).sum() / 2
    if config.loss == "focal":
        weighted = weighted * (1.0 - log_p.exp()).clamp(min=0.0) ** config.focal_gamma
    return -(weighted * log_p).sum()


def label_sum(prm: Prm, hidden: Tensor, batch: Batch, config: TrainConfig) -> Tensor:
    """Sum of the label losses of a batch; zero, with a gradient, where nothing in it is labelled."""
    rows, columns, mass = places(batch, config)
    states = hidden[torch.from_numpy(rows).to(hidden.device), torch.from_numpy(columns).to(hidden.device)]
    return loss_sum(prm.read(states), torch.from_numpy(mass).float().to(hidden.device), config)


def label_loss(prm: Prm, hidden: Tensor, batch: Batch, config: TrainConfig) -> Tensor:
    """Mean loss per label of one batch, weighted by class; places without a label carry none."""
    weight = label_weight([s.piece for s in batch.sequences], config)
    return label_sum(prm, hidden, batch, config) / max(weight, 1e-9)


def token_count(pieces: Sequence[Piece]) -> int:
    """Number of tokens with a next-token loss: those that count here and have a token before them."""
    total = 0
    for piece in pieces:
        total += len(piece.source.prompt) - 1 if any(piece.fresh[:1]) else 0
        total += sum(
            len(piece.source.nodes[n]) for n, new in zip(piece.nodes, piece.fresh, strict=True) if new
        )
    return total


def token_sum(prm: Prm, hidden: Tensor, batch: Batch) -> Tensor:
    """Sum of next-token losses over the tokens that count here, each predicted from the token before it on
    its path."""
    rows, before, wanted = [], [], []
    for row, s in enumerate(batch.sequences):
        index = np.flatnonzero(s.counted & (s.previous >= 0))
        rows.append(np.full(len(index), row))
        before.append(s.previous[index])
        wanted.append(s.ids[index])
    place = [torch.from_numpy(np.concatenate(part)).to(hidden.device) for part in (rows, before, wanted)]
    logits = prm.lm.get_output_embeddings()(hidden[place[0], place[1]]).float()
    return functional.cross_entropy(logits, place[2], reduction="sum")


def lm_loss(prm: Prm, hidden: Tensor, batch: Batch) -> Tensor:
    """Mean next-token loss of one batch."""
    return token_sum(prm, hidden, batch) / max(token_count([s.piece for s in batch.sequences]), 1)
