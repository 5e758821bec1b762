"""The plain records of made-up practice content: problems and solutions whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

ANSWER_HEADER = "\n\n# Answer\n\n"
"""What stands between the last sentence of a solution and its final answer, as in PRM800K."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One made-up school problem.

    `key` alone determines the rest (``template.seed.number``); `level` runs from 1 (easy) to 5;
    `answer` is a plain number, a ``\\frac{a}{b}`` or a comma list of roots in rising order;
    `reference_steps` is one right solution.
    """

    key: str
    topic: str
    level: int
    text: str
    answer: str
    reference_steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PracticeSolution:
    """One solution of a problem, with the truth of every step.

    `ratings` holds +1 (right and useful), 0 (right but adds nothing) or -1 (the first wrong step),
    one for each step; after the first error it holds None, because the truth of a step that goes on
    from a false value is debatable. `accepted` holds, for the steps up to and including the first
    error (all steps when there is none), the set of ratings a fair labeler may give.
    `first_error` counts from 0; `mistake` names an entry of `mistakes.CATALOGUE`.
    """

    problem_key: str
    sample_index: int
    steps: tuple[str, ...]
    answer: str
    ratings: tuple[int | None, ...]
    accepted: tuple[tuple[int, ...], ...]
    first_error: int | None
    mistake: str | None
    explanation: str
