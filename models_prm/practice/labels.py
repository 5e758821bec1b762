"""Practice content with its truth, for trying the library without people: labels and graded samples.

    write_truth(Path("practice"), seed=0, problems=100, per_problem=8)

`labels.jsonl` has PRM800K's shape (what `train_prm` reads), `samples.jsonl` is a graded pool (what an outcome
model, a scorer and best-of-N read). They are of different problems.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from models_prm.practice.maker import make_pool, make_problems
from models_prm.practice.records import PracticeSolution, Problem
from models_prm.practice.writer import GENERATOR

Line = Mapping[str, Any]
FILES = ("labels.jsonl", "samples.jsonl")


def write_truth(folder: Path, seed: int, problems: int, per_problem: int) -> dict[str, int]:
    """Write both files, half of the problems in each; the number of lines by name. Equal seeds, equal files.

    Raises ValueError for fewer than two problems.
    """
    if problems < 2:
        raise ValueError("at least two problems are needed: one to train on, one to score")
    made = make_problems(problems, seed)
    by_key = {problem.key: problem for problem in made}
    labeled = {problem.key for problem in made[::2]}
    pairs = [(by_key[s.problem_key], s) for s in make_pool(made, per_problem, seed)]
    labels = (label_line(p, s) for p, s in pairs if p.key in labeled)
    samples = (sample_line(p, s) for p, s in pairs if p.key not in labeled)
    folder.mkdir(parents=True, exist_ok=True)
    return {name: _write(folder / name, lines) for name, lines in zip(FILES, (labels, samples), strict=True)}


def label_line(problem: Problem, solution: PracticeSolution) -> dict[str, Any]:
    """One PRM800K line as a perfect labeler would have made it: rated up to the first error."""
    rated = [(text, rating) for text, rating in zip(solution.steps, solution.ratings, strict=True)]
    end = len(rated) if solution.first_error is None else solution.first_error + 1
    return {
        "labeler": "practice",
        "timestamp": None,
        "generation": 0,
        "is_quality_control_question": False,
        "is_initial_screening_question": False,
        "question": {
            "problem": problem.text,
            "ground_truth_answer": problem.answer,
            "pre_generated_steps": list(solution.steps),
            "pre_generated_answer": solution.answer,
        },
        "label": {
            "steps": list(_steps(rated[:end])),
            "total_time": 0,
            "finish_reason": "solution" if solution.first_error is None else "found_error",
        },
    }


def _steps(rated: Iterable[tuple[str, int | None]]) -> Iterator[dict[str, Any]]:
    for text, rating in rated:
        yield {
            "completions": [{"text": text, "rating": rating, "flagged": False}],
            "human_completion": None,
            "chosen_completion": None if rating == -1 else 0,
        }


def sample_line(problem: Problem, solution: PracticeSolution) -> dict[str, Any]:
    """One sample of a graded pool."""
    return {
        "unique_id": problem.key,
        "problem": problem.text,
        "ground_truth_answer": problem.answer,
        "subject": problem.topic,
        "level": problem.level,
        "sample_index": solution.sample_index,
        "steps": list(solution.steps),
        "answer": solution.answer,
        "is_correct": solution.answer == problem.answer,
        "finish": "stop",
        "generator": GENERATOR,
    }


def _write(path: Path, lines: Iterable[Line]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return count
