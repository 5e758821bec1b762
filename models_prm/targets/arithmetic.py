"""False equalities inside a step ("12*3=46"), found by exact arithmetic: an extra, never a verdict on a step.

A step whose equalities hold may be wrong in every other way, so this labels wrong steps only. Text is read
by a small parser of its own; nothing is ever evaluated as code. What is not plain arithmetic is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from models_prm.targets.records import Counts, PoolSolution, StepTargets, up_to_error

_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]{1,60})\}\{([^{}]{1,60})\}")
_WORDS = (
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])|[×·∙⋅]"), "*"),
    (re.compile(r"\\div(?![A-Za-z])|÷"), "/"),
    (re.compile(r"\\(?:left|right)(?![A-Za-z])|\\[,;!]|\$|<<|>>"), " "),
    (re.compile(r"[−–]"), "-"),
)
_RUN = re.compile(r"[\d.,+\-*/^()= ]*=[\d.,+\-*/^()= ]*")
_TOKEN = re.compile(r"\s*(?:(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)|(\*\*|[+\-*/^()]))")
_STICKS = re.compile(r"[A-Za-z\\_{}%!'°:&|<~√π]")
_WORD_BEFORE = re.compile(r"(?:^|[^A-Za-z\\])(\\?[A-Za-z]+)\s*$")
_WORD_AFTER = re.compile(r"^\s*(\\?[A-Za-z]+)")
_MEANING = frozenset(["log", "ln", "sin", "cos", "tan", "mod", "base", "gcd", "lcm", "sqrt", "of", "percent"])
_LONGEST, _MOST_DIGITS, _LARGEST_POWER = 200, 30, 64


@dataclass(frozen=True)
class Equality:
    """An equality as written. `holds`: None where the sides are equal only after rounding (1/3 = 0.33)."""

    text: str
    holds: bool | None


class _NotArithmeticError(ValueError):
    """This is no arithmetic of ours."""


def equalities(step: str) -> list[Equality]:
    """The equalities of numbers in a step, each pair of neighbours of a chain for itself."""
    text = step
    for _ in range(3):  # nested fractions
        text = _FRACTION.sub(r"((\1)/(\2))", text)
    for pattern, plain in _WORDS:
        text = pattern.sub(plain, text)
    found: list[Equality] = []
    for run in _RUN.finditer(text):
        if len(run[0]) <= _LONGEST and _stands_alone(text, *run.span()):
            found += _chain(run[0].strip(" ,."))
    return found


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the run is whole: no variable, unit or function touches it, no operand of it lies outside."""
    run = text[start:end].strip()
    start += len(text[start:end]) - len(text[start:end].lstrip())
    before, after = text[:start], text[start + len(run) :]
    if (before and _STICKS.match(before[-1])) or (after and _STICKS.match(after[0])):
        return False
    word, follows = _WORD_BEFORE.search(before[-30:]), _WORD_AFTER.match(after[:30])
    if word and (word[1].lower() in _MEANING or word[1].startswith("\\")):
        return False
    if word and run[:1] in tuple("+-*/^=)"):  # "x - 3 = 5"
        return False
    if run[:1] in tuple("+-*/^=") and before.rstrip()[-1:] in tuple("})]"):
        return False
    if follows and (follows[1].lower() in _MEANING or follows[1].startswith("\\")):
        return False
    return not (follows and len(follows[1]) == 1 and follows[1] not in "aAI")


def _chain(run: str) -> Iterator[Equality]:
    sides = run.split("=")
    values = [_value(side) for side in sides]
    for (left, a), (right, b) in zip(
        zip(sides, values, strict=True), list(zip(sides, values, strict=True))[1:], strict=False
    ):
        if a is None or b is None or not (_counts_something(left) or _counts_something(right)):
            continue
        yield Equality(f"{left.strip()} = {right.strip()}", _equal(left, a, right, b))


def _counts_something(side: str) -> bool:
    return bool(re.search(r"[\d)]\s*[+\-*/^]\s*[\d(.\-]", side))


def _equal(left: str, a: Fraction, right: str, b: Fraction) -> bool | None:
    if a == b:
        return True
    shown = [(t, v, o) for t, v, o in ((left, a, b), (right, b, a)) if re.fullmatch(r"[-\s\d,]*\.\d+\s*", t)]
    for text, value, other in shown:
        digits = len(text.strip().rpartition(".")[2])
        if abs(value - other) <= Fraction(1, 10**digits):
            return None
    return False


def _value(side: str) -> Fraction | None:
    try:
        return _Parser(side).whole()
    except (_NotArithmeticError, ZeroDivisionError):
        return None


class _Parser:
    """Recursive descent over + - * / ^ and brackets, with exact fractions and bounds on their size."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str | Fraction] = []
        place = 0
        text = text.strip().rstrip(".,")
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise _NotArithmeticError(text)
            if match[1]:
                if len(match[1]) > _MOST_DIGITS:
                    raise _NotArithmeticError(match[1])
                self.tokens.append(Fraction(match[1].replace(",", "")))
            else:
                self.tokens.append("^" if match[2] == "**" else match[2])
            place = match.end()
        self.place = 0
        self.depth = 0

    def whole(self) -> Fraction:
        value = self.sum()
        if self.place != len(self.tokens):
            raise _NotArithmeticError(str(self.tokens[self.place]))
        return value

    def _take(self, *wanted: str) -> str | None:
        token = self.tokens[self.place] if self.place < len(self.tokens) else None
        if isinstance(token, str) and token in wanted:
            self.place += 1
            return token
        return None

    def sum(self) -> Fraction:
        value = self.product()
        while sign := self._take("+", "-"):
            other = self.product()
            value = value + other if sign == "+" else value - other
        return value

    def product(self) -> Fraction:
        value = self.signed()
        while sign := self._take("*", "/"):
            other = self.signed()
            value = value * other if sign == "*" else value / other
        return value

    def signed(self) -> Fraction:
        if self._take("-"):
            return -self.power()
        return self.power()

    def power(self) -> Fraction:
        base = self.atom()
        if not self._take("^"):
            return base
        exponent = self.signed()
        if exponent.denominator != 1 or abs(exponent) > _LARGEST_POWER:
            raise _NotArithmeticError("power")
        if max(abs(base.numerator), base.denominator).bit_length() * abs(exponent) > 4096:
            raise _NotArithmeticError("power")
        return Fraction(base ** int(exponent))

    def atom(self) -> Fraction:
        if self._take("("):
            self.depth += 1
            if self.depth > 20:
                raise _NotArithmeticError("brackets")
            value = self.sum()
            if not self._take(")"):
                raise _NotArithmeticError("bracket")
            return value
        token = self.tokens[self.place] if self.place < len(self.tokens) else None
        if not isinstance(token, Fraction):
            raise _NotArithmeticError(str(token))
        self.place += 1
        return token


def from_arithmetic(solutions: Iterable[PoolSolution], counts: Counts) -> Iterator[StepTargets]:
    """A row for each solution with a false equality: 0 at the first step that has one, no other label."""
    for solution in solutions:
        found = [equalities(step) for step in solution.steps]
        first = next((i for i, e in enumerate(found) if any(x.holds is False for x in e)), None)
        if first is None:
            counts["no false equality"] += 1
            continue
        counts["labelled"] += 1
        labels: list[float | None] = [0.0 if i == first else None for i in range(len(found))]
        record = {
            "first_error": first,
            "equalities": [
                {"step": i, "text": x.text, "holds": x.holds} for i, e in enumerate(found) for x in e
            ],
        }
        yield StepTargets(solution, up_to_error(labels, first), "arithmetic", record)
