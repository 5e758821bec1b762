"""Votes over answers: classes of equal answers, majority and weighted votes, and what N voters expect.

Answers vote as classes, not as strings: `classes_of` joins equal ones by union-find, so the classes do not
depend on the order of samples even where a grader's equality is not transitive. A sample without an answer
does not vote. Weights lie in [0, 1]: a sum of raw logits would let a low score take votes away (`as_weights`
makes weights of logits and log-probabilities). Tied classes share the win. numpy only; the grader is handed
in as a function.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models_prm.answers.normalise import normalise, plain_number
from models_prm.answers.verdict import Grade, Verdict

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Equal = Callable[[str, str], bool]
How = Literal["count", "sum", "max"]
EXACT_UP_TO = 5000
"""Subsets are listed where there are at most this many, else drawn."""


def answer_key(answer: str) -> Hashable:
    """What equal answers share without a grader: the value of a plain number, else the notation's key."""
    number = plain_number(answer)
    return ("text", normalise(answer)) if number is None else ("number", number)


def classes_of(answers: Sequence[str | None], equal: Equal | None = None) -> list[int | None]:
    """The class of each answer, numbered by first appearance; None for no answer.

    Answers with the same `answer_key` are equal; `equal(a, b)` is asked about every other pair of keys that
    are not both plain numbers and not joined yet. Classes are the connected components of those equalities.
    """
    keys: dict[Hashable, str] = {}
    keyed = {a: answer_key(a) for a in set(answers) if a is not None and a.strip()}
    of_answer = [None if a is None else keyed.get(a) for a in answers]
    for key, answer in zip(of_answer, answers, strict=True):
        if key is not None and answer is not None:
            keys.setdefault(key, answer)
    parent = {key: key for key in keys}

    def root(key: Hashable) -> Hashable:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for left, right in itertools.combinations(keys, 2) if equal is not None else ():
        numbers = isinstance(left, tuple) and isinstance(right, tuple) and left[0] == right[0] == "number"
        if not numbers and root(left) != root(right) and equal is not None and equal(keys[left], keys[right]):
            parent[root(right)] = root(left)
    names: dict[Hashable, int] = {}
    return [None if key is None else names.setdefault(root(key), len(names)) for key in of_answer]


def equal_by(grade: Callable[[str, str], Grade]) -> Equal:
    """Equality by a grader (`GraderPool.grade`): right whichever of the two is taken for the true answer."""

    def equal(left: str, right: str) -> bool:
        pairs = ((left, right), (right, left))
        return all(grade(given, truth).verdict is Verdict.RIGHT for given, truth in pairs)

    return equal


def as_weights(scores: ArrayLike) -> tuple[Floats, str]:
    """Scores [problems, samples] as weights in [0, 1], and how: "as they are", "exp", or "sigmoid".

    Numbers that are all in [0, 1] are taken for probabilities; numbers that are all at most 0 for their
    logarithms, scaled so that a problem's best weighs 1 (which changes no vote, and underflows for none);
    others for logits. NaN (no score) becomes 0.
    """
    s = np.asarray(scores, np.float64)
    known = s[~np.isnan(s)]
    if not len(known) or (known.min() >= 0 and known.max() <= 1):
        return np.nan_to_num(s, nan=0.0), "as they are"
    if known.max() <= 0:
        best = np.nanmax(np.where(np.isfinite(s), s, -np.inf), axis=-1, keepdims=True, initial=-np.inf)
        return np.nan_to_num(np.exp(s - np.where(np.isfinite(best), best, 0.0)), nan=0.0), "exp"
    half = np.exp(-np.abs(s))
    return np.nan_to_num(np.where(s >= 0, 1.0, half) / (1.0 + half), nan=0.0), "sigmoid"


@dataclass(frozen=True)
class Ballots:
    """The samples of one problem as voters: class [samples] (-1: no vote), weight [samples] in [0, 1].

    `right` [classes] says how right each class is: the grade of its representative, the highest-scored
    member, or where none is best the mean over the best. Without scores it is the mean over all members.
    Lost slots are voters without a vote.
    """

    classes: Ints
    weights: Floats
    right: Floats

    @classmethod
    def of(
        cls,
        classes: Sequence[int | None],
        correct: Sequence[bool],
        scores: ArrayLike | None = None,
        slots: int | None = None,
    ) -> Ballots:
        """From a problem's samples; `scores` [samples] are weights in [0, 1], None gives each one vote.

        Raises ValueError for a weight outside [0, 1].
        """
        weights = np.ones(len(classes)) if scores is None else np.asarray(scores, np.float64)
        if np.any(~(weights >= 0) | (weights > 1)):
            raise ValueError("a vote's weight must lie in [0, 1]: use as_weights for logits, never raw ones")
        numbers = np.array([-1 if c is None else c for c in classes], np.int64)
        right = np.zeros(max(0, int(numbers.max(initial=-1)) + 1))
        truth = np.asarray(correct, np.float64)
        for k in range(len(right)):
            members = numbers == k
            best = members & (weights == weights[members].max()) if members.any() else members
            right[k] = truth[best].mean() if best.any() else 0.0
        lost = (slots or len(classes)) - len(classes)
        return cls(np.append(numbers, np.full(lost, -1)), np.append(weights, np.zeros(lost)), right)


