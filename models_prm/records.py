"""Plain data that crosses the borders of models_prm. Imports nothing heavy.

A *rating* is a person's judgement of a step: -1 bad, 0 okay, +1 good, None when there is none. A *score* is
a model's number. Probabilities of a step are always ordered (-1, 0, +1).
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from models_prm.errors import DataError

CLASSES: tuple[int, int, int] = (-1, 0, 1)
"""Order of the three classes everywhere: bad, okay, good."""


Mass = tuple[float, float, float]
"""Target mass over the classes (-1, 0, +1)."""


@dataclass(frozen=True)
class LabeledSolution:
    """One path through labelled steps.

    `ratings[i]` belongs to `steps[i]`; None carries no loss. Steps before `weight_from` are context: their
    ratings are known but are counted by another row. `group` is the problem's key, by which data are split.
    `targets`, where given, take the place of the ratings in training: a mass over (-1, 0, +1) per step, whose
    sum is 1 (less for a step that shall count less), or None. `weight` multiplies all labels of the row.
    """

    problem: str
    steps: tuple[str, ...]
    ratings: tuple[int | None, ...]
    group: str
    answer: str | None = None
    weight_from: int = 0
    targets: tuple[Mass | None, ...] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.ratings):
            raise DataError(
                f"{len(self.steps)} steps but {len(self.ratings)} ratings: give one rating per step"
            )
        if bad := [r for r in self.ratings if r not in (-1, 0, 1, None)]:
            raise DataError(f"rating {bad[0]!r} is not -1, 0, 1 or null")
        if self.targets is not None and len(self.targets) != len(self.steps):
            raise DataError(f"{len(self.steps)} steps but {len(self.targets)} targets: give one per step")
        for mass in self.targets or ():
            if mass is not None and not (min(mass) >= 0 and 0 < sum(mass) <= 1 + 1e-6):
                raise DataError(f"target {mass!r} is no mass over -1, 0, +1 with a sum in (0, 1]")
        if not 0 < self.weight < float("inf"):
            raise DataError(f"weight {self.weight!r} must be positive")

    def mass(self, position: int) -> Mass | None:
        """Target mass over (-1, 0, +1) of a step; None where it carries no loss."""
        if self.targets is not None:
            return self.targets[position]
        rating = self.ratings[position]
        return None if rating is None else (float(rating == -1), float(rating == 0), float(rating == 1))

    @property
    def counted(self) -> int:
        """Number of labels of this row that carry loss."""
        labels = self.ratings if self.targets is None else self.targets
        return sum(label is not None for label in labels[self.weight_from :])


@dataclass(frozen=True)
class ScoringItem:
    """One solution to score; `key` comes back with the result and means nothing to the scorer."""

    key: str
    problem: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class StepScores:
    """Probabilities of (-1, 0, +1) for each step of one solution.

    `dropped` counts steps at the end that did not fit into the model's context; they have no probabilities,
    and a solution with dropped steps has no solution score.
    """

    key: str
    probs: tuple[tuple[float, float, float], ...]
    dropped: int = 0


@dataclass(frozen=True)
class Progress:
    """What a long job has done so far. `done` of `total` units of `stage`; metrics are the latest numbers."""

    stage: str
    done: int
    total: int
    message: str = ""
    metrics: dict[str, float] = field(default_factory=dict)


OnProgress = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


def problem_key(text: str) -> str:
    """Key of a problem that ignores case, white space and Unicode composition: 64 hex digits (SHA-256).

    The same key splits train from test, so two copies of a problem that differ in spacing stay together.
    """
    plain = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def rows_from_prm800k(record: Mapping[str, Any]) -> list[LabeledSolution]:
    """Training rows of one PRM800K line: the main path, then every other rated completion as a branch.

    Following the authors' answers in openai/prm800k issues 10 and 11, an alternative is supervised with the
    chosen steps before it. The main path carries its labels up to its first error; a branch carries one
    label, that of its last step. So each rating is counted once. Null ratings and ratings flagged as unsure
    carry no loss; a human rewrite is context only. Records that end as bad_problem give no rows.

    Raises DataError naming the missing or malformed field.
    """
    problem, answer = _question(record)
    label = record.get("label")
    steps = label.get("steps") if isinstance(label, Mapping) else None
    if not isinstance(steps, list):
        raise DataError("label.steps is missing: a PRM800K record has a list of steps there")
    if isinstance(label, Mapping) and label.get("finish_reason") == "bad_problem":
        return []
    group = problem_key(problem)
    path: list[str] = []
    ratings: list[int | None] = []
    branches: list[LabeledSolution] = []
    for index, step in enumerate(steps):
        chosen, text, rating = _chosen(step, index)
        for text_b, rating_b in _alternatives(step, index, chosen):
            branches.append(
                LabeledSolution(
                    problem, (*path, text_b), (*ratings, rating_b), group, answer, weight_from=len(path)
                )
            )
        if text is None:
            break
        path.append(text)
        ratings.append(rating)
        if rating == -1:
            break
    main = LabeledSolution(problem, tuple(path), tuple(ratings), group, answer)
    return [row for row in (main, *branches) if row.counted]


def _question(record: Mapping[str, Any]) -> tuple[str, str | None]:
    question = record.get("question")
    if not isinstance(question, Mapping) or not isinstance(question.get("problem"), str):
        raise DataError("question.problem is missing: is this a PRM800K record?")
    answer = question.get("ground_truth_answer")
    return question["problem"], answer if isinstance(answer, str) else None


def _completions(step: Any, index: int) -> list[Mapping[str, Any]]:
    if not isinstance(step, Mapping):
        raise DataError(f"label.steps[{index}] is not an object")
    completions = step.get("completions") or []
    if not isinstance(completions, list) or not all(
        isinstance(c, Mapping) and isinstance(c.get("text"), str) for c in completions
    ):
        raise DataError(f"label.steps[{index}].completions must be null or a list of objects with a text")
    return completions


def _counted_rating(completion: Mapping[str, Any]) -> int | None:
    rating = completion.get("rating")
    if rating is None or completion.get("flagged") is True:
        return None
    if isinstance(rating, bool) or not isinstance(rating, int):
        raise DataError(f"rating {rating!r} is not -1, 0, 1 or null")
    return rating


def _chosen(step: Any, index: int) -> tuple[int | None, str | None, int | None]:
    """(index of the chosen completion, text that continues the path, its counted rating)."""
    completions = _completions(step, index)
    chosen = step.get("chosen_completion")
    if chosen is not None:
        if not isinstance(chosen, int) or not 0 <= chosen < len(completions):
            raise DataError(f"label.steps[{index}].chosen_completion {chosen!r} is no index of completions")
        return chosen, completions[chosen]["text"], _counted_rating(completions[chosen])
    human = step.get("human_completion")
    text = human.get("text") if isinstance(human, Mapping) else human
    return None, text if isinstance(text, str) else None, None


def _alternatives(step: Any, index: int, chosen: int | None) -> Iterator[tuple[str, int]]:
    for position, completion in enumerate(_completions(step, index)):
        rating = _counted_rating(completion)
        if position != chosen and rating is not None:
            yield completion["text"], rating
