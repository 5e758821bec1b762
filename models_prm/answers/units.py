"""Units of measure in answers: one name for each, and the factor to a base unit of its dimension.

A unit written on one side only is ignored (the convention of MATH: 32 cm equals 32). Written on both sides
it counts: 32 m is not 32 cm, 3200 cm is 32 m. Words we do not know (apples, ways) have no dimension.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: its name, its dimension ("" when unknown) and its size in the dimension's base unit."""

    name: str
    dimension: str = ""
    factor: Fraction = Fraction(1)

    def squared_or_cubed(self, exponent: int) -> Unit:
        """The unit of area or volume that belongs to a unit of length."""
        return Unit(
            f"{self.name}^{exponent}",
            self.dimension and f"{self.dimension}^{exponent}",
            self.factor**exponent,
        )


PERCENT = Unit("percent", "percent")
DEGREE = Unit("degree", "angle")
DOLLAR = Unit("dollar", "money")

# dimension: {name and its other spellings: factor}
_TABLE: dict[str, dict[str, str]] = {
    "length": {
        "millimeter millimetre mm": "1/1000", "centimeter centimetre cm": "1/100", "meter metre m": "1",
        "kilometer kilometre km": "1000", "inch inches": "254/10000", "foot feet ft": "3048/10000",
        "yard yd": "9144/10000", "mile mi": "1609344/1000",
    },
    "time": {
        "second sec s": "1", "minute min": "60", "hour hr h": "3600", "day": "86400", "week": "604800",
    },
    "calendar": {"month": "1", "year yr": "12"},
    "mass": {"milligram mg": "1/1000", "gram g": "1", "kilogram kg": "1000"},
    "weight": {"ounce oz": "1/16", "pound lb": "1", "ton": "2000"},
    "volume": {"milliliter millilitre ml": "1/1000", "liter litre l": "1"},
    "kitchen": {"cup": "1/16", "pint": "1/8", "quart": "1/4", "gallon gal": "1"},
    "money": {"dollar usd": "1", "cent ¢": "1/100"},
    "euro": {"euro €": "1"},
    "pound sterling": {"sterling £": "1"},
    "angle": {"degree": "1"},
    "percent": {"percent percentage": "1"},
    "speed": {"mph": "1", "kph kmh": "1000000/1609344"},
    "bits": {"bit": "1", "byte": "8", "kilobyte kb": "8192", "megabyte mb": "8388608"},
}  # fmt: skip

UNITS: dict[str, Unit] = {
    spelling: Unit(spellings.split()[0], dimension, Fraction(factor))
    for dimension, rows in _TABLE.items()
    for spellings, factor in rows.items()
    for spelling in spellings.split()
}
# "Units" is what a problem without a unit of length of its own says; what it may stand for.
_ANY_UNIT = {"unit": {"length"}, "unit^2": {"length^2"}, "unit^3": {"length^3", "volume"}}
# A single letter after a number may be a variable: it is read as a unit only where the other side has one.
LETTER_UNITS = frozenset(name for name in UNITS if len(name) == 1 and name.isalpha())

_SQUARE = re.compile(r"^(?:(?P<square>square|sq\.?)|(?P<cubic>cubic|cu\.?))\s+(?P<rest>.+)$")
_POWER = re.compile(r"^(?P<name>[a-z]+)\s*\^?\s*\{?(?P<exponent>[23])\}?$")


def unit_of(words: str) -> Unit:
    """The unit that words name; unknown words become a unit without dimension, named by their singular."""
    words = re.sub(r"[.\s]+", " ", words.strip().casefold()).strip()
    if match := _SQUARE.match(words):
        return unit_of(match["rest"]).squared_or_cubed(2 if match["square"] else 3)
    if match := _POWER.match(words):
        return unit_of(match["name"]).squared_or_cubed(int(match["exponent"]))
    parts = re.split(r"\s*/\s*|\s+per\s+|\s+an?\s+", words, maxsplit=1)
    if len(parts) == 2 and all(parts):
        return _quotient(unit_of(parts[0]), unit_of(parts[1]))
    first = words.split(" ", 1)[0]  # "5 cm long" is in cm
    return known_unit(words) or known_unit(first) or Unit(" ".join(map(_singular, words.split())))


def may_be_one(a: Unit, b: Unit) -> bool:
    """Whether two different units may name one thing: two words we do not know, or "units" and a length."""
    if not a.dimension and not b.dimension:
        return True
    return a.dimension in _ANY_UNIT.get(b.name, ()) or b.dimension in _ANY_UNIT.get(a.name, ())


def known_unit(word: str) -> Unit | None:
    """The unit of one word when the table has it."""
    word = word.casefold()
    return UNITS.get(word) or UNITS.get(_singular(word))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _quotient(top: Unit, bottom: Unit) -> Unit:
    name = f"{top.name} per {bottom.name}"
    if name == "mile per hour":
        return UNITS["mph"]
    if not top.dimension or not bottom.dimension:
        return Unit(name)
    return Unit(name, f"{top.dimension} per {bottom.dimension}", top.factor / bottom.factor)
