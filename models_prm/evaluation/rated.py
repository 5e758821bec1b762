"""Scored steps beside people's ratings, from a file: no model is loaded.

    data = rated_report(load_rated(Path("scored.jsonl")), validation=load_rated(Path("validation.jsonl")))

A line is a solution: `rating_probs` (list of {"-1", "0", "1"}, as `python -m models_prm score` writes them)
or `step_scores` (probability in [0, 1] that a step is not bad), and what people say: `ratings` (list of -1,
0, 1 or null, one per step or up to the first error) or `label` (index from 0 of the first error, -1: none).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models_prm import aggregate
from models_prm.aggregate import Probs
from models_prm.data import file_sha256, read_jsonl
from models_prm.errors import DataError, LeakError
from models_prm.evaluation import agreement, calibration, metrics, processbench
from models_prm.evaluation.evaluate import said, step_report
from models_prm.records import CLASSES, problem_key

FirstError = int | None


@dataclass(frozen=True)
class RatedSolution:
    """One solution: probabilities of every step, ratings of the first ones (None: not rated), first error.

    `judged` is False where the ratings do not say whether there is an error: a step was left unrated before
    any -1. `group` is the problem's key, "" where the line has no problem.
    """

    probs: tuple[Probs, ...]
    ratings: tuple[int | None, ...]
    first_error: FirstError
    judged: bool
    group: str = ""


def load_rated(path: Path) -> list[RatedSolution]:
    """Solutions of a JSONL file. Raises DataError naming line and field."""
    rows = []
    for number, record in read_jsonl(path):
        try:
            rows.append(rated_solution(record))
        except (DataError, TypeError, KeyError, ValueError) as error:
            raise DataError(f"{path}: line {number}: cannot read rated steps ({error})") from error
    if not rows:
        raise DataError(f"{path}: no rated steps")
    return rows


def rated_solution(record: Mapping[str, Any]) -> RatedSolution:
    """One line. Raises DataError, KeyError or ValueError where a field is missing or wrong."""
    probs = step_probs(record)
    problem = record.get("problem")
    group = problem_key(problem) if isinstance(problem, str) else ""
    if isinstance(record.get("ratings"), list):
        ratings = tuple(record["ratings"])
        if len(ratings) > len(probs):
            raise DataError(f"{len(ratings)} ratings but {len(probs)} scored steps")
        if any(r not in (-1, 0, 1, None) for r in ratings):
            raise DataError("a rating is -1, 0, 1 or null")
        error = ratings.index(-1) if -1 in ratings else None
        before = ratings[: len(probs) if error is None else error]
        judged = None not in before and (error is not None or len(ratings) == len(probs))
        return RatedSolution(probs, ratings, error, judged, group)
    if not isinstance(record.get("label"), int):
        raise DataError("give ratings (a list), or label (index of the first error, -1 for none)")
    label = None if record["label"] < 0 else int(record["label"])
    if label is not None and label >= len(probs):
        raise DataError(f"label {label} points past the last of {len(probs)} scored steps")
    # ProcessBench's labelers marked the first error only: the steps before it are fine, those after unknown.
    ratings = (1,) * len(probs) if label is None else (*(1,) * label, -1)
    return RatedSolution(probs, ratings, label, True, group)


def step_probs(record: Mapping[str, Any]) -> tuple[Probs, ...]:
    """Probabilities of (-1, 0, +1) of every scored step; a plain score s is (1 - s, 0, s)."""
    if isinstance(record.get("rating_probs"), list):
        rows = [tuple(float(step[str(c)]) for c in CLASSES) for step in record["rating_probs"]]
        return tuple((p[0], p[1], p[2]) for p in rows)
    if not isinstance(record.get("step_scores"), list):
        raise DataError("rating_probs or step_scores is missing: score the file first")
    scores = [float(s) for s in record["step_scores"]]
    if any(not 0 <= s <= 1 for s in scores):
        raise DataError("step_scores are probabilities in [0, 1] that a step is not bad")
    return tuple((1 - s, 0.0, s) for s in scores)


def arrays(rows: Iterable[RatedSolution]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Probabilities [n, 3] and class indices [n] (0 bad, 1 okay, 2 good) of all rated steps."""
    pairs = [
        (p, r + 1) for row in rows for p, r in zip(row.probs, row.ratings, strict=False) if r is not None
    ]
    probs = np.array([p for p, _ in pairs], np.float64).reshape(-1, 3)
    return probs, np.array([k for _, k in pairs], np.int64)


def scored_bench(
    paths: Sequence[Path], *, threshold: float = 0.5, fit_on: str | None = None
) -> dict[str, Any]:
    """ProcessBench's protocol over files whose lines hold scores besides their labels; no model is loaded."""
    subsets: dict[str, list[processbench.Scored]] = {}
    for path in paths:
        rows: list[processbench.Scored] = []
        for number, record in enumerate(processbench.processbench_records(path), 1):
            try:
                scores = aggregate.step_scores(step_probs(record))
            except (DataError, TypeError, KeyError, ValueError) as error:
                raise DataError(f"{path}: record {number}: {error}") from error
            rows.append((processbench.label_of(record), scores))
        subsets[path.stem] = rows
    report = processbench.protocol(subsets, threshold=threshold, fit_on=fit_on)
    for path in paths:
        report["subsets"][path.stem]["sha256"] = file_sha256(path)
    return report


def rated_report(
    rows: Sequence[RatedSolution],
    *,
    validation: Sequence[RatedSolution] = (),
    threshold: float = 0.5,
    bins: int = 15,
) -> dict[str, Any]:
    """Steps, calibration, agreement with people and first errors of scored solutions.

    A temperature is fitted on `validation` only; it never sees `rows`. Raises LeakError when both hold
    solutions of one problem.
    """
    shared = {r.group for r in rows} & {r.group for r in validation} - {""}
    if shared:
        raise LeakError(
            f"validation and test share {len(shared)} problems: fit the temperature on other problems"
        )
    probs, classes = arrays(rows)
    temperature = calibration.fit_temperature(*arrays(validation)) if validation else None
    judged = [row for row in rows if row.judged]
    truth = [row.first_error for row in judged]
    scores = [aggregate.step_scores(row.probs) for row in judged]
    found = [aggregate.first_error(s, threshold) for s in scores]
    return {
        "solutions": len(rows),
        "threshold": threshold,
        "steps": step_report(probs, classes),
        "calibration": calibration.calibration_report(probs, classes, temperature=temperature, bins=bins),
        "validation_solutions": len(validation),
        "agreement": agreement.step_agreement((classes - 1).tolist(), said(probs, threshold)),
        "first_error": {
            **metrics.first_error_report(truth, found),
            **agreement.first_error_agreement(truth, found),
            "processbench": metrics.processbench_f1(truth, found),
        },
        "minima_on_last_step": aggregate.minima_on_last_step(
            aggregate.step_scores(row.probs) for row in rows
        ),
    }
