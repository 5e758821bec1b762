"""Where the people side needs a machine: names that `selection` plugs in at start-up.

Without a plug the feature is absent, not broken: `grade_answers` then leaves grades unknown,
and a text file without ready steps is refused with the reason.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol


class Graded(NamedTuple):
    """What graders made of one answer: "right", "wrong" or "unknown", and which rule decided.

    `votes` says what each grader said, by its name, where a person should look; else it is empty.
    """

    grade: str
    by: str
    votes: dict[str, str] = {}  # noqa: RUF012 - never changed


class GradeAnswers(Protocol):
    def __call__(
        self,
        pairs: Sequence[tuple[str | None, str | None]],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> list[Graded]:
        """Grade (given answer, truth) pairs, the ones that matter most first; nothing is asked twice."""


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
