"""The PRM800K line as plain data: making one, hashing one, counting one. Pure, no database.

Field by field description: docs/formats.md. The hashes here are the only ones, so that an imported
and a native text or record compare equal.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Rating = int | None


def _folded(text: str) -> str:
    return " ".join(text.split())


def text_hash(text: str) -> str:
    """sha256 of a problem's text with white space folded: equal hashes are one problem."""
    return hashlib.sha256(_folded(text).encode()).hexdigest()


def steps_hash(steps: Sequence[str]) -> str:
    """sha256 of a solution's steps, white space folded inside each: equal hashes are one solution."""
    return hashlib.sha256("\x1f".join(_folded(step) for step in steps).encode()).hexdigest()


def record_hash(record: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON of a record: key order and spacing do not matter, values do."""
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def first_error(ratings: Sequence[Rating]) -> int | None:
    """Index from 0 of the first -1, or None."""
    return next((index for index, rating in enumerate(ratings) if rating == -1), None)


def label_steps(steps: Sequence[str], ratings: Sequence[Rating]) -> list[dict[str, Any]]:
    """The `label.steps` of a judgement: the steps up to the last rated one.

    `chosen_completion` is 0 for every step but the first error, where it is null and the
    trajectory ends; `flagged` is null on the main completion, as in PRM800K's phase 2.
    """
    reached = max((i + 1 for i, rating in enumerate(ratings) if rating is not None), default=0)
    stop = first_error(ratings)
    return [
        {
            "completions": [{"text": text, "rating": rating, "flagged": None}],
            "human_completion": None,
            "chosen_completion": None if index == stop else 0,
        }
        for index, (text, rating) in enumerate(zip(steps[:reached], ratings[:reached], strict=True))
    ]


def build_record(
    *,
    labeler: str,
    at: datetime,
    generation: int,
    is_gold: bool,
    is_screening: bool,
    question: Mapping[str, Any],
    ratings: Sequence[Rating],
    total_time_ms: int,
    finish_reason: str,
) -> dict[str, Any]:
    """A PRM800K phase-2 line.

    `labeler` is the public id, `at` an aware time (written naive in UTC, as PRM800K does),
    `question` what `build_question` gives, `ratings` one per step from the first.
    """
    return {
        "labeler": labeler,
        "timestamp": at.astimezone(UTC).replace(tzinfo=None).isoformat(),
        "generation": generation,
        "is_quality_control_question": is_gold,
        "is_initial_screening_question": is_screening,
        "question": dict(question),
        "label": {
            "steps": label_steps(question["pre_generated_steps"], ratings),
            "total_time": total_time_ms,
            "finish_reason": finish_reason,
        },
    }


def build_question(
    *,
    problem: str,
    solution: str | None,
    answer: str | None,
    steps: Sequence[str],
    given_answer: str | None,
    verifier_score: float | None,
) -> dict[str, Any]:
    """The `question` of a PRM800K phase-2 line, fields in the order of the released files."""
    return {
        "problem": problem,
        "ground_truth_solution": solution,
        "ground_truth_answer": answer,
        "pre_generated_steps": list(steps),
        "pre_generated_answer": given_answer,
        "pre_generated_verifier_score": verifier_score,
    }


@dataclass(frozen=True)
class RatingCounts:
    """The columns that Label keeps beside its record. Unrated: completions whose rating is null."""

    n_good: int
    n_neutral: int
    n_bad: int
    n_unrated: int
    first_error: int | None  # index from 0 of the first step on the trajectory that is rated -1


def _completions(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for step in record["label"]["steps"]:
        yield from step.get("completions") or []


def _trajectory_rating(step: Mapping[str, Any]) -> Rating:
    """The rating of the step as the solution has it: the chosen completion, else the first one."""
    completions = step.get("completions") or []
    if not completions or (step.get("human_completion") and step.get("chosen_completion") is None):
        return None
    chosen = step.get("chosen_completion")
    rating: Rating = completions[chosen if chosen is not None else 0].get("rating")
    return rating


def trajectory_ratings(record: Mapping[str, Any]) -> list[Rating]:
    """The rating of each step of the solution as it stands, as far as the labeler went."""
    return [_trajectory_rating(step) for step in record["label"]["steps"]]


def rating_counts(record: Mapping[str, Any]) -> RatingCounts:
    """Counts over every completion of a record, native or imported (phase 1 and 2)."""
    ratings = [completion.get("rating") for completion in _completions(record)]
    return RatingCounts(
        n_good=ratings.count(1),
        n_neutral=ratings.count(0),
        n_bad=ratings.count(-1),
        n_unrated=ratings.count(None),
        first_error=first_error(trajectory_ratings(record)),
    )
