"""What the target makers read and write. Plain data; imports nothing heavy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models_prm.data import read_jsonl
from models_prm.errors import DataError
from models_prm.records import problem_key

Counts = Counter[str]
"""How many solutions were labelled, and how many were left out for which reason."""


@dataclass(frozen=True)
class PoolSolution:
    """A solution of a pool. `line`: its number in the file, from 1. `key`: its problem's unique_id, or one
    made of its text.

    `right`: the grade of its final answer, None where it is not known. `finished`: the generator ended it.
    """

    line: int
    key: str
    problem: str
    steps: tuple[str, ...]
    answer: str | None = None
    truth: str | None = None
    right: bool | None = None
    finished: bool = True
    sample_index: int | None = None


@dataclass(frozen=True)
class StepTargets:
    """Labels of one solution: `labels[i]` in [0, 1] for `steps[i]`, 1 right, or None for no label.

    `source` names the maker and its policy; `record` is its evidence (every roll-out, every score).
    """

    solution: PoolSolution
    labels: tuple[float | None, ...]
    source: str
    record: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.solution.steps):
            raise DataError(f"{len(self.solution.steps)} steps but {len(self.labels)} labels")

    def as_row(self) -> dict[str, Any]:
        """TRL's stepwise-supervision row (prompt, completions, labels), with floats, and what it came from.

        Labels are floats and never cast to whole numbers; null means no label.
        """
        s = self.solution
        return {
            "prompt": s.problem,
            "completions": list(s.steps),
            "labels": list(self.labels),
            "source": self.source,
            "unique_id": s.key,
            "sample_index": s.sample_index,
            "line": s.line,
            "record": self.record,
        }


def read_solutions(path: Path) -> Iterator[PoolSolution]:
    """Solutions of a pool file. Raises DataError naming line and field."""
    for number, record in read_jsonl(path):
        problem, steps = record.get("problem"), record.get("steps")
        if not isinstance(problem, str):
            raise DataError(f'{path}: line {number}: "problem" must be a text')
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            raise DataError(f'{path}: line {number}: "steps" must be a list of texts')
        right = record.get("is_correct")
        if not isinstance(right, bool | None):
            raise DataError(f'{path}: line {number}: "is_correct" must be true, false or null')
        answer = record.get("answer", record.get("given_answer"))
        truth = record.get("ground_truth_answer")
        index = record.get("sample_index")
        yield PoolSolution(
            number,
            str(record.get("unique_id") or problem_key(problem)),
            problem,
            tuple(steps),
            None if answer is None else str(answer),
            None if truth is None else str(truth),
            right,
            record.get("finish", "stop") == "stop",
            index if isinstance(index, int) else None,
        )


def up_to_error(labels: list[float | None], first: int | None) -> tuple[float | None, ...]:
    """Labels with everything after the first error (index) taken away: its truth is open to debate."""
    return tuple(label if first is None or i <= first else None for i, label in enumerate(labels))
