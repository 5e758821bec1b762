"""The pen that writes one derivation: phrasing, number work, and at most one deliberate slip.

A topic's solver is an ordinary derivation that computes with the values it carries. At every place
where people go wrong it asks `Pen.slip`; the pen answers yes at one chosen place at most, and from
there on the derivation follows from the wrong value by itself. Every choice of wording is a hash of
the seed and the place, so that a clean run and a slipped run of one seed share all wording.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeVar

from models_prm.practice import slips, wording
from models_prm.practice.latex import DeadEndError, Number, coins, dec
from models_prm.practice.mistakes import CATALOGUE
from models_prm.practice.records import ANSWER_HEADER

__all__ = ["ACCEPTED", "DeadEndError", "Kind", "Line", "Pen"]

Kind = Literal["good", "plan", "check", "neutral"]
T = TypeVar("T")

ACCEPTED: Final[dict[Kind, tuple[int, ...]]] = {
    "good": (1,),
    "plan": (0, 1),
    "check": (0, 1),
    "neutral": (0, 1),
}
"""Ratings a fair labeler may give a right step, by what the step does."""


@dataclass(frozen=True, slots=True)
class Line:
    """One written step."""

    text: str
    kind: Kind


class Pen:
    """Writes one solution; `slip_at` and `neutral_at` number the places met, from 0."""

    def __init__(self, seed: str, *, slip_at: int | None = None, neutral_at: int | None = None) -> None:
        self.seed = seed
        self.lines: list[Line] = []
        self.answer = ""
        self.places: list[str] = []
        self.neutral_places = 0
        self.error: int | None = None
        self.reason = ""
        self.rounded = False
        self.slip_at, self._neutral_at = slip_at, neutral_at
        self._open_slip = False
        self._slots = 0
        self.numbered = self.choose("numbered", (True, *[False] * 7))
        self._priced = self.choose("priced", (True, False))

    # Choices.

    def choose(self, tag: str, options: tuple[T, ...] | list[T]) -> T:
        """One of the options, fixed by the seed and the tag alone."""
        digest = hashlib.sha256(f"{self.seed}/{tag}".encode()).digest()
        return options[int.from_bytes(digest[:6]) * len(options) >> 48]

    def way(self, *options: str) -> str:
        """The method this solution uses."""
        return self.choose("way", options)

    # Mistakes.

    def slip(self, mistake: str, why: str = "") -> bool:
        """Whether to make this mistake here; `why` explains it (or call `because` later)."""
        assert mistake in CATALOGUE, mistake
        self.places.append(mistake)
        if self.slip_at != len(self.places) - 1:
            return False
        self._open_slip, self.reason = True, why
        return True

    def because(self, why: str) -> None:
        """Explain the slip just made."""
        self.reason = why

    # Number work: each returns the value to carry on with.

    def add(self, a: Number, b: Number) -> Fraction:
        """a + b, or a natural slip of it."""
        return self._calculate(slips.sum_slips(a, b), Fraction(a) + b, f"{dec(a)} + {_bracketed(b)}")

    def sub(self, a: Number, b: Number) -> Fraction:
        """a - b, or a natural slip of it."""
        return self._calculate(slips.difference_slips(a, b), Fraction(a) - b, f"{dec(a)} - {_bracketed(b)}")

    def mul(self, a: Number, b: Number) -> Fraction:
        """a * b, or a natural slip of it."""
        name = rf"{dec(a)} \times {_bracketed(b)}"
        return self._calculate(slips.product_slips(a, b), Fraction(a) * b, name)

    def div(self, a: Number, b: Number) -> Fraction:
        """a / b, or a natural slip of it; a dead end where b is 0."""
        if b == 0:
            raise DeadEndError
        name = rf"{dec(a)} \div {_bracketed(b)}"
        return self._calculate(slips.quotient_slips(a, b), Fraction(a) / b, name)

    def _calculate(self, found: slips.Slips, right: Fraction, name: str) -> Fraction:
        for mistake, wrong in found:
            if self.slip(mistake):
                value = self.choose("wrong", wrong)
                self.because(f"${name}$ is ${dec(right)}$, not ${dec(value)}$.")
                return value
        return right

    def copy(self, value: Number) -> Number:
        """A number read from the problem, or the same with digits swapped or changed."""
        digits = wording.miscopied(value)
        if digits is not None and self.slip("copied_wrong"):
            self.because(f"the problem says ${dec(value)}$, but the step uses ${dec(digits)}$.")
            return digits
        return value

    # Prices.

    def money(self, value: Number) -> str:
        """An amount inside mathematics, with or without its sign by this solution's style."""
        return rf"\${coins(value)}" if self._priced and value >= 0 else coins(value)

    def cash(self, value: Number) -> str:
        """An amount inside a sentence."""
        if value < 0:
            raise DeadEndError
        return f"{wording.CURRENCY}{coins(value)}"

    # Steps. A phrase may begin with "~" (goes on) or ">" (follows), then in lower case.

    def given(self, *phrases: str) -> None:
        """Restate the problem, in the few solutions that do so at this place: a neutral step."""
        self._neutral(phrases)

    def recap(self, *phrases: str) -> None:
        """Repeat what is known or stall, in the few solutions that do so here: a neutral step."""
        self._neutral((*phrases, *wording.STALLS))

    def _neutral(self, phrases: tuple[str, ...]) -> None:
        self._guard()
        self._slots += 1
        if self._neutral_at == self.neutral_places:
            self._write(phrases, "neutral")
        self.neutral_places += 1

    def plan(self, *phrases: str) -> None:
        """Say what will be done, in some solutions."""
        self._guard()
        self._slots += 1
        if self.choose("plan", (True, True, False, False, False)):
            self._write(phrases, "plan")

    def step(self, *phrases: str) -> None:
        """Write a step in one of the given phrasings; it is the first error if a slip is open."""
        self._slots += 1
        if self._open_slip:
            self.error, self._open_slip = len(self.lines), False
        self._write(phrases, "good")

    def check(self, *phrases: str) -> None:
        """Check the result, in a few solutions without a mistake."""
        self._slots += 1
        if self.error is None and not self._open_slip and self.choose("check", (True, *[False] * 5)):
            self._write(phrases, "check")

    def finish(self, answer: str, *phrases: str) -> None:
        """Write the last step, ending in the answer header and the answer."""
        self.answer = answer
        endings = (f">the answer is ${answer}$.", f"The final answer is ${answer}$.")
        self.step(*(phrases or endings))
        last = self.lines[-1]
        ending = self.choose("ending", wording.ENDINGS) if phrases and "answer" not in last.text else ""
        last = self.lines[-1]
        self.lines[-1] = Line(last.text + ending.format(answer) + ANSWER_HEADER + answer, last.kind)

    def _write(self, phrases: tuple[str, ...], kind: Kind) -> None:
        phrase = self.choose(f"phrase{self._slots}", phrases)
        opening = wording.openings(phrase[:1], first=not self.lines)
        if opening:
            word = "" if self.numbered else self.choose(f"opening{self._slots}", opening)
            phrase = wording.open_with(word, phrase[1:])
        self.lines.append(Line(wording.fence(phrase), kind))

    def _guard(self) -> None:
        assert not self._open_slip, "a slip must be followed by the step that shows it"


def _bracketed(value: Number) -> str:
    return f"({dec(value)})" if value < 0 else dec(value)
