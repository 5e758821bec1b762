"""Training rows from PRM800K records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models_prm.data import load_rows, rating_counts
from models_prm.encoding.tree import build_trees
from models_prm.errors import DataError
from models_prm.records import LabeledSolution, problem_key, rows_from_prm800k
from tests.models_prm.prm_make import completion, record, step, write_lines


def shapes(rows: list[LabeledSolution]) -> list[tuple[tuple[str, ...], tuple[int | None, ...], int]]:
    return [(row.steps, row.ratings, row.weight_from) for row in rows]


def test_every_rated_completion_becomes_a_branch_on_the_chosen_prefix() -> None:
    rows = rows_from_prm800k(
        record(
            "p",
            step(completion("a", 1), completion("x", -1), chosen=0),
            step(completion("y", 0), completion("b", 1), chosen=1),
        )
    )
    assert shapes(rows) == [
        (("a", "b"), (1, 1), 0),
        (("x",), (-1,), 0),
        (("a", "y"), (1, 0), 1),
    ]


def test_each_rating_is_counted_once() -> None:
    rows = rows_from_prm800k(
        record(
            "p", *[step(completion(f"good {i}", 1), completion(f"bad {i}", -1), chosen=0) for i in range(5)]
        )
    )
    assert rating_counts(rows) == {"-1": 5, "0": 0, "1": 5}


def test_null_ratings_carry_no_loss_and_make_no_empty_row() -> None:
    rows = rows_from_prm800k(
        record("p", step(completion("a", 1), completion("b", 0), completion("c", None), chosen=0))
    )
    assert shapes(rows) == [(("a",), (1,), 0), (("b",), (0,), 0)]
    assert rows_from_prm800k(record("p", step(completion("a", None), chosen=0))) == []


def test_flagged_ratings_are_left_out_but_their_text_stays_in_the_prefix() -> None:
    rows = rows_from_prm800k(
        record(
            "p", step(completion("a", 1, flagged=True), chosen=0), step(completion("b", 1, None), chosen=0)
        )
    )
    assert shapes(rows) == [(("a", "b"), (None, 1), 0)]


def test_the_human_rewrite_is_context_where_nothing_was_chosen() -> None:
    rows = rows_from_prm800k(
        record("p", step(completion("x", -1), human="h"), step(completion("b", 1), chosen=0))
    )
    assert shapes(rows) == [(("h", "b"), (None, 1), 0), (("x",), (-1,), 0)]


def test_a_chosen_completion_wins_over_a_human_one() -> None:
    rows = rows_from_prm800k(
        record("p", step(completion("a", 1), chosen=0, human="h"), step(completion("b", 1), chosen=0))
    )
    assert rows[0].steps == ("a", "b")


def test_labels_of_the_main_path_end_at_its_first_error() -> None:
    rows = rows_from_prm800k(
        record(
            "p",
            step(completion("a", 1), chosen=0),
            step(completion("b", -1), completion("c", 1), chosen=0),
            step(completion("d", 1), chosen=0),
        )
    )
    assert shapes(rows) == [(("a", "b"), (1, -1), 0), (("a", "c"), (1, 1), 1)]


def test_the_path_ends_where_nothing_continues_it() -> None:
    rows = rows_from_prm800k(
        record("p", step(completion("a", 1), completion("b", -1)), step(completion("c", 1), chosen=0))
    )
    assert shapes(rows) == [(("a",), (1,), 0), (("b",), (-1,), 0)]


def test_all_null_steps_and_bad_problems_give_nothing() -> None:
    empty = {"completions": None, "human_completion": None, "chosen_completion": None}
    assert rows_from_prm800k(record("p", empty, finish_reason="give_up")) == []
    assert (
        rows_from_prm800k(record("p", step(completion("a", 1), chosen=0), finish_reason="bad_problem")) == []
    )


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        ({}, "question.problem"),
        ({"question": {"problem": "p"}}, "label.steps"),
        (record("p", {"completions": [{"rating": 1}]}), r"label.steps\[0\].completions"),
        (record("p", step(completion("a", 1), chosen=3)), "chosen_completion 3"),
        (record("p", step(completion("a", 2), chosen=0)), "rating 2"),
        (record("p", step({"text": "a", "rating": 0.9}, chosen=0)), "rating 0.9"),
        (record("p", step({"text": "a", "rating": True}, chosen=0)), "rating True"),
    ],
)
def test_a_malformed_record_is_refused_by_field(broken: dict[str, Any], named: str) -> None:
    with pytest.raises(DataError, match=named):
        rows_from_prm800k(broken)


def test_a_bad_line_is_named_by_number(tmp_path: Path) -> None:
    good = record("p", step(completion("a", 1), chosen=0))
    path = write_lines(tmp_path / "x.jsonl", [good, {"question": {}}])
    with pytest.raises(DataError, match=r"x\.jsonl: line 2: question\.problem"):
        load_rows([path])


def test_problem_key_ignores_spacing_case_and_composition() -> None:
    assert problem_key("Caf\u00e9  has\n2 ") == problem_key("cafe\u0301 HAS 2")
    assert problem_key("2+3") != problem_key("2-3")


def test_a_step_rated_twice_keeps_both_ratings() -> None:
    row = LabeledSolution("p", ("a",), (1,), "g")
    other = LabeledSolution("p", ("a", "b"), (-1, 0), "g")
    (tree,) = build_trees([row, other])
    assert tree.texts == ["a", "b"]
    assert tree.counts == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]


@pytest.mark.data
def test_rebuilt_phase_1_gives_all_ratings_whose_prefix_is_known(shared_data: Path) -> None:
    rows = load_rows([shared_data / "prm800k" / "phase1_test_rebuilt.jsonl"])
    assert rating_counts(rows) == {"-1": 1867, "0": 848, "1": 2188}
    mains = [row for row in rows if row.weight_from == 0 and len(row.steps) > 1]
    assert all(-1 not in row.ratings for row in mains)


@pytest.mark.data
def test_an_untouched_found_error_record_gives_its_error_and_its_alternatives_as_branches(
    shared_data: Path,
) -> None:
    """Phase 2 chooses nothing at the failed step: the rated step and its alternatives follow one prefix."""
    rows = load_rows([shared_data / "prm800k" / "phase2_raw_example.jsonl"])
    main, *branches = rows
    assert main.ratings == (1, 0, 1, 1, 1, 1)
    assert len(branches) == 4
    assert branches[0].ratings[-1] == -1
    assert all(row.steps[:-1] == main.steps and row.weight_from == len(main.steps) for row in branches)
