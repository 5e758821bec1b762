"""Best of N computed exactly, for all problems and all N at once; its spread, and intervals over problems.

    values = best_of_n_curve(scores, correct, [10, 100, 1860], slots=1860)     # [problems, 3]
    accuracy, sd = values.mean(0), spread(values)

A random N-subset of M slots is won by the sample of rank r (from 0, best first) with probability
C(M-r-1, N-1) / C(M, N); samples of equal score share their places evenly, which equals a shuffled arg-max.
The protocol (missing samples keep their slot, a draw of none is wrong) is that of openai/prm800k's evaluation
script, which estimates the same numbers from 400 random draws. numpy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def none_better(slots: int, counts: Sequence[int]) -> Floats:
    """Probability [len(counts), slots] that N of `slots` drawn slots hold none of the first s, s from 0.

    C(slots-s, N) / C(slots, N), by the ratios of neighbours, so that no large number is formed.
    """
    place = np.arange(slots - 1)
    ratios = np.maximum(0.0, slots - place - np.asarray(counts)[:, None]) / (slots - place)
    return np.hstack([np.ones((len(counts), 1)), np.cumprod(ratios, axis=1)])


def rank_weights(slots: int, counts: Sequence[int]) -> Floats:
    """Probability [len(counts), slots] that the sample of each rank wins the best of N."""
    share = np.minimum(1.0, np.asarray(counts)[:, None] / (slots - np.arange(slots)))
    return none_better(slots, counts) * share


def best_of_n_curve(
    scores: ArrayLike, correct: ArrayLike, counts: Sequence[int], slots: int | Sequence[int] | None = None
) -> Floats:
    """Expected accuracy [problems, len(counts)] of the best-scored of N samples drawn without replacement.

    `scores` [problems, samples]: NaN is a lost sample, which keeps its slot and never wins; -inf is a score.
    `correct` [problems, samples]: 1 or 0. `slots` per problem or for all (default: number of columns) may be
    larger, where samples are missing altogether, or smaller, where a row is filled up with NaN.
    Raises ValueError when shapes differ, or N is not between 1 and the slots of every problem.
    """
    s, c = np.asarray(scores, np.float64), np.asarray(correct, np.float64)
    if s.ndim != 2 or s.shape != c.shape:
        raise ValueError(f"scores {s.shape} and truth {c.shape} must be two tables of one shape")
    m = np.broadcast_to(np.asarray(s.shape[1] if slots is None else slots, np.int64), (len(s),))
    if not len(counts) or min(counts) < 1 or (len(m) and max(counts) > m.min()):
        raise ValueError("need 1 <= n <= slots for every n and every problem")
    if np.any(m < np.sum(~np.isnan(s), axis=1)):
        raise ValueError("need slots >= samples for every problem")
    shares = _shares_by_rank(s, c)
    result = np.empty((len(s), len(counts)))
    for size in np.unique(m):
        rows = m == size
        width = min(int(size), shares.shape[1])
        result[rows] = shares[rows, :width] @ rank_weights(int(size), counts)[:, :width].T
    return result


def _shares_by_rank(scores: Floats, correct: Floats) -> Floats:
    """Correctness by rank, best first: the mean of its group where scores are tied, 0 for lost samples."""
    codes = _codes(scores, correct)
    if codes is not None:
        codes.sort(axis=1)
        right = (codes & 1).astype(np.float64)
        codes >>= 1
        return _ties_shared(right, codes[:, 1:] == codes[:, :-1])
    order = np.argsort(-scores, axis=1)  # NaN sorts last
    ranked = np.take_along_axis(scores, order, 1)
    right = np.take_along_axis(correct, order, 1)
    right[np.isnan(ranked)] = 0.0
    return _ties_shared(right, ranked[:, 1:] == ranked[:, :-1])


def _codes(scores: Floats, correct: Floats) -> Ints | None:
    """Scores as whole numbers in their order, best lowest, with the correctness in the last bit.

    Plain numbers sort an order of magnitude faster than indices do. The bits of floats of one sign count up
    with their size; turned over for negative ones they keep all orders and ties. None where the range leaves
    no bit free (say, logits of both signs), or correctness is no yes or no.
    """
    right = correct == 1.0
    if not scores.size or not np.array_equal(right, correct):
        return None
    bounds = np.array([np.fmin.reduce(scores, axis=None), np.fmax.reduce(scores, axis=None)])
    low, high = (int(key) for key in _in_order(bounds))
    if np.isnan(bounds).any() or high - low >= (1 << 62) - 1:
        return None
    codes = _in_order(scores)
    np.subtract(high, codes, out=codes)
    codes <<= 1
    codes += right
    codes[np.isnan(scores)] = np.iinfo(np.int64).max - 1
    return codes


def _in_order(values: Floats) -> Ints:
    """Bits of floats as signed numbers of the same order; -0.0 is 0.0."""
    bits = (values + 0.0).view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max))


def _ties_shared(right: Floats, tied: NDArray[np.bool_]) -> Floats:
    """Every value of a run of tied ranks is the run's mean; `tied` [.., n-1]: is the next one equal?"""
    if not tied.any():
        return right
    first = np.ones(right.shape, np.bool_)
    np.logical_not(tied, out=first[:, 1:])
    ends = np.append(np.flatnonzero(first), first.size)
    sizes = np.diff(ends)
    before = np.append(0.0, np.cumsum(right))  # whole numbers: exact
    return np.repeat(np.diff(before[ends]) / sizes, sizes).reshape(right.shape)


