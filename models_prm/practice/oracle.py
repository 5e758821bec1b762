"""Knows the truth of every practice solution by its text, for simulated labelers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Self

from models_prm.practice.maker import (
    GOLD_QUESTIONS,
    POOL_PROBLEMS,
    POOL_SAMPLES,
    make_gold,
    make_pool,
    make_problems,
)
from models_prm.practice.records import PracticeSolution, Problem
from models_prm.practice.solutions import normal_text


class Oracle:
    """Finds solutions by the text of the problem and the steps, white space aside."""

    def __init__(self, pairs: Iterable[tuple[Problem, PracticeSolution]]) -> None:
        self._known = {_mark(problem.text, solution.steps): solution for problem, solution in pairs}

    @classmethod
    def for_seed(
        cls,
        seed: int,
        problems: int = POOL_PROBLEMS,
        per_problem: int = POOL_SAMPLES,
        gold: int = GOLD_QUESTIONS,
    ) -> Self:
        """The oracle for all that `writer.write_jsonl` writes with the same seed and numbers."""
        made = make_problems(problems, seed)
        by_key = {problem.key: problem for problem in made}
        pool = ((by_key[s.problem_key], s) for s in make_pool(made, per_problem, seed))
        return cls([*pool, *make_gold(gold, seed)])

    def judge(self, problem_text: str, steps: Sequence[str]) -> PracticeSolution | None:
        """The truth of this solution, or None for a text that is not practice content."""
        return self._known.get(_mark(problem_text, steps))

    def __len__(self) -> int:
        return len(self._known)


def _mark(problem_text: str, steps: Sequence[str]) -> bytes:
    return hashlib.sha256(normal_text([problem_text, *steps]).encode()).digest()
