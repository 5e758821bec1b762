"""Plugs the machine side into the people side's hooks, with no torch: called once at start-up."""

from collections.abc import Callable, Sequence

from labeling import hooks


def grade_answers(
    pairs: Sequence[tuple[str | None, str | None]],
    on_progress: Callable[[int, int], None] | None = None,
) -> list[tuple[str, str]]:
    from models_prm.answers.pool import GraderPool

    with GraderPool() as pool:
        grades = pool.grade_many(pairs, on_progress=on_progress)
    return [(grade.verdict.value, grade.by) for grade in grades]


def split_steps(text: str, splitter: str = "newline") -> list[str]:
    from models_prm.steps import split_steps as split

    return split(text, splitter)


def extract_answer(text: str) -> str | None:
    from models_prm.answers.extract import extract_answer as extract

    return extract(text)


def connect() -> None:
    hooks.connect(grade=grade_answers, split=split_steps, extract=extract_answer)
