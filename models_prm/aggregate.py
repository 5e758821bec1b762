"""From probabilities of steps to the score of a step and of a solution. Pure functions, no numpy.

The product over steps of 1 - p(-1) is the paper's solution score (arXiv 2305.20050, neutral counted as good).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from models_prm.records import StepScores

Neutral = Literal["good", "bad"]
Probs = tuple[float, float, float]


def step_score(probs: Probs, neutral: Neutral = "good") -> float:
    """Score of one step in [0, 1]: 1 - p(-1) when neutral counts as good, p(+1) when it counts as bad."""
    score = 1.0 - probs[0] if neutral == "good" else probs[2]
    return min(1.0, max(0.0, score))


def step_scores(probs: Sequence[Probs], neutral: Neutral = "good") -> list[float]:
    """Scores of all steps of a solution, in order."""
    return [step_score(p, neutral) for p in probs]


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def product(scores: Sequence[float]) -> float:
    """Probability that all steps are fine, computed in log space."""
    return math.exp(log_product(scores))


def log_product(scores: Sequence[float]) -> float:
    """Logarithm of the product; keeps the order of solutions whose product underflows to 0."""
    return math.fsum(_log(s) for s in scores) if all(s > 0 for s in scores) else -math.inf


def geometric_mean(scores: Sequence[float]) -> float:
    """Product without its preference for short solutions."""
    return math.exp(log_product(scores) / len(scores))


def last(scores: Sequence[float]) -> float:
    """Score of the last step."""
    return scores[-1]


def mean(scores: Sequence[float]) -> float:
    """Arithmetic mean of the steps' scores."""
    return math.fsum(scores) / len(scores)


REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "product": product,
    "minimum": min,
    "last": last,
    "mean": mean,
    "geometric_mean": geometric_mean,
    "log_product": log_product,
}
"""Every way to make one number of the steps' scores, by the name used in recipes and files."""


def solution_score(scores: Sequence[float], method: str = "product") -> float | None:
    """One number for a solution; None for a solution without steps (no score, never a perfect 1).

    Raises ValueError for an unknown method.
    """
    if method not in REDUCTIONS:
        raise ValueError(f"no reduction {method!r}: choose one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[method](scores) if scores else None


def score_of(result: StepScores, method: str = "product", neutral: Neutral = "good") -> float | None:
    """Solution score of a scorer's result; None when steps are missing or did not fit the context."""
    if result.dropped:
        return None
    return solution_score(step_scores(result.probs, neutral), method)


def first_error(scores: Sequence[float], threshold: float = 0.5) -> int | None:
    """Index from 0 of the first step scored below the threshold, None when there is none."""
    return next((i for i, s in enumerate(scores) if s < threshold), None)
