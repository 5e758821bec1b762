"""Grades on real data: the pairs, the MATH answers against themselves, and GSM8K's own flags."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from models_prm.answers import GraderPool, Verdict, extract_answer

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def pool() -> Iterator[GraderPool]:
    with GraderPool(2, time_limit_s=10) as pool:
        yield pool


def math_answers(shared_data: Path) -> list[str]:
    folder = shared_data / "math"
    tests = [json.loads(line)["answer"] for line in (folder / "math500.jsonl").open(encoding="utf-8")]
    trains = json.loads((folder / "train_problems_and_answers.json").read_text(encoding="utf-8"))
    return tests + [problem["final_answer"] for problem in trains]


def test_the_grading_pairs_come_out_as_people_say(shared_data: Path, pool: GraderPool) -> None:
    file = shared_data.parent / "grading-pairs.jsonl"
    if not file.exists():
        pytest.skip("No grading-pairs.jsonl beside the data sets.")
    rows = [json.loads(line) for line in file.open(encoding="utf-8")]
    grades = pool.grade_many([(row["given"], row["truth"]) for row in rows])
    missed = [
        (row["note"], grade.verdict.value)
        for row, grade in zip(rows, grades, strict=True)
        if grade.verdict.value != ("right" if row["equal"] else "wrong")
    ]
    assert missed == []


def test_every_math_answer_equals_itself(shared_data: Path, pool: GraderPool) -> None:
    """Two of the 8,000 answers are empty: no truth to compare with."""
    answers = math_answers(shared_data)
    grades = pool.grade_many([(answer, answer) for answer in answers])
    assert {grade.by for grade in grades if grade.verdict is not Verdict.RIGHT} == {"no truth"}
    assert sum(grade.verdict is Verdict.RIGHT for grade in grades) == sum(map(bool, answers)) == 7998


def test_every_math500_answer_is_found_in_its_solution_and_right(shared_data: Path, pool: GraderPool) -> None:
    rows = [json.loads(line) for line in (shared_data / "math" / "math500.jsonl").open(encoding="utf-8")]
    grades = pool.grade_many([(extract_answer(row["solution"]), row["answer"]) for row in rows])
    assert [
        row["unique_id"]
        for row, grade in zip(rows, grades, strict=True)
        if grade.verdict is not Verdict.RIGHT
    ] == []


@pytest.mark.slow
def test_the_exact_grader_reads_nearly_every_math_answer(shared_data: Path) -> None:
    """Compared with itself in superfluous braces, so that no surface grader can decide."""
    from models_prm.answers.compare import compare_texts

    answers = sorted(set(filter(None, math_answers(shared_data))))
    verdicts = [compare_texts(f"{{{answer}}}", answer) for answer in answers]
    assert Verdict.WRONG not in verdicts
    assert verdicts.count(Verdict.RIGHT) / len(answers) > 0.995


def test_gsm8k_grades_equal_their_flags(shared_data: Path, pool: GraderPool) -> None:
    file = shared_data / "gsm8k" / "example_model_solutions.jsonl"
    flags: list[bool] = []
    pairs: list[tuple[str | None, str | None]] = []
    for line in file.open(encoding="utf-8"):
        row = json.loads(line)
        truth = extract_answer(row["ground_truth"])
        for sample in (value for value in row.values() if isinstance(value, dict)):
            flags.append(sample["is_correct"])
            pairs.append((extract_answer(sample["solution"]), truth))
    grades = pool.grade_many(pairs)
    exceptions = [
        (pair, flag, grade.verdict.value)
        for pair, flag, grade in zip(pairs, flags, grades, strict=True)
        if grade.verdict is not (Verdict.RIGHT if flag else Verdict.WRONG)
    ]
    assert len(pairs) == 5276
    assert exceptions == []


def test_a_pool_of_qwen_samples_differs_from_its_flags_only_where_the_flags_are_wrong(
    shared_data: Path, pool: GraderPool
) -> None:
    """Nine flags: `10{,}000` against 10000 once, `4:30` with p.m. inside or outside the text eight times."""
    flags: list[bool] = []
    pairs: list[tuple[str | None, str | None]] = []
    for line in (shared_data / "qwen-math-rm8" / "math_cot_100.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        flags.extend(row["score"])
        pairs.extend((extract_answer(response), row["answer"]) for response in row["response"])
    grades = pool.grade_many(pairs)
    exceptions = [
        pair
        for pair, flag, grade in zip(pairs, flags, grades, strict=True)
        if grade.verdict is not (Verdict.RIGHT if flag else Verdict.WRONG)
    ]
    assert len(pairs) == 800
    assert len(exceptions) == 9
    assert {given for given, _ in exceptions} == {"10000", r"4:30 \text{ p.m.}"}
