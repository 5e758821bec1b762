"""Which verdicts a person should look at, and second opinions for those that might be.

Graders are asked until a verdict stands, so after a proof nobody else is heard. Here the others are asked as
well, for the commonest answers only: what they cost is bounded, however large the pool.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from models_prm.answers.cascade import SLOW_GRADERS
from models_prm.answers.normalise import plain_number
from models_prm.answers.pool import GraderPool, Pair, Progress
from models_prm.answers.verdict import Grade, Verdict

SECOND_OPINIONS = 500
"""Different pairs for which everyone is asked, of one call."""
# Nothing to compare with, or no answer that a person could read: no person could tell either.
_HOPELESS = frozenset({"no truth", "too long"})
# 5,120 may be one number or two: no plain list.
_GROUPED = re.compile(r"\d,\d{3}(?!\d)")


def in_doubt(grade: Grade) -> bool:
    """Whether graders contradict each other, or none could tell although there is an answer and a truth."""
    return grade.disputed or (grade.verdict is Verdict.UNKNOWN and grade.by not in _HOPELESS)


def may_be_disputed(pair: Pair, grade: Grade) -> bool:
    """Whether a grader that has not been asked could contradict this grade: after a proof by `exact`.

    Equal strings, equal notation and plain numbers are settled without a grader that could err, and two
    lists of plain numbers that differ leave nothing to dispute.
    """
    if grade.by != "exact" or all(name in grade.votes for name in SLOW_GRADERS):
        return False
    return grade.verdict is Verdict.RIGHT or not all(_is_plain_list(text or "") for text in pair)


def _is_plain_list(text: str) -> bool:
    return not _GROUPED.search(text) and all(plain_number(part) is not None for part in text.split(","))


def grade_with_doubts(
    pairs: Sequence[Pair],
    *,
    second_opinions: int = SECOND_OPINIONS,
    on_progress: Progress | None = None,
) -> list[Grade]:
    """Grades in the order of `pairs`, with every vote for the first `second_opinions` that might be disputed.

    A verdict is the same with and without second opinions. Give the pairs that matter most first. The call
    `on_progress(done, total)` may raise to stop. Raises GraderStartError.
    """

    def still_here(_done: int, _total: int) -> None:
        if on_progress is not None:
            on_progress(len(pairs) - 1, len(pairs))

    with GraderPool() as pool:
        grades = dict(zip(pairs, pool.grade_many(pairs, on_progress), strict=True))
        unheard = [pair for pair, grade in grades.items() if may_be_disputed(pair, grade)][:second_opinions]
        # The same worker goes on: it has loaded its libraries.
        pool.every_vote = True
        for pair, heard in zip(unheard, pool.grade_many(unheard, still_here), strict=True):
            first = grades[pair]
            grades[pair] = Grade(first.verdict, first.by, {**heard.votes, **first.votes})
    return [grades[pair] for pair in pairs]
