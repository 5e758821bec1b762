"""Targets from final answers: outcome supervision, the cheapest and noisiest (arXiv 2305.20050).

The label says whether the answer is right, not whether the step is: a wrong step of a solution that ends
right is called right ("false positive").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from models_prm.answers import GraderPool, Verdict
from models_prm.targets.records import Counts, PoolSolution, StepTargets

Spread = Literal["all", "last"]


def from_final_answers(
    solutions: Iterable[PoolSolution], grader: GraderPool, counts: Counts, spread: Spread = "all"
) -> Iterator[StepTargets]:
    """One row per solution whose grade is known: 1 right, 0 wrong, on every step or on the last one only.

    The pool's own `is_correct` is used where it is set, else the answer is graded. Left out and counted:
    unfinished solutions, those without steps, and those whose grade cannot be told.
    """
    for solution in solutions:
        if not solution.finished or not solution.steps:
            counts["unfinished" if not solution.finished else "no steps"] += 1
            continue
        right, by = solution.right, "is_correct"
        if right is None and solution.truth is not None:
            right, by = graded(grader, solution.answer, solution.truth), "grader"
        if right is None:
            counts["grade unknown"] += 1
            continue
        counts["labelled"] += 1
        last = len(solution.steps) - 1
        labels = tuple(float(right) if spread == "all" or i == last else None for i in range(last + 1))
        yield StepTargets(solution, labels, f"final_answer/{spread}", {"right": right, "by": by})


def graded(grader: GraderPool, answer: str | None, truth: str | None) -> bool | None:
    """True, False, or None for "cannot tell"; no answer is a wrong answer."""
    return grade_all(grader, [(answer, truth)])[0]


def grade_all(grader: GraderPool, pairs: Sequence[tuple[str | None, str | None]]) -> list[bool | None]:
    """`graded` for many (answer, truth) pairs; equal pairs are graded once."""
    given = [pair for pair in pairs if pair[0] is not None]
    verdicts = iter(grader.grade_many(given))
    return [False if answer is None else _right(next(verdicts).verdict) for answer, _ in pairs]


def _right(verdict: Verdict) -> bool | None:
    return None if verdict is Verdict.UNKNOWN else verdict is Verdict.RIGHT
