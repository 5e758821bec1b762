"""What can be guessed without reading a step: its length, its place, the problem's length.

A reward model is only worth its cost above this. The fit is a ridge logistic regression on the training
steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models_prm.encoding.collate import EncodedTree

Floats = NDArray[np.float64]
FEATURES = ("log_step_tokens", "log_step_index", "log_problem_tokens")


def features(encoded: Sequence[EncodedTree]) -> Floats:
    """Features [nodes, 3] of all nodes of all trees, in their order; tokens include the mark."""
    rows: list[tuple[int, int, int]] = []
    for tree in encoded:
        for place, ids in zip(tree.tree.places(), tree.nodes, strict=True):
            rows.append((len(ids), place + 1, len(tree.prompt)))
    return np.log(np.array(rows, np.float64).reshape(-1, len(FEATURES)))


def fit(x: Floats, bad: Floats, weight: Floats, ridge: float = 1.0, rounds: int = 50) -> dict[str, Any]:
    """Logistic regression of "the step is bad" by Newton's method; plain numbers, to be kept in a card.

    `bad` is the share of a step's ratings that are -1 and `weight` their number.
    """
    mean, std = x.mean(0), np.maximum(x.std(0), 1e-9)
    z = np.column_stack([np.ones(len(x)), (x - mean) / std])
    beta = np.zeros(z.shape[1])
    penalty = np.diag([0.0] + [ridge] * x.shape[1])
    for _ in range(rounds):
        p = 1.0 / (1.0 + np.exp(-z @ beta))
        gradient = z.T @ (weight * (bad - p)) - penalty @ beta
        hessian = (z * (weight * p * (1 - p))[:, None]).T @ z + penalty + 1e-9 * np.eye(len(beta))
        step = np.linalg.solve(hessian, gradient)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    return {"features": list(FEATURES), "mean": mean.tolist(), "std": std.tolist(), "beta": beta.tolist()}


def predict(model: dict[str, Any], x: Floats) -> Floats:
    """Probability that each step is bad."""
    z = np.column_stack([np.ones(len(x)), (x - np.array(model["mean"])) / np.array(model["std"])])
    return np.asarray(1.0 / (1.0 + np.exp(-z @ np.array(model["beta"]))))
