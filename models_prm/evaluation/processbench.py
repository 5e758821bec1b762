"""ProcessBench's protocol: first errors on four subsets, one threshold, the mean of four harmonic means.

A prediction is the first step scored below the threshold, else "no error". A subset's F1 is the harmonic mean
of its accuracy on erroneous solutions (exact step) and on correct ones; it is not a classifier's F1
(QwenLM/ProcessBench issue 6). The overall number is the plain mean over subsets, not weighted by size.
Probability models use 0.5; a threshold may instead be chosen on one subset and kept for all (issue 3).
Index base: 0, with -1 (in files) or None (here) for no error. numpy only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models_prm.data import read_jsonl
from models_prm.errors import DataError
from models_prm.evaluation import metrics

FirstError = int | None
Scored = tuple[FirstError, Sequence[float]]
"""A solution as this protocol sees it: its true first error, and its steps' scores in [0, 1]."""
_MOST_THRESHOLDS = 1000


def protocol(
    subsets: Mapping[str, Sequence[Scored]], *, threshold: float = 0.5, fit_on: str | None = None
) -> dict[str, Any]:
    """Measures of every subset and their mean F1; with `fit_on` the threshold is chosen on that subset.

    The subset that was fitted on counts in the mean, as in the papers that do so; `mean_f1_elsewhere` leaves
    it out. A subset without erroneous or without correct solutions has no F1, and the mean is None then.
    Raises DataError for an unknown `fit_on`.
    """
    if fit_on is not None:
        if fit_on not in subsets:
            raise DataError(
                f"no subset {fit_on!r} to fit the threshold on: choose one of {', '.join(subsets)}"
            )
        threshold = best_threshold(subsets[fit_on])
    rows = {name: subset_report(solutions, threshold) for name, solutions in subsets.items()}
    elsewhere = [row["f1"] for name, row in rows.items() if name != fit_on]
    return {
        "threshold": threshold,
        "fitted_on": fit_on,
        "subsets": rows,
        "mean_f1": _mean([row["f1"] for row in rows.values()]),
        "mean_f1_elsewhere": _mean(elsewhere) if fit_on is not None else None,
    }


def subset_report(solutions: Sequence[Scored], threshold: float) -> dict[str, Any]:
    """One subset: counts, the two accuracies, F1, and exact first-error precision and recall beside them."""
    truth = [label for label, _ in solutions]
    found = predictions(solutions, threshold)
    return {
        "solutions": len(solutions),
        "erroneous": sum(label is not None for label in truth),
        **metrics.processbench_f1(truth, found),
        "precision": metrics.first_error_report(truth, found)["precision"],
    }


def predictions(solutions: Sequence[Scored], threshold: float) -> list[FirstError]:
    """First step below the threshold of every solution, None where there is none."""
    return [next((i for i, s in enumerate(scores) if s < threshold), None) for _, scores in solutions]


def best_threshold(solutions: Sequence[Scored]) -> float:
    """The threshold of highest F1 on these solutions; of equally good ones the middle of the longest run.

    Candidates lie between neighbouring step scores (at most 1,000, by quantiles), and 0.5. Where no F1 is
    defined (only erroneous or only correct solutions) it is 0.5.
    """
    table, labels = _padded(solutions)
    known = np.unique(table[np.isfinite(table)])
    if not len(known) or np.all(labels < 0) or np.all(labels >= 0):
        return 0.5
    cuts = np.unique(np.append((known[1:] + known[:-1]) / 2, 0.5))
    if len(cuts) > _MOST_THRESHOLDS:
        cuts = np.unique(np.quantile(cuts, np.linspace(0, 1, _MOST_THRESHOLDS), method="nearest"))
    values = np.array([_f1(table, labels, cut) for cut in cuts])
    good = np.flatnonzero(values >= values.max() - 1e-12)
    runs = np.split(good, np.flatnonzero(np.diff(good) > 1) + 1)
    longest = max(runs, key=len)
    return float(cuts[longest[len(longest) // 2]])


def _padded(solutions: Sequence[Scored]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scores [solutions, steps] filled up with infinity (never below a threshold), labels with -1."""
    table = np.full((len(solutions), max((len(s) for _, s in solutions), default=0)), np.inf)
    for row, (_, scores) in enumerate(solutions):
        table[row, : len(scores)] = scores
    return table, np.array([-1 if label is None else label for label, _ in solutions], np.int64)


def _f1(table: NDArray[np.float64], labels: NDArray[np.int64], threshold: float) -> float:
    below = table < threshold
    hit = np.where(below.any(1), below.argmax(1), -1) == labels
    error, correct = float(hit[labels >= 0].mean()), float(hit[labels < 0].mean())
    return 2 * error * correct / (error + correct) if error + correct > 0 else 0.0


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def processbench_records(path: Path) -> list[dict[str, Any]]:
    """Records of a file (a JSON list, or JSON lines) with problem, steps and label (-1: no error).

    Problems repeat in olympiadbench, so a record is known by its `id` or place, never by its problem. Raises
    DataError naming what is missing.
    """
    import json

    if path.read_bytes()[:64].lstrip().startswith(b"["):
        try:
            records = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{path}: not valid JSON ({error})") from error
    else:
        records = [record for _, record in read_jsonl(path)]
    for number, record in enumerate(records, 1):
        whole = isinstance(record, dict) and isinstance(record.get("label"), int) and record.get("steps")
        if not whole or not -1 <= record["label"] < len(record["steps"]):
            raise DataError(
                f"{path}: record {number}: needs problem, steps, and a label: index of a step, or -1 for none"
            )
    return list(records)


def label_of(record: Mapping[str, Any]) -> FirstError:
    """A record's first error from 0, None where the file says -1."""
    return None if record["label"] < 0 else int(record["label"])
