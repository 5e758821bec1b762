"""The PRM800K line: made, hashed and counted."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from labeling import records

QUESTION = records.build_question(
    problem="1+1?", solution=None, answer="2", steps=["a", "b", "c"], given_answer="2", verifier_score=0.5
)


def line(ratings: list[int | None], **fields: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "labeler": "p",
        "at": datetime(2025, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        "generation": 2,
        "is_gold": False,
        "is_screening": False,
        "question": QUESTION,
        "total_time_ms": 1200,
        "finish_reason": "found_error",
        **fields,
    }
    return records.build_record(ratings=ratings, **values)


def test_a_line_has_the_fields_of_prm800k_in_their_order() -> None:
    record = line([1, -1, None])
    assert list(record) == [
        "labeler",
        "timestamp",
        "generation",
        "is_quality_control_question",
        "is_initial_screening_question",
        "question",
        "label",
    ]
    assert list(record["question"]) == [
        "problem",
        "ground_truth_solution",
        "ground_truth_answer",
        "pre_generated_steps",
        "pre_generated_answer",
        "pre_generated_verifier_score",
    ]
    assert record["label"] == {
        "steps": [
            {
                "completions": [{"text": "a", "rating": 1, "flagged": None}],
                "human_completion": None,
                "chosen_completion": 0,
            },
            {
                "completions": [{"text": "b", "rating": -1, "flagged": None}],
                "human_completion": None,
                "chosen_completion": None,
            },
        ],
        "total_time": 1200,
        "finish_reason": "found_error",
    }


def test_times_are_written_naive_in_utc() -> None:
    at = datetime(2025, 1, 2, 5, 4, 5, 6, tzinfo=timezone(timedelta(hours=2)))
    assert line([1], at=at)["timestamp"] == "2025-01-02T03:04:05.000006"


def test_in_full_mode_only_the_first_bad_step_ends_the_trajectory() -> None:
    chosen = [step["chosen_completion"] for step in line([-1, 1, -1])["label"]["steps"]]
    assert chosen == [None, 0, 0]


def test_unreached_steps_are_absent_and_skipped_ones_null() -> None:
    steps = line([None, 1, None], finish_reason="give_up")["label"]["steps"]
    assert [step["completions"][0]["rating"] for step in steps] == [None, 1]
    assert records.rating_counts(line([None, 1, None])) == records.RatingCounts(1, 0, 0, 1, None)


def test_a_real_line_counts_its_alternatives_too(shared_data: Any) -> None:
    import json

    text = (shared_data / "prm800k" / "phase2_raw_example.jsonl").read_text().splitlines()[0]
    record = json.loads(text)
    completions = [c for step in record["label"]["steps"] for c in step["completions"]]
    counts = records.rating_counts(record)
    assert counts.n_good + counts.n_neutral + counts.n_bad + counts.n_unrated == len(completions)
    assert counts.first_error == len(record["label"]["steps"]) - 1
    native = line([1, -1, None])
    assert (list(native), list(native["question"]), list(native["label"])) == (
        list(record),
        list(record["question"]),
        list(record["label"]),
    )
    assert list(native["label"]["steps"][0]) == list(record["label"]["steps"][0])


def test_hashes_follow_meaning_not_spacing_or_key_order() -> None:
    assert records.text_hash("a  b\n") == records.text_hash("a b")
    assert records.text_hash("ab") != records.text_hash("a b")
    assert records.steps_hash(["a b", "c"]) == records.steps_hash(["a  b ", "c"])
    assert records.steps_hash(["a", "b c"]) != records.steps_hash(["a b", "c"])
    assert records.record_hash({"a": 1, "b": None}) == records.record_hash({"b": None, "a": 1})
    assert records.record_hash({"a": None}) != records.record_hash({"a": False})
    assert records.record_hash({"a": [1, 2]}) != records.record_hash({"a": [2, 1]})


@given(st.lists(st.sampled_from([1, 0, -1, None]), min_size=3, max_size=3))
def test_counts_of_a_native_line_are_those_of_its_ratings(ratings: list[int | None]) -> None:
    counts = records.rating_counts(line(ratings))
    assert (counts.n_good, counts.n_neutral, counts.n_bad) == tuple(ratings.count(r) for r in (1, 0, -1))
    assert counts.first_error == records.first_error(ratings)
