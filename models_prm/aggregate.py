"""From probabilities of steps to the score of a step and of a solution. Pure functions, no numpy.

The product over steps of 1 - p(-1) is the paper's solution score (arXiv 2305.20050, neutral counted as good;
the four strategies of its Table 4 are product or minimum, neutral good or bad). Every way also exists in log
space (`log_score`), where a long product does not underflow and -inf is a value like any other: the score of
a solution with an impossible step. A solution without steps has no score, never a perfect 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

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


def logit_sum(scores: Sequence[float]) -> float:
    """Sum over steps of log(s / (1 - s)): unbounded both ways, so never a weight of a vote.

    A step of score 0 gives -inf whatever the others say; else a step of score 1 gives +inf.
    """
    if not all(s > 0 for s in scores):
        return -math.inf
    return math.fsum(_log(s) - math.log1p(-s) if s < 1 else math.inf for s in scores)


REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "product": product,
    "minimum": min,
    "last": last,
    "mean": mean,
    "geometric_mean": geometric_mean,
    "log_product": log_product,
    "logit_sum": logit_sum,
}
"""Every way to make one number of the steps' scores, by the name used in recipes and files."""

_ALREADY_LOG = {"log_product", "logit_sum"}


def solution_score(scores: Sequence[float], method: str = "product") -> float | None:
    """One number for a solution; None for a solution without steps (no score, never a perfect 1).

    Raises ValueError for an unknown method.
    """
    if method not in REDUCTIONS:
        raise ValueError(f"no reduction {method!r}: choose one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[method](scores) if scores else None


def log_score(scores: Sequence[float], method: str = "product") -> float | None:
    """The same as a logarithm in [-inf, 0]: the same order of solutions, without underflow.

    `log_product` and `logit_sum` are logarithms as they are. None for a solution without steps; ValueError
    for an unknown method.
    """
    if not scores:
        return solution_score(scores, method)
    if method in {"product", "geometric_mean"}:
        total = log_product(scores)
        return total / len(scores) if method == "geometric_mean" else total
    value = solution_score(scores, method)
    return value if value is None or method in _ALREADY_LOG else _log(value)


def score_of(result: StepScores, method: str = "product", neutral: Neutral = "good") -> float | None:
    """Solution score of a scorer's result; None when steps are missing or did not fit the context."""
    if result.dropped:
        return None
    return solution_score(step_scores(result.probs, neutral), method)


def first_error(scores: Sequence[float], threshold: float = 0.5) -> int | None:
    """Index from 0 of the first step scored below the threshold, None when there is none."""
    return next((i for i, s in enumerate(scores) if s < threshold), None)


def is_finished(finish: str | None, answer: str | None, *, answers_known: bool = True) -> bool:
    """Whether a sample may win a best-of-N at all (openai/prm800k issue 8).

    A product over few steps beats one over many, so a text that was cut off or states no answer would win by
    being unfinished. It keeps its slot, and is not eligible: finish reason "length", or no answer where the
    pool has answers (`answers_known`).
    """
    return finish != "length" and not (answers_known and (answer is None or not answer.strip()))


def minima_on_last_step(solutions: Iterable[Sequence[float]]) -> dict[str, Any]:
    """How often the lowest step of a solution is its last one; a sign of a PRM that became an ORM.

    Models trained on Monte Carlo labels drift there (Qwen2.5-Math-PRM's report). `share` is over solutions of
    two or more steps, tied minima counted by their share; `by_chance` is what random places would give.
    """
    share, chance, n = 0.0, 0.0, 0
    for scores in solutions:
        if len(scores) < 2:
            continue
        low = min(scores)
        n += 1
        share += (scores[-1] == low) / sum(s == low for s in scores)
        chance += 1 / len(scores)
    return {"solutions": n, "share": share / n if n else None, "by_chance": chance / n if n else None}