def pass_at_n_curve(correct: ArrayLike, counts: Sequence[int], slots: int | Sequence[int]) -> Floats:
    """Probability [problems, len(counts)] that N samples hold a right one: the oracle's best of N.

    `correct` [problems, samples] as in `best_of_n_curve`, 0 where a row is filled up: one minus the chance
    that N drawn slots hold none of the right ones.
    """
    right = np.asarray(correct).sum(1).astype(np.int64)
    m = np.broadcast_to(np.asarray(slots, np.int64), right.shape)
    if not len(counts) or min(counts) < 1 or (len(m) and max(counts) > m.min()) or np.any(right > m):
        raise ValueError("need 1 <= n <= slots and right samples <= slots for every n and every problem")
    result = np.empty((len(right), len(counts)))
    for size in np.unique(m):
        rows = m == size
        missed = np.hstack([none_better(int(size), counts), np.zeros((len(counts), 1))])
        result[rows] = 1.0 - missed[:, right[rows]].T
    return result


def spread(values: ArrayLike) -> Floats:
    """Standard deviation [len(counts)] of one random trial's accuracy, from exact values [problems, counts].

    A trial draws N samples of each problem; whether its pick is right is a coin of chance v, independent
    between problems, so the variance of the mean is the sum of v (1 - v) over the squared number of problems.
    """
    v = np.clip(np.asarray(values, np.float64), 0.0, 1.0)
    return np.asarray(np.sqrt((v * (1.0 - v)).sum(0)) / max(1, len(v)))


class Bootstrap:
    """Resampled problems, the same for every measure, so that two scorers are compared draw by draw."""

    def __init__(self, problems: int, resamples: int = 1000, seed: int = 0) -> None:
        """`weights` [resamples, problems] say how large each problem's share of each draw is."""
        rng = np.random.default_rng(seed)
        even = np.full(problems, 1.0 / max(1, problems))
        drawn = rng.multinomial(problems, even, size=resamples) if problems else np.zeros((resamples, 0))
        self.weights: Floats = drawn / max(1, problems)

    def means(self, values: ArrayLike) -> Floats:
        """Means [resamples, ...] of values [problems, ...]."""
        return np.asarray(self.weights @ np.asarray(values, np.float64))

    def interval(self, values: ArrayLike) -> list[list[float]]:
        """95% intervals of the mean over problems: [low, high] for each column of values [problems, columns].

        Values that are all alike have an interval of width 0: the bootstrap sees no other problem.
        """
        low, high = np.quantile(self.means(values), [0.025, 0.975], axis=0)
        return [[float(a), float(b)] for a, b in zip(low, high, strict=True)]

    def difference(self, first: ArrayLike, second: ArrayLike) -> list[dict[str, Any]]:
        """First minus second [problems, columns] on the same draws: `difference`, `interval`, `p_above`.

        `p_above` is the share of draws in which the first is ahead (equal draws count half).
        """
        apart = np.asarray(first, np.float64) - np.asarray(second, np.float64)
        drawn = self.means(apart)
        above = (drawn > 0).mean(0) + 0.5 * (drawn == 0).mean(0)
        rows = zip(apart.mean(0), self.interval(apart), above, strict=True)
        return [{"difference": float(d), "interval": i, "p_above": float(p)} for d, i, p in rows]
