"""What makes a complete judgement: a table of refusals, each with its cure."""

from typing import Any

import pytest

from labeling.errors import BadSubmission
from labeling.models import Project
from labeling.services.submission import Submission, checked

REASONS = ["wrong arithmetic", "wrong rule"]


def check(ratings: list[Any], *, finish: str, mode: str = "first_error", **fields: Any) -> list[int | None]:
    sent = Submission(idempotency_key="k", finish_reason=finish, ratings=ratings, **fields)
    return checked(sent, steps=3, project=Project(mode=mode, reasons=REASONS))


@pytest.mark.parametrize(
    ("mode", "finish", "ratings", "fields"),
    [
        ("first_error", "found_error", [1, 0, -1], {}),
        ("first_error", "found_error", [-1], {}),
        ("first_error", "found_error", [1, -1, None], {}),
        ("first_error", "solution", [1, 0, 1], {}),
        ("first_error", "give_up", [], {"note": "too long"}),
        ("first_error", "give_up", [1, None, 1], {"note": "too long"}),
        ("first_error", "bad_problem", [1, -1], {"note": "no question"}),
        ("full", "found_error", [1, -1, 1], {}),
        ("full", "solution", [1, 1, 0], {}),
        ("full", "give_up", [1, -1, 1], {"note": "why"}),
        ("first_error", "found_error", [0, -1], {"step_reasons": {"0": "wrong rule", "1": "wrong rule"}}),
    ],
)
def test_complete_judgements_are_taken(
    mode: str, finish: str, ratings: list[int | None], fields: dict[str, Any]
) -> None:
    full = check(ratings, finish=finish, mode=mode, **fields)
    assert full == ratings + [None] * (3 - len(ratings))


@pytest.mark.parametrize(
    ("mode", "finish", "ratings", "cure"),
    [
        ("first_error", "solution", [1, 1], "Step 3 is not rated yet."),
        ("first_error", "solution", [1, None, 1], "Step 2 is not rated yet."),
        ("first_error", "solution", [1, 1, -1], "finish as “found the first error”"),
        ("first_error", "found_error", [1, 1, 1], "Rate the first bad step -1"),
        ("first_error", "found_error", [None, -1], "Step 1 is not rated yet."),
        ("first_error", "found_error", [-1, 1], "leave the steps after it unrated"),
        ("first_error", "give_up", [-1, 1], "leave the steps after it unrated"),
        ("full", "found_error", [1, -1], "Step 3 is not rated yet."),
        ("full", "solution", [1, -1, 1], "finish as “found the first error”"),
        ("full", "found_error", [1, 1, 1], "finish as “no error”"),
        ("first_error", "solution", [1, 1, 1, 1], "4 ratings were sent for 3 steps"),
        ("first_error", "solution", [1, 1, 2], "The rating of step 3 must be"),
        ("first_error", "solution", [1, 1, True], "The rating of step 3 must be"),
        ("first_error", "solution", [1, 1, 1.0], "The rating of step 3 must be"),
    ],
)
def test_incomplete_ones_are_refused_with_the_cure(
    mode: str, finish: str, ratings: list[Any], cure: str
) -> None:
    with pytest.raises(BadSubmission, match=cure):
        check(ratings, finish=finish, mode=mode, note="why")


@pytest.mark.parametrize("finish", ["give_up", "bad_problem"])
@pytest.mark.parametrize("note", ["", "   "])
def test_giving_up_and_reporting_need_a_reason(finish: str, note: str) -> None:
    with pytest.raises(BadSubmission, match="say why"):
        check([], finish=finish, note=note)


@pytest.mark.parametrize(
    ("reasons", "cure"),
    [
        ({"0": "wrong rule"}, "rated 0 or -1"),
        ({"7": "wrong rule"}, "rated 0 or -1"),
        ({"x": "wrong rule"}, "rated 0 or -1"),
        ({"²": "wrong rule"}, "rated 0 or -1"),
        ({"1": "I did not like it"}, "one of this project's reasons: wrong arithmetic, wrong rule"),
    ],
)
def test_reasons_stand_at_doubtful_steps_and_come_from_the_list(reasons: dict[str, str], cure: str) -> None:
    with pytest.raises(BadSubmission, match=cure):
        check([1, -1], finish="found_error", step_reasons=reasons)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"total_time_ms": -1}, "total_time_ms"),
        ({"active_time_ms": -1}, "active_time_ms"),
        ({"note": "x" * 4001}, "note"),
    ],
)
def test_a_refusal_names_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(BadSubmission) as refused:
        check([1, 1, 1], finish="solution", **fields)
    assert refused.value.extra["field"] == field
