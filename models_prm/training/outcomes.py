"""What an outcome reward model learns from: solutions with a verdict on their final answer. Imports nothing
heavy.

Lines are those of a pool: `problem`, `steps`, and `is_correct` true, false or null (cannot tell: no loss).
Right and wrong samples of a problem get the same total weight; none is thrown away.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from models_prm.errors import DataError
from models_prm.records import LabeledSolution, problem_key


def row_of(record: Mapping[str, Any]) -> LabeledSolution | None:
    """The row of one pool line, labelled at its last step; None without a verdict or without a step.

    Raises DataError naming the field.
    """
    problem, steps, verdict = record.get("problem"), record.get("steps"), record.get("is_correct")
    if not isinstance(problem, str):
        raise DataError("problem must be a text")
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise DataError("steps must be a list of texts")
    if not isinstance(verdict, bool | None):
        raise DataError("is_correct must be true, false or null (cannot tell: carries no loss)")
    if verdict is None or not steps:
        return None
    ratings = (*(None,) * (len(steps) - 1), 1 if verdict else -1)
    answer = record.get("ground_truth_answer")
    return LabeledSolution(
        problem, tuple(steps), ratings, problem_key(problem), answer if isinstance(answer, str) else None
    )


def on_every_step(row: LabeledSolution) -> LabeledSolution:
    """The same verdict on every step: with it every token is labelled (Cobbe et al. 2021; the paper's
    ORM)."""
    return replace(row, ratings=(row.ratings[-1],) * len(row.steps))


def balanced(rows: Sequence[LabeledSolution]) -> list[LabeledSolution]:
    """Weights by which right and wrong samples of a problem count alike and the problem as much as before.

    A problem with samples of one kind only keeps their weights: it has nothing to balance.
    """
    counts: dict[str, Counter[int | None]] = defaultdict(Counter)
    for row in rows:
        counts[row.group][row.ratings[-1]] += 1
    result = []
    for row in rows:
        kinds = counts[row.group]
        share = kinds.total() / (len(kinds) * kinds[row.ratings[-1]])
        result.append(replace(row, weight=row.weight * share))
    return result


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")


def shape(steps: Sequence[str]) -> tuple[str, ...]:
    """What a solution looks like without what it says: per step its layout with numbers and words blotted
    out, and its length in powers of two."""
    plain = (_WORD.sub("w", _NUMBER.sub("0", step)) for step in steps)
    return tuple(
        f"{len(step).bit_length()}:{''.join(sorted(set(text) - {' '}))}"
        for step, text in zip(steps, plain, strict=True)
    )


def pair_report(
    rows: Iterable[LabeledSolution], scores: Iterable[float | None]
) -> dict[str, float | int | None]:
    """How often the right one of two samples of a problem scores higher (ties are half), over all pairs, and
    over pairs of equal shape.

    A model that learned the shape of wrong samples is good at the first and not at the second (format
    leakage: natolambert/rlhf-book issue 513).
    """
    by_problem: dict[str, list[tuple[bool, tuple[str, ...], float]]] = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        if score is not None:
            by_problem[row.group].append((row.ratings[-1] == 1, shape(row.steps), score))
    pairs, wins, matched, matched_wins = 0, 0.0, 0, 0.0
    for samples in by_problem.values():
        for right, right_shape, high in samples:
            for other, other_shape, low in samples:
                if right and not other:
                    win = (high > low) + 0.5 * (high == low)
                    pairs, wins = pairs + 1, wins + win
                    if right_shape == other_shape:
                        matched, matched_wins = matched + 1, matched_wins + win
    return {
        "pairs": pairs,
        "pair_accuracy": wins / pairs if pairs else None,
        "format_matched_pairs": matched,
        "format_matched_accuracy": matched_wins / matched if matched else None,
    }
