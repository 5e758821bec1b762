"""Writes practice content as files for the ordinary import commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from models_prm.practice.maker import (
    GOLD_QUESTIONS,
    POOL_PROBLEMS,
    POOL_SAMPLES,
    make_gold,
    make_pool,
    make_problems,
)
from models_prm.practice.records import ANSWER_HEADER, Problem

GENERATOR: Final = "practice"
"""The name of the generator in the pool's rows."""


def write_jsonl(
    folder: Path,
    seed: int,
    problems: int = POOL_PROBLEMS,
    per_problem: int = POOL_SAMPLES,
    gold: int = GOLD_QUESTIONS,
) -> dict[str, int]:
    """Write `problems.jsonl`, `pool.jsonl` and `gold.jsonl`; gives the number of lines of each.

    Every line is one JSON object: a problem {problem, answer, solution, subject, level, unique_id},
    a pool solution {problem, answer, steps, sample_index, generator} where `answer` is the true
    one, a gold question {problem, answer, steps, accepted, first_error, explanation} where
    `accepted` reaches up to the first error and `first_error` counts from 0 or is null.
    The folder is made where it is missing; files of the same name are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = make_problems(problems, seed)
    by_key = {problem.key: problem for problem in made}
    pool = (
        {
            "problem": by_key[solution.problem_key].text,
            "answer": by_key[solution.problem_key].answer,
            "steps": solution.steps,
            "sample_index": solution.sample_index,
            "generator": GENERATOR,
        }
        for solution in make_pool(made, per_problem, seed)
    )
    questions = (
        {
            "problem": problem.text,
            "answer": problem.answer,
            "steps": solution.steps,
            "accepted": solution.accepted,
            "first_error": solution.first_error,
            "explanation": solution.explanation,
        }
        for problem, solution in make_gold(gold, seed)
    )
    return {
        "problems.jsonl": _write(folder / "problems.jsonl", map(_problem_row, made)),
        "pool.jsonl": _write(folder / "pool.jsonl", pool),
        "gold.jsonl": _write(folder / "gold.jsonl", questions),
    }


def _problem_row(problem: Problem) -> dict[str, object]:
    return {
        "problem": problem.text,
        "answer": problem.answer,
        "solution": reference_text(problem),
        "subject": problem.topic.capitalize(),
        "level": problem.level,
        "unique_id": f"practice/{problem.topic.replace(' ', '-')}/{problem.key}",
    }


def reference_text(problem: Problem) -> str:
    """The reference solution as one text: a step per line, then the answer in a box."""
    lines = [step.split(ANSWER_HEADER)[0] for step in problem.reference_steps]
    return "\n".join([*lines, rf"The answer is $\boxed{{{problem.answer}}}$."])


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count
