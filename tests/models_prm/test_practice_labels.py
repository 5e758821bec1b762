"""Practice content with its truth: what the library reads back is what the maker knows."""

from pathlib import Path

import pytest

from models_prm.answers import GraderPool
from models_prm.data import load_rows, read_jsonl
from models_prm.evaluation.best_of_n import load_pool
from models_prm.practice.labels import write_truth
from models_prm.practice.maker import make_pool, make_problems


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("practice")
    assert write_truth(made, 3, 20, 6) == {"labels.jsonl": 60, "samples.jsonl": 60}
    return made


def test_labels_read_back_as_the_truth(folder: Path) -> None:
    made = make_problems(20, 3)
    texts = {problem.key: problem.text for problem in made[::2]}
    truth = {
        (texts[s.problem_key], s.steps[: len(rated)]): rated
        for s in make_pool(made, 6, 3)
        if s.problem_key in texts and (rated := tuple(r for r in s.ratings if r is not None))
    }
    rows = load_rows([folder / "labels.jsonl"])
    found = {(row.problem, row.steps): row.ratings for row in rows}
    assert found.items() >= truth.items()
    assert sum(row.counted for row in rows) == sum(map(len, truth.values())), "each rating counts once"
    assert {rating for row in rows for rating in row.ratings} >= {1, -1}


def test_no_problem_is_in_both_files(folder: Path) -> None:
    labeled = {row.problem for row in load_rows([folder / "labels.jsonl"])}
    samples = {line["problem"] for _, line in read_jsonl(folder / "samples.jsonl")}
    assert len(labeled) == len(samples) == 10
    assert not labeled & samples


def test_the_grades_are_those_of_the_grader(folder: Path) -> None:
    lines = [line for _, line in read_jsonl(folder / "samples.jsonl")]
    with GraderPool() as pool:
        grades = pool.grade_many([(line["answer"], line["ground_truth_answer"]) for line in lines])
    assert [grade.verdict.value == "right" for grade in grades] == [line["is_correct"] for line in lines]
    assert {line["is_correct"] for line in lines} == {True, False}


def test_the_samples_are_a_pool(folder: Path) -> None:
    assert [len(problem.correct) for problem in load_pool(folder / "samples.jsonl")] == [6] * 10


def test_one_problem_is_too_few(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least two problems"):
        write_truth(tmp_path, 0, 1, 2)
