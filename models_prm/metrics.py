"""Measures of scores against truth. numpy only; arrays are one-dimensional and of equal length.

Where a measure is undefined (one class only, no items) the result is None, never 0 and never NaN.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

    A score of None is a lost sample: it keeps its slot and never wins. `slots` (default: number of samples)
    may be larger where samples are missing altogether, as in openai/prm800k's protocol; drawing only lost
    slots counts as wrong. Ties share their chance evenly. For a group of k tied samples after s better ones
    of m slots, the group wins with (C(m-s, n) - C(m-s-k, n)) / C(m, n); ratios of neighbours keep it in
    floats.
    """
    m = len(scores) if slots is None else slots
    if len(scores) != len(correct) or not len(scores) <= m or not 1 <= n <= m:
        raise ValueError("need equally long lists, slots >= samples and 1 <= n <= slots")
    ranked = sorted(
        ((s, c) for s, c in zip(scores, correct, strict=True) if s is not None), key=lambda x: -x[0]
    )
    expected, index, none_better = 0.0, 0, 1.0  # none_better = C(m-index, n) / C(m, n)
    while index < len(ranked) and none_better > 0.0:
        end, after = index, none_better
        while end < len(ranked) and ranked[end][0] == ranked[index][0]:
            after *= max(0, m - end - n) / (m - end)
            end += 1
        right = sum(c for _, c in ranked[index:end]) / (end - index)
        expected += (none_better - after) * right
        index, none_better = end, after
    return expected


def pass_at_n(correct: Sequence[bool], n: int, slots: int | None = None) -> float:
    """Probability that n samples drawn without replacement hold a right one: the oracle's best of n."""
    return best_of_n([float(c) for c in correct], correct, n, slots)


def majority_accuracy(answers: Sequence[Hashable | None], correct: Mapping[Hashable, float]) -> float:
    """Expected accuracy of a majority vote; None does not vote, tied winners share the chance evenly.

    `answers` are classes of equivalent answers; `correct` says of each class whether (or how far) it is
    right.
    """
    votes = Counter(a for a in answers if a is not None)
    if not votes:
        return 0.0
    top = max(votes.values())
    winners = [a for a, count in votes.items() if count == top]
    return sum(float(correct.get(a, 0.0)) for a in winners) / len(winners)


def majority_at_n(
    answers: Sequence[Hashable | None],
    correct: Sequence[bool],
    n: int,
    *,
    exact_up_to: int = 5000,
    seed: int = 0,
) -> float:
    """Expected accuracy of the vote of n samples drawn without replacement.

    Exact, by listing all subsets, where there are at most `exact_up_to`; else the mean of that many seeded
    draws. A sample's own `correct` says whether its class is right: equal answers must have equal grades,
    and where a grader disagrees with itself the class counts as the share of its members that are right.
    """
    members: dict[Hashable, list[bool]] = {}
    for answer, right in zip(answers, correct, strict=True):
        if answer is not None:
            members.setdefault(answer, []).append(right)
    share = {answer: sum(rights) / len(rights) for answer, rights in members.items()}
    m = len(answers)
    if math.comb(m, n) <= exact_up_to:
        draws: list[Sequence[int]] = list(itertools.combinations(range(m), n))
    else:
        rng = np.random.default_rng(seed)
        draws = [rng.choice(m, n, replace=False).tolist() for _ in range(exact_up_to)]
    return float(np.mean([majority_accuracy([answers[i] for i in draw], share) for draw in draws]))


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None when there is none."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None
