"""The best-of-N report of a scored pool: curves, votes, oracle, who is better, and for which problems.

    data = best_of_n_report(load_pool(Path("scored.jsonl")))
    Report("best-of-n", data).write(Path("report"))

Plain numbers only (JSON); `report` words and draws them. Accuracies are shares in [0, 1] and exact
expectations over random draws of N samples; intervals are 95% bootstrap intervals over problems, all on the
same draws; `spread` is the standard deviation that one random trial of the whole pool would have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models_prm.errors import DataError
from models_prm.evaluation import exact, votes
from models_prm.evaluation.best_of_n import STRATEGIES, PooledProblem, PoolTable, tabulate
from models_prm.evaluation.selected import quality_of_picks
from models_prm.records import OnProgress, Progress

Floats = NDArray[np.float64]
QUINTILES = 5
_LEADS = ("prm_score", "prm_product", "score", "orm_score")
_DRAWN_SAMPLES = 2e7  # of all random subsets of votes together: about a second


def default_counts(slots: int) -> list[int]:
    """Powers of two up to the number of slots, and that number."""
    return sorted({2**k for k in range(slots.bit_length()) if 2**k <= slots} | {slots})


@dataclass(frozen=True)
class Curve:
    """Expected accuracies [problems, counts]; `variance` [problems, counts] where they are estimates."""

    values: Floats
    variance: Floats | None = None


def best_of_n_report(
    problems: Sequence[PooledProblem],
    counts: Sequence[int] | None = None,
    *,
    slots: int | None = None,
    resamples: int = 1000,
    draws: int | None = None,
    equal: votes.Equal | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Everything about a scored pool that needs no further model.

    `slots` pads every problem to that many samples (lost ones are wrong); by default problems keep their own
    number and N goes up to the smallest. `equal` is the grader's equality of two answers (default: the same
    notation or the same number). `draws`: random subsets for votes that cannot be listed. Raises DataError
    when N or slots do not fit the pool.
    """
    table = tabulate(problems, slots)
    most = min(table.slots)
    ns = list(counts or default_counts(most))
    if not ns or not 1 <= min(ns) <= max(ns) <= most:
        raise DataError(f"N must lie between 1 and {most}, the number of samples of the smallest problem")
    best = {
        name: Curve(exact.best_of_n_curve(scores, table.correct, ns, table.slots))
        for name, scores in table.scores.items()
    }
    oracle = Curve(exact.pass_at_n_curve(table.correct, ns, table.slots))
    majority, weighted, weights = _vote_curves(table, ns, draws, equal, on_progress)
    boot = exact.Bootstrap(len(problems), resamples)
    shown = {**best, "majority": majority, **{f"vote_{k}": c for k, c in weighted.items()}, "oracle": oracle}
    return {
        "problems": len(problems),
        "samples": sum(len(p.correct) for p in problems),
        "slots": slots,
        "n": ns,
        "lead": lead_of(list(best)),
        "best_of_n": {name: points(curve, ns, boot) for name, curve in best.items()},
        "majority": points(majority, ns, boot),
        "weighted_vote": {name: points(curve, ns, boot) for name, curve in weighted.items()},
        "vote_weights": weights,
        "pass_at_n": points(oracle, ns, boot),
        "differences": _differences(shown, lead_of(list(best)), ns, boot),
        "grid": strategy_grid(best, ns, boot),
        "quintiles": quintiles(table, shown),
        "subjects": by_kind(table, shown, lambda p: p.subject),
        "levels": by_kind(table, shown, lambda p: p.level),
        "unfinished": _unfinished(table),
        "reasoning": _reasoning(table, equal),
        "minima_on_last_step": _minima(problems),
        "tied_problems": {name: _tied(table.scores[name]) for name in table.scores},
    }


def lead_of(names: Sequence[str]) -> str | None:
    """The score that a report compares with the others: the PRM's, else the first."""
    return next((name for name in _LEADS if name in names), next(iter(names), None))


def points(curve: Curve, counts: Sequence[int], boot: exact.Bootstrap) -> list[dict[str, Any]]:
    """A curve in plain numbers: n, accuracy, 95% interval over problems, spread of one trial.

    `draw_error` is there where a value is an estimate: its standard error from the random subsets.
    """
    means, spread = curve.values.mean(0), exact.spread(curve.values)
    rows: list[dict[str, Any]] = [
        {"n": n, "accuracy": float(a), "interval": i, "spread": float(s)}
        for n, a, i, s in zip(counts, means, boot.interval(curve.values), spread, strict=True)
    ]
    if curve.variance is not None:
        for row, error in zip(rows, np.sqrt(curve.variance.sum(0)) / len(curve.values), strict=True):
            if error > 0:
                row["draw_error"] = float(error)
    return rows


