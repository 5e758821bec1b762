"""Plugs the machine side into the people side's hooks, with no torch: called once at start-up."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from labeling import hooks

if TYPE_CHECKING:
    from models_prm.answers.verdict import Grade

# Graders of surfaces: they say "right" or nothing.
QUICK = ("string", "normalised", "number")


def grade_answers(
    pairs: Sequence[tuple[str | None, str | None]],
    on_progress: Callable[[int, int], None] | None = None,
) -> list[hooks.Graded]:
    from models_prm.answers.doubts import grade_with_doubts

    return [_graded(grade) for grade in grade_with_doubts(pairs, on_progress=on_progress)]


def _graded(grade: "Grade") -> hooks.Graded:
    """As plain data. Votes for nothing ("string: unknown") are left out."""
    from models_prm.answers.doubts import in_doubt

    if not in_doubt(grade):
        return hooks.Graded(grade.verdict.value, grade.by)
    said = {name: vote.value for name, vote in grade.votes.items() if name not in QUICK or vote != "unknown"}
    return hooks.Graded(grade.verdict.value, grade.by, said)


def split_steps(text: str, splitter: str = "newline") -> list[str]:
    from models_prm.steps import split_steps as split

    return split(text, splitter)


def extract_answer(text: str) -> str | None:
    from models_prm.answers.extract import extract_answer as extract

    return extract(text)


def connect() -> None:
    hooks.connect(grade=grade_answers, split=split_steps, extract=extract_answer)
