"""What a topic's problem template owes, and the register of all templates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import ClassVar, Self, TypeVar

from models_prm.practice.latex import Number
from models_prm.practice.pen import Pen
from models_prm.practice.wording import GOODS, PEOPLE

TEMPLATES: dict[str, type[Template]] = {}
"""Every template by its name, in the order of definition (topic by topic)."""


class Template(ABC):
    """A family of problems: draws the numbers, words the question, derives the answer.

    Subclasses are frozen dataclasses of the drawn numbers and words, so that two equal draws are
    the same problem.
    """

    name: ClassVar[str]
    topic: ClassVar[str]
    level: ClassVar[int]

    @classmethod
    @abstractmethod
    def draw(cls, rng: Random) -> Self:
        """Draw the numbers and words of one problem."""

    @abstractmethod
    def text(self) -> str:
        """The question, amounts of money marked by `wording.CURRENCY`."""

    @abstractmethod
    def solve(self, pen: Pen) -> None:
        """Write a derivation, ending in `Pen.finish`; ask `Pen.slip` wherever people go wrong."""

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        """The true values of the letters that the derivation uses, for checking its equations."""
        return {}


Drawn = TypeVar("Drawn", bound=type[Template])


def register(kind: Drawn) -> Drawn:
    """Class decorator: add a template to the register under its name."""
    assert kind.name not in TEMPLATES, kind.name
    TEMPLATES[kind.name] = kind
    return kind


def person(rng: Random) -> tuple[str, str]:
    """A first name and its pronoun."""
    return rng.choice(PEOPLE)


def goods(rng: Random) -> tuple[tuple[str, str], tuple[str, str]]:
    """Two different goods, each singular and plural."""
    first, second = rng.sample(GOODS, 2)
    return first, second


def fraction(rng: Random, bottoms: range) -> Fraction:
    """A proper fraction in lowest terms whose denominator lies in the range (from 2)."""
    while True:
        bottom = rng.choice(bottoms)
        value = Fraction(rng.randint(1, bottom - 1), bottom)
        if value.denominator == bottom:
            return value
