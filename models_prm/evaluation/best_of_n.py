"""Scored pools: reading them, and who of their samples may win.

Two kinds of line are read: one solution (the paper's scored samples: `problem`, `is_correct`, `answer`, and
`prm_score`, `orm_score` or `rating_probs`; also `finish`, `subject`, `level`, `unique_id`, and `first_error`,
an oracle's or a person's verdict on the steps), or one problem with all its samples (Qwen's evaluation pools:
`question`, `score`, `pred`, `pred_score`).
`models_prm.evaluation.pool_report` makes the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models_prm import aggregate
from models_prm.aggregate import Neutral, Probs
from models_prm.data import read_jsonl
from models_prm.errors import DataError
from models_prm.records import CLASSES, problem_key

Floats = NDArray[np.float64]

STRATEGIES: dict[str, tuple[str, Neutral]] = {
    "prm_product": ("product", "good"),
    "prm_minimum": ("minimum", "good"),
    "prm_product_neutral_bad": ("product", "bad"),
    "prm_minimum_neutral_bad": ("minimum", "bad"),
    "prm_geometric_mean": ("geometric_mean", "good"),
    "prm_mean": ("mean", "good"),
    "prm_last": ("last", "good"),
}
"""Scores made of step probabilities: name -> (reduction, neutral). The first four are the paper's Table 4.

