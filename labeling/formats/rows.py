"""What a file's records become, whatever their format: plain values, ready to be stored."""

from dataclasses import dataclass, field
from typing import Any

from labeling.records import RatingCounts

Rating = int


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """A problem with what the file knows of it. `answer` None: the file does not say."""

    text: str
    answer: str | None = None
    solution: str | None = None  # the reference solution, never shown to labelers
    external_id: str = ""
    subject: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class SolutionRow:
    """One sampled solution. Either `steps`, or a `text` that the importer splits.

    `answer` None: to be found in the text. `is_correct` is the file's own verdict on the final answer;
    it is the grade only where no truth is known. `once`: an equal solution in the file is the same one (two
    people judged it), not another sample. `splitter` names what made the steps, where the file says so.
    """

    problem: ProblemRow
    steps: tuple[str, ...] | None = None
    text: str | None = None
    answer: str | None = None
    external_id: str = ""
    generator: str = ""
    is_correct: bool | None = None
    once: bool = False
    splitter: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One judgement: the PRM800K line itself, what the line holds beyond PRM800K, and the columns."""

    problem: ProblemRow
    record: dict[str, Any]
    side: dict[str, Any]
    counts: RatingCounts

    @property
    def is_anonymous(self) -> bool:
        """Neither labeler nor time is known, so an equal line may be another person's work."""
        return self.record["labeler"] is None and self.record["timestamp"] is None


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A solution with the ratings that are accepted for each step up to its first error."""

    solution: SolutionRow
    accepted: tuple[tuple[Rating, ...], ...]
    first_error: int | None
    explanation: str = ""


Row = ProblemRow | SolutionRow | LabelRow | GoldRow