def _vote_curves(
    table: PoolTable,
    ns: Sequence[int],
    draws: int | None,
    equal: votes.Equal | None,
    on_progress: OnProgress | None,
) -> tuple[Curve, dict[str, Curve], dict[str, str]]:
    """Majority, weighted votes by score, and how each score was made a weight. Unfinished ones abstain."""
    voting = _voting(table)
    ready = {name: votes.as_weights(table.scores[name]) for name in voting}
    size = len(table.problems) * table.correct.shape[1]
    tries = draws or int(min(1000, max(50, _DRAWN_SAMPLES // max(1, size))))
    rows: dict[str, list[tuple[Floats, Floats]]] = defaultdict(list)
    for row, problem in enumerate(table.problems):
        m = len(problem.correct)
        gone = table.unfinished[row, :m]
        answers = [None if lost else a for a, lost in zip(problem.answers, gone, strict=True)]
        classes = votes.classes_of(answers, equal)
        right = (table.correct[row, :m] > 0).tolist()
        for name in (None, *voting):
            weights = None if name is None else ready[name][0][row, :m]
            ballots = votes.Ballots.of(classes, right, weights, table.slots[row])
            how: votes.How = "count" if name is None else "sum"
            rows[name or ""].append(votes.vote_curve(ballots, ns, how=how, draws=tries, seed=row))
        if on_progress is not None:
            on_progress(Progress("votes", row + 1, len(table.problems)))
    curves = {
        name: Curve(np.array([v for v, _ in pairs]), np.array([e for _, e in pairs]))
        for name, pairs in rows.items()
    }
    return curves.pop(""), curves, {name: how for name, (_, how) in ready.items()}


def _voting(table: PoolTable) -> list[str]:
    """Scores that also weigh votes: those of the file, and of the strategies the first two."""
    first = list(STRATEGIES)[:2]
    return [name for name in table.scores if name in first or name not in STRATEGIES]


def _differences(
    shown: Mapping[str, Curve], lead: str | None, ns: Sequence[int], boot: exact.Bootstrap
) -> list[dict[str, Any]]:
    """The lead against every other curve but the oracle, on the same bootstrap draws."""
    if lead is None:
        return []
    result = []
    for name, curve in shown.items():
        if name not in (lead, "oracle"):
            rows = boot.difference(shown[lead].values, curve.values)
            result.append(
                {
                    "first": lead,
                    "second": name,
                    "points": [{"n": n, **r} for n, r in zip(ns, rows, strict=True)],
                }
            )
    return result


def strategy_grid(
    best: Mapping[str, Curve], ns: Sequence[int], boot: exact.Bootstrap
) -> dict[str, Any] | None:
    """The paper's Table 4: best of the largest N by product or minimum, neutral as good or bad."""
    names = list(STRATEGIES)[:4]
    if not set(names) <= best.keys():
        return None
    cells = []
    for name in names:
        reduction, neutral = STRATEGIES[name]
        cells.append({"reduction": reduction, "neutral": neutral, **points(best[name], ns, boot)[-1]})
    return {"n": ns[-1], "cells": cells}


def quintiles(table: PoolTable, shown: Mapping[str, Curve]) -> list[dict[str, Any]]:
    """Five groups of problems of equal size by pass rate in the pool, hardest first; accuracies by N.

    Empty where there are fewer than five problems. Problems of equal pass rate are divided in file order.
    """
    rate = table.correct.sum(1) / np.asarray(table.slots)
    if len(rate) < QUINTILES:
        return []
    order = np.argsort(rate, kind="stable")
    return [
        {
            "quintile": number,
            "problems": len(part),
            "pass_rate": [float(rate[part].min()), float(rate[part].max())],
            "accuracy": {name: curve.values[part].mean(0).tolist() for name, curve in shown.items()},
        }
        for number, part in enumerate(np.array_split(order, QUINTILES), 1)
    ]


def by_kind(
    table: PoolTable, shown: Mapping[str, Curve], kind: Callable[[PooledProblem], str]
) -> list[dict[str, Any]]:
    """Accuracies at the largest N for each subject or level; problems without one are left out."""
    groups: dict[str, list[int]] = defaultdict(list)
    for row, problem in enumerate(table.problems):
        if kind(problem):
            groups[kind(problem)].append(row)
    return [
        {
            "name": name,
            "problems": len(rows),
            "accuracy": {key: float(curve.values[rows, -1].mean()) for key, curve in shown.items()},
        }
        for name, rows in sorted(groups.items())
    ]


def _reasoning(table: PoolTable, equal: votes.Equal | None) -> dict[str, Any] | None:
    """Fully right ones among what each rule picks, where the pool says which solutions are sound."""
    if not any(s is not None for p in table.problems for s in p.sound):
        return None
    return quality_of_picks(table, lambda problem, sample: problem.sound[sample], equal=equal)


def _unfinished(table: PoolTable) -> dict[str, Any]:
    """Samples that may not win, and in how many problems one of them has the best score of all."""
    would: dict[str, float] = {}
    for name, scores in table.all_scores.items():
        top = np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=1, keepdims=True, initial=-np.inf)
        tied = scores == top
        would[name] = float(((tied & table.unfinished).sum(1) / np.maximum(1, tied.sum(1))).sum())
    return {"samples": int(table.unfinished.sum()), "would_have_won": would}


def _minima(problems: Sequence[PooledProblem]) -> dict[str, Any] | None:
    n, share, chance = (sum(p.minima[i] for p in problems) for i in range(3))
    return {"solutions": int(n), "share": share / n, "by_chance": chance / n} if n else None


def _tied(scores: Floats) -> int:
    ranked = np.sort(scores, axis=1)
    return int((ranked[:, 1:] == ranked[:, :-1]).any(1).sum())
