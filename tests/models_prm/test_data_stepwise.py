"""Labels per step in TRL's shape and as targets: what becomes of each, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models_prm.data import (
    label_summary,
    load_outcomes,
    load_problem_keys,
    load_rows,
    rating_counts,
    target_mass,
)
from models_prm.encoding.tree import build_trees
from models_prm.errors import DataError
from models_prm.records import LabeledSolution, problem_key
from models_prm.training.outcomes import balanced, on_every_step, pair_report, row_of, shape
from models_prm.training.stepwise import Repeats, rows_of
from tests.models_prm.prm_make import sum_record, write_lines


def trl(labels: list[Any], prompt: str = "p") -> dict[str, Any]:
    return {"prompt": prompt, "completions": [f"step {i}" for i in range(len(labels))], "labels": labels}


def test_true_and_false_are_ratings() -> None:
    (row,) = rows_of(trl([True, None, False]))
    assert row.ratings == (1, None, -1)
    assert row.targets is None
    assert row.group == problem_key("p")
    assert rows_of(trl([1, 0]))[0].ratings == (1, -1)


def test_floats_are_probabilities_and_stay_what_they_are() -> None:
    (row,) = rows_of(trl([1.0, 0.75, 0.25, None, 0.0]))
    assert row.targets == ((0, 0, 1), (0.25, 0, 0.75), (0.75, 0, 0.25), None, (1, 0, 0))
    assert row.counted == 4
    assert build_trees([row])[0].counts[1] == [0.25, 0.0, 0.75]


def test_targets_are_a_probability_or_a_mass() -> None:
    (row,) = rows_of({"problem": "p", "steps": ["a", "b", "c"], "targets": [0.5, [0.2, 0.1, 0.3], None]})
    assert row.targets == ((0.5, 0, 0.5), (0.2, 0.1, 0.3), None)
    (row,) = rows_of(
        {
            "problem": "p",
            "steps": ["a", "b"],
            "targets": [1, 0.0],
            "weight_from": 1,
            "weight": 2,
            "answer": "7",
        }
    )
    assert (row.weight_from, row.weight, row.answer, row.counted) == (1, 2.0, "7", 1)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (trl([True, 2]), r"labels\[1\] is 2"),
        (trl([True, -0.1]), r"labels\[1\] is -0.1"),
        (trl(["+"]), r"labels\[0\] is '\+'"),
        ({**trl([True]), "prompt": [{"role": "user"}]}, "prompt must be a text"),
        ({**trl([True]), "completions": ["a", "b"]}, "one entry for each of the 2 completions"),
        ({"problem": "p", "steps": ["a"], "targets": [[0.5, 0.5]]}, "needs three numbers"),
        ({"problem": "p", "steps": ["a"], "targets": [True]}, r"targets\[0\] is True"),
        ({"problem": "p", "steps": ["a"], "targets": [1.5]}, "from 0 to 1"),
        ({"problem": "p", "steps": ["a"], "targets": [[0.9, 0.0, 0.9]]}, "no mass"),
        ({"problem": "p", "steps": ["a"], "targets": [[0, 0, 0]]}, "no mass"),
        ({"problem": "p", "steps": ["a"], "targets": [0.5], "weight": 0}, "must be positive"),
        ({"problem": "p", "steps": ["a"], "targets": [0.5], "weight_from": 2}, "no index of steps"),
        ({"steps": ["a"], "targets": [0.5]}, "problem must be a text"),
        ({"problem": "p", "steps": ["a"], "is_correct": True}, "train on it with kind orm"),
    ],
)
def test_a_wrong_line_is_refused_with_file_line_and_field(tmp_path: Path, record: Any, message: str) -> None:
    path = write_lines(tmp_path / "d.jsonl", [trl([True]), record])
    with pytest.raises(DataError, match=message) as caught:
        load_rows([path])
    assert f"{path}: line 2" in str(caught.value)


def test_a_repeated_prefix_is_counted_once_and_another_verdict_stays(tmp_path: Path) -> None:
    rows = [
        {"prompt": "p", "completions": ["a", "b"], "labels": [True, True]},
        {"prompt": "p", "completions": ["a", "c"], "labels": [True, False]},
        {"prompt": "p", "completions": ["a", "b"], "labels": [True, True]},
        {"prompt": "p", "completions": ["a", "b"], "labels": [True, False]},
        {"prompt": "q", "completions": ["a"], "labels": [0.5]},
        {"prompt": "q", "completions": ["a", "z"], "labels": [0.5, 0.25]},
    ]
    loaded = load_rows([write_lines(tmp_path / "d.jsonl", rows)])
    one, two = build_trees(loaded)
    assert dict(zip(one.texts, one.counts, strict=True)) == {"a": [0, 0, 1], "b": [1, 0, 1], "c": [1, 0, 0]}
    assert two.counts == [[0.5, 0, 0.5], [0.75, 0, 0.25]]


def test_verdicts_of_solutions_that_begin_alike_are_all_counted(tmp_path: Path) -> None:
    lines = [
        {
            "prompt": "p",
            "completions": ["a", text],
            "labels": [float(right)] * 2,
            "source": "final_answer/all",
        }
        for text, right in (("b", 1), ("c", 1), ("d", 0))
    ]
    (tree,) = build_trees(load_rows([write_lines(tmp_path / "d.jsonl", lines)]))
    assert tree.counts[0] == [1, 0, 2]


def test_files_of_all_shapes_can_be_trained_on_together(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "d.jsonl",
        [sum_record(1), trl([True, False]), {"problem": "x", "steps": ["a"], "targets": [0.25]}],
    )
    rows = load_rows([path])
    assert rating_counts(rows) == {"-1": 3 + 1, "0": 1, "1": 2 + 1}
    assert target_mass(rows) == (4.75, 1.0, 3.25)
    assert label_summary(rows)["labels"] == 9
    assert label_summary([])["good"] is None


TAG = "\u043a\u0438"


def test_math_shepherd_strings_are_read() -> None:
    text = f"How many? Step 1: We add. {TAG}\nStep 2: 2 + 3 = 9 {TAG}"
    label = "How many? Step 1: We add. +\nStep 2: 2 + 3 = 9 -"
    (row,) = rows_of({"input": text, "label": label, "task": "GSM8K"})
    assert (row.problem, row.steps, row.ratings) == (
        "How many?",
        ("Step 1: We add.", "Step 2: 2 + 3 = 9"),
        (1, -1),
    )


@pytest.mark.parametrize(
    ("text", "label", "message"),
    [
        (f"q Step 1: a {TAG}", "q Step 1: a ?", "for tag 1"),
        (f"q Step 1: a {TAG}\nStep 2: b {TAG}", "q Step 1: a +\nStep 2: c +", "for tag 2"),
        (f"q Step 1: a {TAG} b", "q Step 1: a + b", "must end with the tag"),
        ("q Step 1: a", "q Step 1: a", "must end with the tag"),
        (f"q a {TAG}", "q a +", "no .Step 1:"),
    ],
)
def test_math_shepherd_strings_that_do_not_match_are_refused(text: str, label: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        rows_of({"input": text, "label": label})


@pytest.mark.data
def test_real_math_shepherd_samples_keep_every_tag(shared_data: Path) -> None:
    path = shared_data / "math-shepherd" / "samples.jsonl"
    rows = load_rows([path])
    tags = [json.loads(line)["input"].count(TAG) for line in path.open(encoding="utf-8")]
    assert [len(row.steps) for row in rows] == tags
    assert all(row.counted == len(row.steps) and "Step 1:" not in row.problem for row in rows)


@pytest.mark.data
def test_prm800k_counts_every_distinct_rating_once_where_rows_repeat_prefixes(shared_data: Path) -> None:
    """The same labels as PRM800K lines and as rows of TRL's shape, which repeat the prefix of every
    completion."""
    path = shared_data / "prm800k" / "phase1_test_rebuilt.jsonl"
    rows = load_rows([path])
    hard = [row for row in rows if all(r in (1, -1) for r in row.ratings)]
    repeats = Repeats()
    converted = [
        fresh
        for row in hard
        for end in range(1, len(row.steps) + 1)
        for made in rows_of(
            {
                "prompt": row.problem,
                "completions": list(row.steps[:end]),
                "labels": [r == 1 for r in row.ratings[:end]],
            }
        )
        if (fresh := repeats.fresh(made)) is not None
    ]
    repeated = sum(end for row in hard for end in range(1, len(row.steps) + 1))
    distinct = {
        (row.problem, row.steps[: i + 1], rating) for row in hard for i, rating in enumerate(row.ratings)
    }
    assert sum(row.counted for row in converted) == len(distinct) < repeated / 5


def test_refused_problems_are_read_from_any_shape(tmp_path: Path) -> None:
    lines = [sum_record(1), trl([True], "one"), {"problem": "two"}]
    keys = load_problem_keys([write_lines(tmp_path / "d.jsonl", lines)])
    assert keys == {problem_key(t) for t in (sum_record(1)["question"]["problem"], "one", "two")}
    with pytest.raises(DataError, match="no problem here"):
        load_problem_keys([write_lines(tmp_path / "e.jsonl", [{"answer": 1}])])


def pool_line(problem: str, right: bool | None, *steps: str) -> dict[str, Any]:
    return {"problem": problem, "steps": list(steps), "is_correct": right, "answer": "7"}


def test_outcomes_are_at_the_last_step_and_unknown_ones_are_left_out(tmp_path: Path) -> None:
    lines = [
        pool_line("p", True, "a", "b"),
        pool_line("p", False, "a"),
        pool_line("p", None, "a"),
        pool_line("p", True),
    ]
    rows = load_outcomes([write_lines(tmp_path / "pool.jsonl", lines)])
    assert [row.ratings for row in rows] == [(None, 1), (-1,)]
    assert on_every_step(rows[0]).ratings == (1, 1)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"steps": [], "is_correct": True}, "problem must be"),
        ({"problem": "p", "steps": "a", "is_correct": True}, "steps must be"),
        ({"problem": "p", "steps": ["a"], "is_correct": "yes"}, "is_correct must be"),
        ({"problem": "p", "steps": ["a"], "is_correct": 1}, "is_correct must be"),
    ],
)
def test_a_wrong_pool_line_is_refused(record: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        row_of(record)


def outcome(problem: str, right: bool, *steps: str) -> LabeledSolution:
    row = row_of(pool_line(problem, right, *(steps or ("a",))))
    assert row is not None
    return row


def test_right_and_wrong_samples_of_a_problem_weigh_the_same_and_none_is_thrown_away() -> None:
    rows = [outcome("p", True), *[outcome("p", False)] * 3, outcome("q", True), outcome("q", True)]
    weights = [row.weight for row in balanced(rows)]
    assert weights == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3, 1, 1])
    assert sum(weights) == pytest.approx(len(rows))


def test_shapes_tell_layout_and_not_content() -> None:
    assert shape(["3 + 4 = 7", "So 7 pens."]) == shape(["5 + 9 = 4", "So 4 pins."])
    assert shape(["3 + 4 = 7"]) != shape(["3 + 4 = 7", "So 7."])
    assert shape(["3 + 4 = 7"]) != shape(["Three and four make seven"])
    assert shape(["3 + 4 = 7"]) != shape(["3 + 4 = 7" * 4])


def test_pairs_of_equal_shape_are_counted_apart() -> None:
    rows = [outcome("p", True, "3 + 4 = 7"), outcome("p", False, "3 + 4 = 8"), outcome("p", False, "No idea")]
    report = pair_report(rows, [0.4, 0.6, 0.1])
    assert report == {
        "pairs": 2,
        "pair_accuracy": 0.5,
        "format_matched_pairs": 1,
        "format_matched_accuracy": 0.0,
    }
    assert pair_report(rows, [0.4, 0.4, None])["pair_accuracy"] == 0.5
    assert pair_report([], [])["pair_accuracy"] is None


def test_a_target_keeps_its_digits_through_a_file(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(trl([0.1234567890123, 0.9])) + "\n", encoding="utf-8")
    (row,) = load_rows([path])
    assert row.targets is not None
    assert row.targets[0] == (1 - 0.1234567890123, 0.0, 0.1234567890123)
