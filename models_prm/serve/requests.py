"""From the body of a request to solutions, and from scores to the body of an answer. Pure functions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from models_prm.aggregate import REDUCTIONS, score_of, step_score
from models_prm.errors import PrmError
from models_prm.records import CLASSES, ScoringItem, StepScores

Neutral = Literal["good", "bad"]


class RefusedError(PrmError):
    """A request that is not scored: HTTP `status`, and the `field` to change ("" for the whole body)."""

    def __init__(self, status: int, field: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.field = field


@dataclass(frozen=True)
class Limits:
    """Largest accepted request: bytes, solutions, steps of a solution."""

    body: int = 1 << 20
    items: int = 64
    steps: int = 256


@dataclass(frozen=True)
class Wanted:
    """A request as understood: the solutions, and how a solution's score is made of its steps'."""

    items: list[ScoringItem]
    method: str = "product"
    neutral: Neutral = "good"


def understood(body: bytes, limits: Limits) -> Wanted:
    """Read {"problem", "steps"} or {"items": [{"key", "problem", "steps"}]}; "method", "neutral" optional.

    Raises RefusedError: 400 for what is no JSON object, 422 naming the field otherwise.
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "", f"the body is not JSON ({error})") from error
    if not isinstance(given, dict):
        raise RefusedError(400, "", "the body must be a JSON object")
    options = {"method", "neutral"}
    method, neutral = given.get("method", "product"), given.get("neutral", "good")
    if not isinstance(method, str) or method not in REDUCTIONS:
        raise RefusedError(422, "method", f"must be one of {', '.join(REDUCTIONS)}")
    if neutral not in ("good", "bad"):
        raise RefusedError(422, "neutral", 'must be "good" or "bad"')
    if "items" not in given:
        item = _item({k: v for k, v in given.items() if k not in options}, "", "0", limits)
        return Wanted([item], method, cast(Neutral, neutral))
    if unknown := sorted(given.keys() - options - {"items"}):
        raise RefusedError(422, unknown[0], "unknown field")
    rows = given["items"]
    if not isinstance(rows, list) or not 0 < len(rows) <= limits.items:
        raise RefusedError(422, "items", f"must be a list of 1 to {limits.items} solutions")
    items = [_item(row, f"items[{i}].", str(i), limits) for i, row in enumerate(rows)]
    return Wanted(items, method, cast(Neutral, neutral))


def _item(row: Any, where: str, key: str, limits: Limits) -> ScoringItem:
    if not isinstance(row, dict):
        raise RefusedError(422, where.rstrip("."), "must be an object with problem and steps")
    if unknown := sorted(row.keys() - {"key", "problem", "steps"}):
        raise RefusedError(422, f"{where}{unknown[0]}", "unknown field")
    problem, steps, key = row.get("problem"), row.get("steps"), row.get("key", key)
    if not isinstance(key, str):
        raise RefusedError(422, f"{where}key", "must be a text")
    if not isinstance(problem, str) or not problem.strip():
        raise RefusedError(422, f"{where}problem", "must be a text that is not empty")
    if not isinstance(steps, list) or not 0 < len(steps) <= limits.steps:
        raise RefusedError(422, f"{where}steps", f"must be a list of 1 to {limits.steps} texts")
    for number, step in enumerate(steps):
        if not isinstance(step, str):
            raise RefusedError(422, f"{where}steps[{number}]", "must be a text")
    return ScoringItem(key, problem, tuple(steps))


def answer(model: str, wanted: Wanted, results: Sequence[StepScores]) -> dict[str, Any]:
    """The answer's body: for each solution its steps' probabilities and scores, and its own score.

    `score` is null where steps were dropped because they did not fit into the model's context.
    """
    return {"model": model, "results": [_result(wanted, result) for result in results]}


def _result(wanted: Wanted, result: StepScores) -> Mapping[str, Any]:
    score = score_of(result, wanted.method, wanted.neutral)
    return {
        "key": result.key,
        "steps": [
            {
                "probs": dict(zip(map(str, CLASSES), probs, strict=True)),
                "score": step_score(probs, wanted.neutral),
            }
            for probs in result.probs
        ],
        "score": score if score is not None and math.isfinite(score) else None,
        "dropped": result.dropped,
    }