def winners(votes: Floats) -> Floats:
    """Share [rows, classes] of the win by votes [rows, classes]; no votes, no winner. Ties to rounding."""
    top = votes.max(1, keepdims=True)
    won = (votes >= top * (1 - 1e-12)) & (top > 0)
    return np.asarray(won / np.maximum(1, won.sum(1, keepdims=True)))


def vote(ballots: Ballots, how: How = "sum") -> float:
    """Expected accuracy of the vote of all samples."""
    return float(vote_curve(ballots, [len(ballots.classes)], how=how)[0][0])


def vote_curve(
    ballots: Ballots, counts: Sequence[int], *, how: How = "sum", draws: int = 1000, seed: int = 0
) -> tuple[Floats, Floats]:
    """Expected accuracy [counts] of the vote of N samples drawn without replacement, and its variance.

    Exact (variance 0) where at most `EXACT_UP_TO` subsets exist; else the mean over seeded `draws`, and the
    variance of that mean. `how`: "count" votes by heads, "sum" by weights, "max" by the best member.
    """
    m = len(ballots.classes)
    if not len(counts) or not 1 <= min(counts) <= max(counts) <= m:
        raise ValueError(f"N must lie between 1 and {m}")
    values, variances = np.zeros(len(counts)), np.zeros(len(counts))
    if not len(ballots.right):
        return values, variances
    drawn = [i for i, n in enumerate(counts) if math.comb(m, n) > EXACT_UP_TO]
    for i, n in enumerate(counts):
        if i not in drawn:
            subsets = np.array(list(itertools.combinations(range(m), n)), np.int64)
            values[i] = (winners(_tally(ballots, subsets, how)) @ ballots.right).mean()
    if drawn:
        rng = np.random.default_rng(seed)
        orders = np.argsort(rng.random((draws, m)), axis=1)
        for i, votes in _growing(ballots, orders, [(i, counts[i]) for i in drawn], how):
            got = winners(votes) @ ballots.right
            values[i], variances[i] = got.mean(), got.var(ddof=1) / draws
    return values, variances


def _tally(ballots: Ballots, chosen: Ints, how: How) -> Floats:
    """Votes [rows, classes] of chosen samples [rows, n]."""
    k = len(ballots.right)
    classes, weights = ballots.classes[chosen], ballots.weights[chosen]
    cell = (np.arange(len(chosen))[:, None] * k + classes)[classes >= 0]
    amount = np.ones(len(cell)) if how == "count" else weights[classes >= 0]
    votes = np.zeros(len(chosen) * k)
    if how == "max":
        np.maximum.at(votes, cell, amount)
    else:
        votes += np.bincount(cell, amount, minlength=len(votes))
    return votes.reshape(len(chosen), k)


def _growing(
    ballots: Ballots, orders: Ints, wanted: Sequence[tuple[int, int]], how: How
) -> Iterator[tuple[int, Floats]]:
    """Votes of the first n of each order, for every wanted (index, n): each longer one adds to the last."""
    votes, begin = np.zeros((len(orders), len(ballots.right))), 0
    for index, n in sorted(wanted, key=lambda pair: pair[1]):
        if n > begin:
            more = _tally(ballots, orders[:, begin:n], how)
            votes = np.maximum(votes, more) if how == "max" else votes + more
            begin = n
        yield index, votes


def majority_accuracy(answers: Sequence[Hashable | None], correct: Mapping[Hashable, float]) -> float:
    """Expected accuracy of one majority vote; None does not vote, tied winners share the chance evenly.

    `answers` are classes of equal answers; `correct` says of each class whether (or how far) it is right.
    """
    known = [a for a in answers if a is not None]
    if not known:
        return 0.0
    votes = {a: known.count(a) for a in dict.fromkeys(known)}
    won = [a for a, count in votes.items() if count == max(votes.values())]
    return sum(float(correct.get(a, 0.0)) for a in won) / len(won)
