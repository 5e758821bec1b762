"""Where the people side needs a machine: names that `selection` plugs in at start-up.

Without a plug the feature is absent, not broken: `grade_answers` then leaves grades unknown,
and a text file without ready steps is refused with the reason.
"""

from collections.abc import Callable, Sequence
from typing import Protocol


class GradeAnswers(Protocol):
    def __call__(
        self,
        pairs: Sequence[tuple[str | None, str | None]],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> list[tuple[str, str]]:
        """Grade (given answer, truth) pairs: for each ("right" | "wrong" | "unknown", which rule decided)."""


class SplitSteps(Protocol):
    def __call__(self, text: str, splitter: str = "newline") -> list[str]:
        """The steps of a solution's text, none empty."""


class ExtractAnswer(Protocol):
    def __call__(self, text: str) -> str | None:
        """The final answer of a whole solution's text, or None."""


grade_answers: GradeAnswers | None = None
split_steps: SplitSteps | None = None
extract_answer: ExtractAnswer | None = None


def connect(*, grade: GradeAnswers, split: SplitSteps, extract: ExtractAnswer) -> None:
    global grade_answers, split_steps, extract_answer  # noqa: PLW0603 - the one switchboard
    grade_answers, split_steps, extract_answer = grade, split, extract
