"""Reasoning quality of what PRM, ORM and vote pick, judged by an oracle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from models_prm.errors import DataError
from models_prm.evaluation.best_of_n import PooledProblem, load_pool
from models_prm.evaluation.pool_report import best_of_n_report
from models_prm.evaluation.report import Report
from models_prm.evaluation.selected import reasoning_quality


def problem(text: str, rows: Sequence[tuple[str, bool, str, float, float]]) -> PooledProblem:
    """Samples as (step, answer right, answer, prm, orm)."""
    made = PooledProblem(text, text)
    for step, right, answer, prm, orm in rows:
        made.add(right, answer, {"prm_score": prm, "orm_score": orm}, steps=[step])
    return made


POOL = [
    # The ORM falls for a right answer by wrong steps; the vote too, being evenly split over its members.
    problem(
        "p",
        [
            ("sound", True, "4", 0.9, 0.5),
            ("lucky", True, "4", 0.2, 0.9),
            ("wrong", False, "5", 0.1, 0.1),
        ],
    ),
    problem(
        "q",
        [("wrong", False, "1", 0.9, 0.9), ("sound", True, "2", 0.8, 0.3), ("wrong too", False, "1", 0, 0)],
    ),
]


def judge(text: str, steps: Sequence[str]) -> int | None:
    if steps[0] == "unseen":
        raise KeyError(text)
    return None if steps[0] == "sound" else 0


def test_right_answers_by_wrong_steps_are_no_fully_right_solutions() -> None:
    report = reasoning_quality(POOL, judge)
    assert report["prm_score"] == {
        "problems": 2,
        "judged": 2.0,
        "answer_right": 0.5,
        "fully_right": 0.5,
        "of_right_answers": 1.0,
    }
    assert report["orm_score"]["answer_right"] == 0.5
    assert report["orm_score"]["of_right_answers"] == 0.0
    assert report["majority"]["answer_right"] == 0.5
    assert report["majority"]["of_right_answers"] == pytest.approx(0.5)


def test_what_the_judge_cannot_tell_is_left_out_and_texts_are_judged_once() -> None:
    asked: list[str] = []

    def counting(text: str, steps: Sequence[str]) -> int | None:
        asked.append(steps[0])
        return judge(text, steps)

    pool = [problem("r", [("unseen", True, "4", 0.9, 0.9), ("sound", True, "4", 0.1, 0.1)])]
    report = reasoning_quality(pool, counting)
    assert report["prm_score"]["judged"] == 0
    assert report["prm_score"]["fully_right"] is None
    assert report["majority"]["judged"] == 0.5
    assert sorted(asked) == ["sound", "unseen"]


def test_a_pool_that_says_which_solutions_are_sound_is_reported(tmp_path: Path) -> None:
    lines = [
        {
            "problem": "p",
            "is_correct": True,
            "answer": "4",
            "prm_score": 0.9,
            "orm_score": 0.1,
            "first_error": -1,
        },
        {
            "problem": "p",
            "is_correct": True,
            "answer": "4",
            "prm_score": 0.2,
            "orm_score": 0.9,
            "first_error": 2,
        },
    ]
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = best_of_n_report(load_pool(path), resamples=20)
    assert report["reasoning"]["prm_score"]["of_right_answers"] == 1.0
    assert report["reasoning"]["orm_score"]["of_right_answers"] == 0.0
    assert "| ORM | 1 of 1 | 100.0 | 0.0 | 0.0 |" in Report("best-of-n", report).markdown()
    path.write_text(json.dumps(lines[0] | {"first_error": "2"}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="first_error is the index"):
        load_pool(path)


def test_the_practice_oracle_is_such_a_judge() -> None:
    """Practice content knows the truth of its own solutions."""
    from models_prm.practice.maker import make_pool, make_problems
    from models_prm.practice.oracle import Oracle

    problems = make_problems(3, seed=5)
    solutions = make_pool(problems, 6, seed=5)
    oracle = Oracle((next(p for p in problems if p.key == s.problem_key), s) for s in solutions)

    def first_error(text: str, steps: Sequence[str]) -> int | None:
        known = oracle.judge(text, steps)
        if known is None:
            raise KeyError(text)
        return known.first_error

    pool = []
    for p in problems:
        made = PooledProblem(p.key, p.text)
        for s in (s for s in solutions if s.problem_key == p.key):
            made.add(
                s.first_error is None, s.answer, {"perfect": float(s.first_error is None)}, steps=s.steps
            )
        pool.append(made)
    report = reasoning_quality(pool, first_error)
    assert report["perfect"]["of_right_answers"] in (1.0, None)
    assert report["perfect"]["judged"] == pytest.approx(3.0)
