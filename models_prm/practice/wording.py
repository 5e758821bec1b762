"""Words shared by all topics: people, goods, connectives, and the styles a whole solution is set in."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from models_prm.practice.latex import Number

CURRENCY: Final = "\N{CURRENCY SIGN}"
"""Stands before an amount in a sentence until the style of the text is chosen."""

PEOPLE: Final = (
    ("Maya", "she"), ("Tariq", "he"), ("Elena", "she"), ("Jonas", "he"), ("Priya", "she"),
    ("Kofi", "he"), ("Lucía", "she"), ("Andrei", "he"), ("Hana", "she"), ("Mateo", "he"),
    ("Zeynep", "she"), ("Oliver", "he"), ("Amara", "she"), ("Viktor", "he"), ("Nadia", "she"),
    ("Samuel", "he"), ("Ingrid", "she"), ("Rafael", "he"), ("Mei", "she"), ("Dominik", "he"),
)  # fmt: skip
GOODS: Final = (
    ("notebook", "notebooks"), ("ticket", "tickets"), ("mug", "mugs"), ("puzzle", "puzzles"),
    ("paint set", "paint sets"), ("scarf", "scarves"), ("plant", "plants"), ("water bottle", "water bottles"),
    ("poster", "posters"), ("calendar", "calendars"), ("sketchbook", "sketchbooks"), ("kite", "kites"),
)  # fmt: skip
SHOPS: Final = (
    "the corner shop", "a flea market", "the school fair", "a stationery shop", "the museum shop",
    "a street market", "the garden centre", "a second-hand store",
)  # fmt: skip

STALLS: Final = (
    "Let me look at what we have so far before going on.",
    "Let us keep in mind what the question asks for.",
    "Let me read the question once more to be sure.",
)

ENDINGS: Final = ("", "", "", "", " The answer is ${}$.", " The answer is ${}$.", " This is the answer.")
"""What a last step may add after its conclusion."""

_OPENINGS: Final = {
    "~": ("", "", "", "", "Next, ", "Now "),
    ">": ("", "", "So ", "So ", "Therefore, ", "Thus, ", "Hence "),
}
_FIRST: Final = ("", "", "", "First, ", "To begin, ")


def openings(mark: str, *, first: bool) -> tuple[str, ...]:
    """The words that may open a phrase with this mark; none where the phrase has no mark."""
    if mark not in _OPENINGS:
        return ()
    return _FIRST if first else _OPENINGS[mark]


def open_with(opening: str, phrase: str) -> str:
    """The phrase after its opening, with a capital where it starts the sentence."""
    return opening + phrase if opening else phrase[:1].upper() + phrase[1:]


def miscopied(value: Number) -> Number | None:
    """The number with its last two digits swapped or its first digit changed; None below two digits."""
    scale = next((s for s in (1, 10, 100) if (Fraction(value) * s).denominator == 1), 0)
    digits = str(int(Fraction(value) * scale)) if scale else ""
    if len(digits) < 2 or value < 0:
        return None
    wrong = digits[:-2] + digits[-1] + digits[-2]
    if digits[-1] in ("0", digits[-2]) or wrong.startswith("0"):
        wrong = str(int(digits[0]) + 1 if digits[0] < "9" else 8) + digits[1:]
    return Fraction(int(wrong), scale)


_FRACTION = re.compile(r"-?\\frac\{-?\d+\}\{\d+\}")
_MATH = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.)+?)(?<!\\)\$", re.DOTALL)
_PRICE = re.compile(CURRENCY + r"(\d+(?:\.\d+)?)")


def fence(text: str) -> str:
    """Put fractions that stand outside mathematics between dollar signs."""
    out, end = [], 0
    for found in _MATH.finditer(text):
        out += [_FRACTION.sub(r"$\g<0>$", text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*out, _FRACTION.sub(r"$\g<0>$", text[end:])])


def price(text: str, style: str) -> str:
    """Write the amounts of a text: "bare" ``$3``, "escaped" ``\\$3`` or "math" ``$\\$3$``."""
    patterns = {"bare": r"$\1", "escaped": r"\\$\1", "math": r"$\\$\1$"}
    return _PRICE.sub(patterns[style], text)


def set_step(text: str, *, bare: bool, brackets: bool, dot: bool, alone: bool) -> str:
    """Set one step in its solution's style.

    `bare`: amounts as ``$3`` where the step holds no mathematics; `brackets`: ``\\( \\)`` for ``$``;
    `dot`: ``\\cdot`` for ``\\times``; `alone`: the solver speaks as "I".
    """
    bare = bare and not _MATH.search(text)
    text = price(text, "bare" if bare else "escaped")
    if brackets and not bare:
        text = _MATH.sub(lambda found: rf"\({found[1]}\)", text)
    if dot:
        text = text.replace(r"\times", r"\cdot")
    if alone:
        text = re.sub(r"\bwe\b", "I", re.sub(r"\bWe\b", "I", text))
        text = text.replace("Let us ", "Let me ").replace(" our ", " my ")
    return text
