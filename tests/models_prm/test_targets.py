"""Step labels from answers, a large model and arithmetic; roll-outs have a file of their own."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from models_prm.__main__ import main
from models_prm.answers import GraderPool
from models_prm.data import load_rows
from models_prm.errors import DataError
from models_prm.fakes import FakeScorer
from models_prm.targets import Counts, PoolSolution, StepTargets, read_solutions
from models_prm.targets.arithmetic import Equality, _value, equalities, from_arithmetic
from models_prm.targets.large_prm import from_large_prm
from models_prm.targets.outcome import from_final_answers
from tests.models_prm.prm_make import random_prm, write_lines


def solution(*steps: str, line: int = 1, **fields: Any) -> PoolSolution:
    return PoolSolution(line, "k", "What is 1 + 1?", steps, **fields)


def test_final_answers_label_every_step_or_the_last_one() -> None:
    counts = Counts()
    given = [
        solution("a", "b", answer="2", truth="2.0"),
        solution("a", answer="3", truth="2"),
        solution("a", right=True),
        solution("a", truth="2"),
        solution("a", answer="2", truth="2", finished=False),
        solution(answer="2", truth="2"),
        solution("a", answer="2"),
    ]
    with GraderPool() as grader:
        rows = list(from_final_answers(given, grader, counts))
        last = list(from_final_answers(given[:1], grader, Counts(), "last"))
    assert [r.labels for r in rows] == [(1.0, 1.0), (0.0,), (1.0,), (0.0,)]
    assert last[0].labels == (None, 1.0)
    assert counts == {"labelled": 4, "unfinished": 1, "no steps": 1, "grade unknown": 1}
    assert rows[2].record == {"right": True, "by": "is_correct"}


def test_a_large_prm_stops_at_the_first_step_above_its_threshold() -> None:
    bad = {"a": 0.1, "b": 0.2, "c": 0.21, "d": 0.0}
    scorer = FakeScorer(judge=lambda problem, steps, i: bad[steps[i]])
    counts = Counts()
    rows = list(from_large_prm([solution("a", "b", "c", "d"), solution("a", "d", line=2)], scorer, counts))
    assert [r.labels for r in rows] == [(1.0, 1.0, 0.0, None), (1.0, 1.0)]
    assert rows[0].record["first_error"] == 2
    assert rows[0].record["bad"] == [0.1, 0.2, 0.21, 0.0]
    assert [r.labels for r in from_large_prm([solution("a", "b")], scorer, counts, threshold=0.15)] == [
        (1.0, 0.0)
    ]


def test_rows_are_trls_with_floats_that_nothing_floors() -> None:
    """prm-ecosystem B5: a soft label stays soft."""
    row = StepTargets(solution("a", "b", "c"), (1.0, 0.75, None), "x").as_row()
    assert (row["prompt"], row["completions"]) == ("What is 1 + 1?", ["a", "b", "c"])
    assert json.loads(json.dumps(row))["labels"] == [1.0, 0.75, None]
    with pytest.raises(DataError):
        StepTargets(solution("a", "b"), (1.0,), "x")


def test_training_reads_the_rows_as_they_are_written(tmp_path: Path) -> None:
    row = StepTargets(solution("a", "b", "c"), (1.0, 0.75, None), "rollouts/soft", {"prefixes": []})
    [read] = load_rows([write_lines(tmp_path / "rows.jsonl", [row.as_row()])])
    assert (read.problem, read.steps) == ("What is 1 + 1?", ("a", "b", "c"))
    targets = [read.targets[i] if read.targets else None for i in range(3)]
    assert targets[2] is None
    assert targets[0] == pytest.approx((0.0, 0.0, 1.0))
    assert targets[1] == pytest.approx((0.25, 0.0, 0.75))


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ("12*3=36", [True]),
        ("12*3=46", [False]),
        ("So 12 \\times 3 = 36 pens.", [True]),
        ("$12 \\cdot 3 = 37$ and 2 + 2 = 4.", [False, True]),
        ("2 + 3 * 4 = 20", [False]),
        ("(2 + 3) * 4 = 20 = 5 * 4", [True, True]),
        ("She pays $12 * 3 = $36 in all", [True]),
        ("1,000 + 234 = 1,234", [True]),
        ("\\frac{1}{2} + \\frac{1}{3} = \\frac{5}{6}", [True]),
        ("\\frac{1}{2} + \\frac{1}{3} = \\frac{2}{5}", [False]),
        ("1 / 3 = 0.33", [None]),
        ("2 / 3 = 0.67", [None]),
        ("1 / 3 = 0.5", [False]),
        ("2^10 = 1024", [True]),
        ("-3 + 5 = 2", [True]),
        ("7 − 10 = −3", [True]),
        ("10 ÷ 4 = 2.5", [True]),
        ("<<16-3-4=9>>", [True]),
        ("3 + 4 = 7 apples", [True]),
        ("0.1 + 0.2 = 0.3", [True]),
    ],
)
def test_equalities_of_numbers_are_checked_exactly(step: str, wanted: list[bool | None]) -> None:
    assert [e.holds for e in equalities(step)] == wanted


@pytest.mark.parametrize(
    "step",
    [
        "x - 3 = 5",
        "2x + 3 = 5",
        "x = 5",
        "5 = 5",
        "f(3) = 4 + 5",
        "3 + 4 = 7x",
        "3 + 4 = 5 y",
        "\\log 2 + 3 = 9",
        "52_8 + 1 = 43",
        "3 + 4 = 2 mod 5",
        "50% + 1 = 2",
        "1 + 2 + ... + 10 = 55",
        "3! + 1 = 7",
        "a, 3 4 = 5 + 1",
        "3 + 4 \\equiv 2 + 0",
        "1 + 1 == 3",
        "\\sqrt{2 + 2} = 3 - 1",
        "1 / 0 = 5 + 1",
        "9^9^9^9 = 1 + 1",
        "2^(9999999999) = 1 + 1",
        "(" * 60 + "1" + ")" * 60 + " + 1 = 3",
        "__import__('os') + 1 = 2",
        "1" * 300 + " + 1 = 3",
    ],
)
def test_what_is_not_plain_arithmetic_is_passed_over(step: str) -> None:
    assert equalities(step) == []


def test_the_parser_knows_the_order_of_operations_and_exact_values() -> None:
    assert _value("2 - 3 - 4") == -5
    assert _value("2 ^ 3 ^ 2") == 512
    assert _value("-2 ^ 2") == -4
    assert _value("1 / 3 + 1 / 6") == Fraction(1, 2)
    assert _value("2 +") is None
    assert _value("") is None


def test_arithmetic_labels_the_first_false_step_and_nothing_else() -> None:
    counts = Counts()
    given = [solution("2 + 2 = 4", "3 + 3 = 7", "1 + 1 = 3"), solution("fine")]
    [row] = from_arithmetic(given, counts)
    assert row.labels == (None, 0.0, None)
    assert row.source == "arithmetic"
    assert row.record["first_error"] == 1
    assert counts == {"labelled": 1, "no false equality": 1}
    assert equalities("2 + 2 = 4") == [Equality("2 + 2 = 4", True)]


POOL: list[dict[str, Any]] = [
    {
        "problem": "p",
        "steps": ["1 + 1 = 2", "So 2."],
        "answer": "2",
        "ground_truth_answer": "2",
        "unique_id": "u",
    },
    {"problem": "p", "steps": ["1 + 1 = 3"], "answer": "3", "ground_truth_answer": "2", "finish": "stop"},
    {"problem": "p", "steps": ["1 +"], "answer": None, "ground_truth_answer": "2", "finish": "length"},
]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "pool.jsonl", POOL)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_pool_lines_are_read_with_what_they_say(pool: Path, tmp_path: Path) -> None:
    first, second, third = read_solutions(pool)
    assert (first.line, first.key, first.finished, first.right) == (1, "u", True, None)
    assert second.key != first.key
    assert not third.finished
    bad = write_lines(tmp_path / "bad.jsonl", [{"problem": "p", "steps": "x"}])
    with pytest.raises(DataError, match="line 1.*steps"):
        list(read_solutions(bad))


def test_the_command_writes_rows_and_goes_on(
    pool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    command = ["targets", "final-answer", str(pool), "--output", str(out)]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out) == {"rows": str(out), "labelled": 2, "unfinished": 1}
    whole = out.read_bytes()
    out.write_bytes(whole[:-10])
    assert main(command) == 0
    assert out.read_bytes() == whole
    assert [row["labels"] for row in rows_of(out)] == [[1.0, 1.0], [0.0]]
    capsys.readouterr()
    assert main([*command, "--spread", "last"]) == 1
    assert "spread" in capsys.readouterr().err


def test_the_command_asks_a_saved_model(pool: Path, tmp_path: Path) -> None:
    random_prm().save(tmp_path / "large")
    out = tmp_path / "rows.jsonl"
    command = ["targets", "large-prm", str(pool), "--scorer", str(tmp_path / "large"), "--output", str(out)]
    assert main(command) == 0
    assert [len(row["labels"]) for row in rows_of(out)] == [2, 1, 1]
    assert all(label in (0.0, 1.0, None) for row in rows_of(out) for label in row["labels"])


def test_the_command_checks_arithmetic(pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    assert main(["targets", "arithmetic", str(pool), "--output", str(out)]) == 0
    assert [(row["line"], row["labels"], row["source"]) for row in rows_of(out)] == [(2, [0.0], "arithmetic")]