They are kept as logarithms (`aggregate.log_score`), so that long products keep their order."""


@dataclass
class PooledProblem:
    """Samples of one problem: equally long lists. A score or answer of None is lost, and keeps its slot.

    `steps` holds the texts only when the pool was loaded with them. `sound`: whether no step is wrong, None
    where nobody judged. `minima` are the sums (solutions, lowest
    step last, the same by chance) of `aggregate.minima_on_last_step`.
    """

    key: str
    text: str = ""
    subject: str = ""
    level: str = ""
    correct: list[bool] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)
    finish: list[str | None] = field(default_factory=list)
    steps: list[tuple[str, ...]] = field(default_factory=list)
    sound: list[bool | None] = field(default_factory=list)
    scores: dict[str, list[float | None]] = field(default_factory=dict)
    minima: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def add(
        self,
        correct: bool,
        answer: Any,
        scores: Mapping[str, float | None],
        *,
        finish: str | None = None,
        steps: Sequence[str] = (),
        sound: bool | None = None,
    ) -> None:
        """One more sample; a score that earlier ones have and this one lacks is None."""
        before = len(self.correct)
        self.correct.append(correct)
        self.answers.append(None if answer is None or answer == "" else str(answer).strip())
        self.finish.append(finish)
        self.steps.append(tuple(steps))
        self.sound.append(sound)
        for name in {*self.scores, *scores}:
            self.scores.setdefault(name, [None] * before).append(scores.get(name))

    def add_step_probs(self, probs: Sequence[Probs]) -> dict[str, float | None]:
        """Scores of a sample by every strategy, and its part of `minima`."""
        steps = {neutral: aggregate.step_scores(probs, neutral) for neutral in ("good", "bad")}
        found = aggregate.minima_on_last_step([steps["good"]])
        if found["solutions"]:
            self.minima = [
                a + b for a, b in zip(self.minima, (1.0, found["share"], found["by_chance"]), strict=True)
            ]
        return {name: aggregate.log_score(steps[n], method) for name, (method, n) in STRATEGIES.items()}


def load_pool(path: Path, *, keep_steps: bool = False) -> list[PooledProblem]:
    """Problems of a scored pool in file order. Raises DataError naming line and field."""
    problems: dict[str, PooledProblem] = {}
    for number, record in read_jsonl(path):
        try:
            _add(problems, record, number, keep_steps)
        except (DataError, TypeError, KeyError, ValueError) as error:
            raise DataError(f"{path}: line {number}: cannot read a scored sample ({error})") from error
    if not problems:
        raise DataError(f"{path}: no scored samples")
    return list(problems.values())


def _add(problems: dict[str, PooledProblem], record: dict[str, Any], number: int, keep_steps: bool) -> None:
    if isinstance(record.get("score"), list):
        _add_group(problems, record, number)
        return
    if not isinstance(record.get("problem"), str):
        raise DataError("problem must be a text")
    if not isinstance(record.get("is_correct"), bool | None):
        raise DataError("is_correct must be true, false or null (cannot tell; counted as wrong)")
    key = str(record.get("unique_id") or problem_key(record["problem"]))
    problem = problems.get(key)
    if problem is None:
        problem = problems[key] = _problem(key, record["problem"], record)
    problem.add(
        record.get("is_correct") is True,
        record.get("answer", record.get("given_answer")),
        _scores(problem, record),
        finish=record.get("finish"),
        steps=record.get("steps") or () if keep_steps else (),
        sound=_sound(record),
    )


def _sound(record: Mapping[str, Any]) -> bool | None:
    """From `first_error`: -1 says that no step is wrong, an index that one is; without it nobody judged."""
    first = record.get("first_error")
    if first is None:
        return None
    if isinstance(first, bool) or not isinstance(first, int) or first < -1:
        raise DataError("first_error is the index of the first wrong step, or -1 where none is wrong")
    return first < 0


def _problem(key: str, text: str, record: Mapping[str, Any]) -> PooledProblem:
    level = str(record.get("level") or "").removeprefix("Level ")
    return PooledProblem(key, text, str(record.get("subject") or record.get("type") or ""), level)


def _add_group(problems: dict[str, PooledProblem], record: dict[str, Any], number: int) -> None:
    key = f"line {number}"
    problem = problems[key] = _problem(key, str(record.get("question") or ""), record)
    scores = [float(s[0] if isinstance(s, list) else s) for s in record["pred_score"]]
    for right, answer, score in zip(record["score"], record["pred"], scores, strict=True):
        problem.add(bool(right), answer, {"score": score})


def _scores(problem: PooledProblem, record: Mapping[str, Any]) -> dict[str, float | None]:
    scores: dict[str, float | None] = {}
    for name in ("prm_score", "orm_score"):
        if name in record:
            scores[name] = None if record[name] is None else float(record[name])
    if isinstance(record.get("rating_probs"), list):
        if record.get("steps_too_long"):
            return scores | dict.fromkeys(STRATEGIES)
        probs = [tuple(float(step[str(c)]) for c in CLASSES) for step in record["rating_probs"]]
        scores |= problem.add_step_probs([(p[0], p[1], p[2]) for p in probs])
    return scores


@dataclass(frozen=True)
class PoolTable:
    """A pool as tables [problems, samples], rows filled up with lost samples.

    `scores[name]`: NaN where there is none, or the sample may not win; `correct`: 1 for right samples that
    may win, else 0; `slots` [problems]: how many samples each problem counts, lost ones included.
    `unfinished` [problems, samples]: cut off, or without an answer in a pool that has answers.
    """

    problems: Sequence[PooledProblem]
    scores: dict[str, Floats]
    correct: Floats
    unfinished: NDArray[np.bool_]
    all_scores: dict[str, Floats]
    slots: list[int]


def tabulate(problems: Sequence[PooledProblem], slots: int | None = None) -> PoolTable:
    """Tables of a pool; unfinished samples keep their slot and may not win (`aggregate.is_finished`).

    Raises DataError when a problem has more samples than `slots`.
    """
    width = max(len(p.correct) for p in problems)
    if slots is not None and width > slots:
        raise DataError(f"slots {slots} is fewer than the samples of a problem: leave it out, or raise it")
    known = any(a is not None for p in problems for a in p.answers)
    unfinished = np.zeros((len(problems), width), np.bool_)
    correct = np.zeros((len(problems), width))
    for row, p in enumerate(problems):
        pairs = zip(p.finish, p.answers, strict=True)
        unfinished[row, : len(p.correct)] = [
            not aggregate.is_finished(f, a, answers_known=known) for f, a in pairs
        ]
        correct[row, : len(p.correct)] = p.correct
    scores = {name: _filled(p.scores.get(name, []) for p in problems) for name in names_of(problems)}
    scores = {name: _wide(table, unfinished.shape) for name, table in scores.items()}
    return PoolTable(
        problems,
        {name: np.where(unfinished, np.nan, table) for name, table in scores.items()},
        np.where(unfinished, 0.0, correct),
        unfinished,
        scores,
        [slots or len(p.correct) for p in problems],
    )


def names_of(problems: Sequence[PooledProblem]) -> list[str]:
    """Names of all scores in a pool, sorted; strategies in their own order after the others."""
    found = {name for p in problems for name in p.scores}
    return sorted(found - STRATEGIES.keys()) + [name for name in STRATEGIES if name in found]


def _filled(rows: Iterable[Sequence[float | None]]) -> Floats:
    lists = [[np.nan if v is None else v for v in row] for row in rows]
    width = max(map(len, lists), default=0)
    return np.array([row + [np.nan] * (width - len(row)) for row in lists], np.float64).reshape(-1, width)


def _wide(table: Floats, shape: tuple[int, ...]) -> Floats:
    return np.pad(table, ((0, 0), (0, shape[1] - table.shape[1])), constant_values=np.nan)
