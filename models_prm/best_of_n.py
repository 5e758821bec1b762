"""Best of N over a scored pool: exact expectations, with intervals over problems.

Two kinds of line are read: one solution (the paper's scored samples: `problem`, `is_correct`, `answer`, and
`prm_score`, `orm_score` or `rating_probs`), or one problem with all its samples (Qwen's evaluation pools:
`question`, `score`, `pred`, `pred_score`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from models_prm import aggregate, metrics
from models_prm.data import read_jsonl
from models_prm.errors import DataError
from models_prm.records import CLASSES, problem_key


@dataclass
class PooledProblem:
    """Samples of one problem: equally long lists. A score or answer of None is lost, and keeps its slot."""

    key: str
    correct: list[bool] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)
    scores: dict[str, list[float | None]] = field(default_factory=dict)


def load_pool(path: Path) -> list[PooledProblem]:
    """Problems of a scored pool in file order. Raises DataError naming line and field."""
    problems: dict[str, PooledProblem] = {}
    for number, record in read_jsonl(path):
        try:
            _add(problems, record, number)
        except (DataError, TypeError, KeyError, ValueError) as error:
            raise DataError(f"{path}: line {number}: cannot read a scored sample ({error})") from error
    if not problems:
        raise DataError(f"{path}: no scored samples")
    return list(problems.values())


def _add(problems: dict[str, PooledProblem], record: dict[str, Any], number: int) -> None:
    if isinstance(record.get("score"), list):
        problem = problems.setdefault(f"line {number}", PooledProblem(f"line {number}"))
        scores = [float(s[0] if isinstance(s, list) else s) for s in record["pred_score"]]
        for right, answer, score in zip(record["score"], record["pred"], scores, strict=True):
            _append(problem, bool(right), answer, {"score": score})
        return
    if not isinstance(record.get("problem"), str):
        raise DataError("problem must be a text")
    if not isinstance(record.get("is_correct"), bool | None):
        raise DataError("is_correct must be true, false or null (cannot tell; counted as wrong)")
    key = str(record.get("unique_id") or problem_key(record["problem"]))
    _append(
        problems.setdefault(key, PooledProblem(key)),
        record.get("is_correct") is True,
        record.get("answer", record.get("given_answer")),
        _scores(record),
    )


def _append(problem: PooledProblem, right: bool, answer: Any, scores: dict[str, float | None]) -> None:
    before = len(problem.correct)
    problem.correct.append(right)
    problem.answers.append(None if answer is None or answer == "" else str(answer).strip())
    for name in {*problem.scores, *scores}:
        problem.scores.setdefault(name, [None] * before).append(scores.get(name))


def _scores(record: dict[str, Any]) -> dict[str, float | None]:
    scores: dict[str, float | None] = {}
    for name in ("prm_score", "orm_score"):
        if name in record:
            scores[name] = None if record[name] is None else float(record[name])
    if isinstance(record.get("rating_probs"), list):
        probs = [tuple(float(step[str(c)]) for c in CLASSES) for step in record["rating_probs"]]
        steps = aggregate.step_scores([(p[0], p[1], p[2]) for p in probs])
        for method in ("product", "minimum", "geometric_mean", "last"):
            scores[f"prm_{method}"] = aggregate.solution_score(steps, method)
    return scores


def default_counts(slots: int) -> list[int]:
    """Powers of two up to the number of slots, and that number."""
    return sorted({2**k for k in range(slots.bit_length()) if 2**k <= slots} | {slots})


def best_of_n_report(
    problems: Sequence[PooledProblem],
    counts: Sequence[int] | None = None,
    *,
    slots: int | None = None,
    resamples: int = 1000,
) -> dict[str, Any]:
    """Expected accuracy for every N and every score, majority vote and oracle.

    `slots` pads every problem to that many samples (lost ones are wrong); by default problems keep their own
    number and N goes up to the smallest. `interval` is a 95% bootstrap interval over problems.
    """
    most = slots or min(len(p.correct) for p in problems)
    if max(len(p.correct) for p in problems) > (slots or max(len(p.correct) for p in problems)):
        raise DataError(f"slots {slots} is fewer than the samples of a problem: leave it out, or raise it")
    ns = list(counts or default_counts(most))
    if not ns or not 1 <= min(ns) <= max(ns) <= most:
        raise DataError(f"N must lie between 1 and {most}, the number of samples of the smallest problem")
    names = sorted({name for p in problems for name in p.scores})
    rng = np.random.default_rng(0)
    draws = rng.integers(len(problems), size=(resamples, len(problems)))
    curves = {
        name: [_point([_one(p, name, n, slots) for p in problems], n, draws) for n in ns] for name in names
    }
    oracle = [_point([metrics.pass_at_n(p.correct, n, slots) for p in problems], n, draws) for n in ns]
    vote = [_point([_vote(p, n, slots) for p in problems], n, draws) for n in ns]
    return {
        "problems": len(problems),
        "samples": sum(len(p.correct) for p in problems),
        "slots": slots,
        "n": ns,
        "best_of_n": curves,
        "majority": vote,
        "pass_at_n": oracle,
        "tied_problems": {name: sum(_tied(p, name) for p in problems) for name in names},
    }


def _one(problem: PooledProblem, name: str, n: int, slots: int | None) -> float:
    scores = problem.scores.get(name, [None] * len(problem.correct))
    return metrics.best_of_n(scores, problem.correct, n, slots)


def _vote(problem: PooledProblem, n: int, slots: int | None) -> float:
    padding = (slots or len(problem.correct)) - len(problem.correct)
    return metrics.majority_at_n(
        [*problem.answers, *[None] * padding], [*problem.correct, *[False] * padding], n
    )


def _tied(problem: PooledProblem, name: str) -> bool:
    known = [s for s in problem.scores.get(name, []) if s is not None]
    return len(set(known)) < len(known)


def _point(values: Sequence[float], n: int, draws: Any) -> dict[str, Any]:
    means = np.asarray(values)[draws].mean(1)
    interval = [float(q) for q in np.quantile(means, [0.025, 0.975])]
    return {"n": n, "accuracy": float(np.mean(values)), "interval": interval}
