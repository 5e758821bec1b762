"""Targets from final answers: outcome supervision, the cheapest and noisiest (arXiv 2305.20050).

The label says whether the answer is right, not whether the step is: a wrong step of a solution that ends
right is called right ("false positive").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    if answer is None:
        return False
    verdict = grader.grade(answer, truth).verdict
    return None if verdict is Verdict.UNKNOWN else verdict is Verdict.RIGHT
