"""What a grader says: three values, never two, and who said it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """Whether a given answer equals the true one. `UNKNOWN` is "cannot tell", not a soft "wrong"."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


class Strictness(StrEnum):
    """What counts as equal. `VALUE` is the default and what the product stores.

    `FORM` also wants the form that the paper's rules ask for (fractions reduced, an integer as an integer).
    `LENIENT` also takes a decimal on one side that is the other rounded to the digits it writes, three or
    more.
    """

    VALUE = "value"
    FORM = "form"
    LENIENT = "lenient"


# Raise this with every change that can change a verdict: stored grades carry it, and caches key on it.
GRADER_VERSION = "2"


@dataclass(frozen=True, slots=True)
class Grade:
    """A verdict, the rule that decided it, and what every grader that was asked said."""

    verdict: Verdict
    by: str
    votes: dict[str, Verdict] = field(default_factory=dict)

    @property
    def disputed(self) -> bool:
        """Whether two graders contradict each other: such pairs deserve a person's look.

        The paper's rules say "wrong" for all that they do not show equal, which contradicts nobody.
        """
        wrong = [name for name, vote in self.votes.items() if vote is Verdict.WRONG and name != "paper"]
        return Verdict.RIGHT in self.votes.values() and bool(wrong)
