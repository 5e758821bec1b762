"""Reasoning quality of what a selection rule picks: a right answer by wrong steps is no good solution.

    report = reasoning_quality(load_pool(path, keep_steps=True), judge)

The judge is an oracle: a function of problem and steps that gives the first wrong step, None for none. It
may be a program (practice content), a table of people's judgements, or a model; "cannot tell" is raised as
KeyError and left out of the count. Picks are made from whole pools; tied picks share the pick evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from models_prm.evaluation import votes
from models_prm.evaluation.best_of_n import PooledProblem, PoolTable, tabulate

Judge = Callable[[str, Sequence[str]], int | None]
"""(problem, steps) -> index from 0 of the first wrong step, None when all are right; KeyError: no opinion."""


def best_picks(table: PoolTable, name: str) -> list[dict[int, float]]:
    """For each problem the samples of best score with their shares (sum 1); empty where all are lost."""
    picks = []
    for row in table.scores[name]:
        known = ~np.isnan(row)
        best = np.flatnonzero(known & (row == row[known].max())) if known.any() else np.array([], np.int64)
        picks.append({int(i): 1 / len(best) for i in best})
    return picks


def vote_picks(
    table: PoolTable, by: str | None = None, equal: votes.Equal | None = None
) -> list[dict[int, float]]:
    """The representatives of the class that the majority elects: its best by score `by`, or all evenly."""
    picks = []
    for row, problem in enumerate(table.problems):
        gone = table.unfinished[row]
        answers = [None if gone[i] else a for i, a in enumerate(problem.answers)]
        classes = votes.classes_of(answers, equal)
        sizes = {c: classes.count(c) for c in classes if c is not None}
        won = [c for c, size in sizes.items() if size == max(sizes.values())]
        share: dict[int, float] = {}
        for c in won:
            members = [i for i, k in enumerate(classes) if k == c]
            if by is not None:
                scores = np.nan_to_num(table.scores[by][row, members], nan=-np.inf)
                members = [i for i, s in zip(members, scores, strict=True) if s == scores.max()]
            share |= {i: 1 / len(won) / len(members) for i in members}
        picks.append(share)
    return picks


def reasoning_quality(
    problems: Sequence[PooledProblem],
    judge: Judge,
    *,
    names: Sequence[str] | None = None,
    equal: votes.Equal | None = None,
) -> dict[str, Any]:
    """What every rule picks, judged by an oracle; the pool must hold its steps. Each text is judged once.

    The measures are those of `quality_of_picks`.
    """
    opinions: dict[tuple[str, tuple[str, ...]], bool | None] = {}

    def sound(problem: PooledProblem, sample: int) -> bool | None:
        key = (problem.text, problem.steps[sample])
        if key not in opinions:
            try:
                opinions[key] = judge(*key) is None
            except KeyError:
                opinions[key] = None
        return opinions[key]

    return quality_of_picks(tabulate(problems), sound, names=names, equal=equal)


def quality_of_picks(
    table: PoolTable,
    sound: Callable[[PooledProblem, int], bool | None],
    *,
    names: Sequence[str] | None = None,
    equal: votes.Equal | None = None,
) -> dict[str, Any]:
    """For each rule (every score, and the majority): right answers, and fully right solutions among them.

    `answer_right`: expected share of problems whose pick has a right answer. `fully_right`: the share of
    problems (of those judged) whose pick has a right answer and no wrong step. `of_right_answers`: of the
    picks with a right answer that were judged, the share without a wrong step.
    """
    rules = {name: best_picks(table, name) for name in names or table.scores}
    rules["majority"] = vote_picks(table, equal=equal)
    return {name: _quality(table.problems, picks, sound) for name, picks in rules.items()}


def _quality(
    problems: Sequence[PooledProblem],
    picks: Sequence[Mapping[int, float]],
    sound: Callable[[PooledProblem, int], bool | None],
) -> dict[str, Any]:
    right = right_judged = judged = fully = 0.0
    for problem, pick in zip(problems, picks, strict=True):
        for sample, share in pick.items():
            fine = sound(problem, sample)
            correct = problem.correct[sample]
            right += share * correct
            if fine is not None:
                judged += share
                right_judged += share * correct
                fully += share * (correct and fine)
    return {
        "problems": len(problems),
        "judged": judged,
        "answer_right": right / len(problems) if problems else None,
        "fully_right": fully / judged if judged else None,
        "of_right_answers": fully / right_judged if right_judged else None,
    }
