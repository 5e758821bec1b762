"""Measures of scores against truth. numpy only; arrays are one-dimensional and of equal length.

Where a measure is undefined (one class only, no items) the result is None, never 0 and never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models_prm.evaluation import exact

Floats = NDArray[np.float64]


def _pair(scores: ArrayLike, positive: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    s, p = np.asarray(scores, np.float64), np.asarray(positive, np.bool_)
    if s.shape != p.shape or s.ndim != 1:
        raise ValueError(f"scores {s.shape} and truth {p.shape} must be equally long lists")
    if not np.all(np.isfinite(s)):
        raise ValueError("a score is not a finite number")
    return s, p


def auroc(scores: ArrayLike, positive: ArrayLike) -> float | None:
    """Probability that a positive outranks a negative; a tie counts one half."""
    s, p = _pair(scores, positive)
    n, m = int(p.sum()), int((~p).sum())
    if not n or not m:
        return None
    _, inverse, counts = np.unique(s, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    return float((ranks[p].sum() - n * (n + 1) / 2.0) / (n * m))


def average_precision(scores: ArrayLike, positive: ArrayLike) -> float | None:
    """Sum over thresholds of (recall gained) x precision; tied scores enter together."""
    s, p = _pair(scores, positive)
    if not p.any():
        return None
    values, inverse = np.unique(-s, return_inverse=True)
    hits = np.cumsum(np.bincount(inverse, weights=p, minlength=len(values)))
    taken = np.cumsum(np.bincount(inverse, minlength=len(values)))
    gained = np.diff(np.concatenate([[0.0], hits])) / hits[-1]
    return float((gained * hits / taken).sum())


def brier(probabilities: ArrayLike, positive: ArrayLike) -> float | None:
    """Mean squared difference between probability and truth."""
    s, p = _pair(probabilities, positive)
    return float(np.mean((s - p) ** 2)) if len(s) else None


def reliability(probabilities: ArrayLike, positive: ArrayLike, bins: int = 15) -> list[dict[str, float]]:
    """Equal-mass bins, lowest first: `predicted` and `observed` means, `count`. Equal values share a bin."""
    s, p = _pair(probabilities, positive)
    order = np.argsort(s, kind="stable")
    s, p = s[order], p[order]
    result, begin = [], 0
    for k in range(1, bins + 1):
        end = len(s) if k == bins else round(k * len(s) / bins)
        if begin < end < len(s):
            end = max(end, int(np.searchsorted(s, s[end - 1], side="right")))
        if end > begin:
            part = slice(begin, end)
            result.append(
                {"predicted": float(s[part].mean()), "observed": float(p[part].mean()), "count": end - begin}
            )
            begin = end
    return result


def calibration_error(probabilities: ArrayLike, positive: ArrayLike, bins: int = 15) -> float | None:
    """Expected calibration error over equal-mass bins."""
    table = reliability(probabilities, positive, bins)
    total = sum(row["count"] for row in table)
    return (
        sum(row["count"] * abs(row["predicted"] - row["observed"]) for row in table) / total
        if total
        else None
    )


FirstError = int | None


def first_error_report(
    truth: Sequence[FirstError], predicted: Sequence[FirstError]
) -> dict[str, float | int | None]:
    """How well the first bad step is found; None means that a solution has no bad step.

    `accuracy`: exact match over all solutions. `precision`: of the solutions in which an error was claimed,
    the share where it is exactly there. `recall`: of the solutions with an error, the share found exactly.
    `f1`: harmonic mean of those two (0 when both are 0).
    """
    if len(truth) != len(predicted):
        raise ValueError("truth and prediction must be equally long")
    exact = [t == p for t, p in zip(truth, predicted, strict=True)]
    hits = sum(t is not None and t == p for t, p in zip(truth, predicted, strict=True))
    claimed, erroneous = sum(p is not None for p in predicted), sum(t is not None for t in truth)
    precision = hits / claimed if claimed else None
    recall = hits / erroneous if erroneous else None
    return {
        "solutions": len(exact),
        "with_error": erroneous,
        "accuracy": sum(exact) / len(exact) if exact else None,
        "precision": precision,
        "recall": recall,
        "f1": _harmonic(precision, recall),
    }


def _harmonic(a: float | None, b: float | None) -> float | None:
    if a is None or b is None:
        return None
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def processbench_f1(truth: Sequence[FirstError], predicted: Sequence[FirstError]) -> dict[str, float | None]:
    """ProcessBench's measure: accuracy on erroneous solutions (exact index), on correct ones, and `f1`, the
    harmonic mean of the two accuracies. It is not a classifier's F1 (QwenLM/ProcessBench issue 6).

    Pass None for "no error"; files that write -1 are to be converted first. Both accuracies 0 give 0.
    """
    if len(truth) != len(predicted):
        raise ValueError("truth and prediction must be equally long")
    wrong = [t == p for t, p in zip(truth, predicted, strict=True) if t is not None]
    right = [p is None for t, p in zip(truth, predicted, strict=True) if t is None]
    error = sum(wrong) / len(wrong) if wrong else None
    correct = sum(right) / len(right) if right else None
    return {"error_accuracy": error, "correct_accuracy": correct, "f1": _harmonic(error, correct)}


def best_of_n(
    scores: Sequence[float | None], correct: Sequence[bool], n: int, slots: int | None = None
) -> float:
    """Exact expected accuracy when the best-scored of `n` samples drawn without replacement is taken.

    One problem of `exact.best_of_n_curve`, which does many problems and many n at once. A score of None is a
    lost sample: it keeps its slot and never wins. `slots` (default: number of samples) may be larger where
    samples are missing altogether, as in openai/prm800k's protocol; drawing only lost slots counts as wrong.
    Ties share their chance evenly.
    """
    if len(scores) != len(correct) or not len(scores) <= (m := slots or len(scores)) or not 1 <= n <= m:
        raise ValueError("need equally long lists, slots >= samples and 1 <= n <= slots")
    known = [[math.nan if s is None else s for s in scores]]
    return float(exact.best_of_n_curve(known, [list(correct)], [n], m)[0, 0])


def pass_at_n(correct: Sequence[bool], n: int, slots: int | None = None) -> float:
    """Probability that n samples drawn without replacement hold a right one: the oracle's best of n."""
    return best_of_n([float(c) for c in correct], correct, n, slots)


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None when there is none."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None
