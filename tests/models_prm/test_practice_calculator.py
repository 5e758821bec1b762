"""A small exact calculator for the mathematics in practice steps, and the tests of it."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import isqrt

import pytest

MATH = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.)+?)(?<!\\)\$|\\\((.+?)\\\)")
TOKEN = re.compile(r"\s*(\\(?:frac|sqrt|times|cdot|div|pm)|\\%|\\\$|\d+(?:\.\d+)?|[a-zA-Z]|[-+/^(){}])")


class NotSimpleError(Exception):
    """The text is no expression this calculator knows."""


class Calculator:
    """Evaluates one LaTeX expression; `sign` is what ``\\pm`` stands for."""

    def __init__(self, text: str, values: Mapping[str, Fraction], sign: int) -> None:
        self.tokens: list[str] = []
        end = 0
        while text[end:].strip():
            found = TOKEN.match(text, end)
            if not found:
                raise NotSimpleError(text)
            if found[1] != r"\$":
                self.tokens.append(found[1])
            end = found.end()
        self.values, self.sign, self.at = values, sign, 0

    def result(self) -> Fraction:
        value = self.sum()
        if self.at != len(self.tokens):
            raise NotSimpleError(self.tokens)
        return value

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise NotSimpleError(self.tokens)
        self.at += 1
        return token

    def sum(self) -> Fraction:
        value = self.product()
        while self.peek() in ("+", "-", r"\pm"):
            sign = {"+": 1, "-": -1, r"\pm": self.sign}[self.take()]
            value += sign * self.product()
        return value

    def product(self) -> Fraction:
        value = self.signed()
        while True:
            token = self.peek()
            if token in (r"\times", r"\cdot"):
                self.take()
                value *= self.signed()
            elif token in (r"\div", "/"):
                self.take()
                value /= self.signed()
            elif token and (token.isalnum() or token in ("(", r"\frac", r"\sqrt")):
                value *= self.power()
            else:
                return value

    def signed(self) -> Fraction:
        if self.peek() == "-":
            self.take()
            return -self.signed()
        if self.peek() == r"\pm":
            self.take()
            return self.sign * self.signed()
        return self.power()

    def power(self) -> Fraction:
        value = self.atom()
        if self.peek() == "^":
            self.take()
            value **= int(self.atom())
        if self.peek() == r"\%":
            self.take()
            value /= 100
        return value

    def atom(self) -> Fraction:
        token = self.take()
        if token[0].isdigit():
            value = Fraction(token)
            return value + self.atom() if self.peek() == r"\frac" else value  # a mixed number
        if token == "(":
            value = self.sum()
            self.take(")")
            return value
        if token == r"\frac":
            top, bottom = self.group(), self.group()
            return top / bottom
        if token == r"\sqrt":
            return exact_root(self.group())
        if token in self.values:
            return self.values[token]
        raise NotSimpleError(token)

    def group(self) -> Fraction:
        self.take("{")
        value = self.sum()
        self.take("}")
        return value


def exact_root(value: Fraction) -> Fraction:
    if value < 0 or value.denominator > 1 or isqrt(int(value)) ** 2 != value:
        raise NotSimpleError(value)
    return Fraction(isqrt(int(value)))


def formulas(step: str) -> list[str]:
    """The mathematics of a step, without its fences."""
    return [found[1] or found[2] for found in MATH.finditer(step)]


def holds(chain: str, unknowns: Mapping[str, tuple[Fraction, ...]]) -> bool:
    """Whether all parts of ``a = b = c`` are equal for some true values of the unknowns.

    A chain with a square of an unknown must hold for all its values, and with ``\\pm`` for both signs.
    Raises NotSimpleError where the chain is no simple equality.
    """
    parts = chain.split("=")
    if len(parts) < 2:
        raise NotSimpleError(chain)
    used = sorted(letter for letter in unknowns if letter in re.sub(r"\\[a-z]+", "", chain))

    def true_for(values: Mapping[str, Fraction], sign: int) -> bool:
        return len({Calculator(part, values, sign).result() for part in parts}) == 1

    choices = [dict(zip(used, some, strict=True)) for some in product(*(unknowns[name] for name in used))]
    signs = (1, -1) if r"\pm" in chain else (1,)
    enough = all if re.search(r"[a-z]\^2", chain) else any
    return all(enough([true_for(values, sign) for values in choices]) for sign in signs)


def judged(step: str, unknowns: Mapping[str, tuple[Fraction, ...]]) -> Iterator[tuple[str, bool]]:
    """Every simple equality of a step with its truth."""
    for chain in formulas(step):
        try:
            yield chain, holds(chain, unknowns)
        except (NotSimpleError, ZeroDivisionError):
            continue


@pytest.mark.parametrize(
    ("chain", "truth"),
    [
        (r"3 \times 4 + 2 = 14", True),
        (r"3 \times 4 = 12 + 5 = 17", False),
        (r"\frac{1}{2} + \frac{1}{3} = \frac{5}{6}", True),
        (r"\frac{1}{2} + \frac{1}{3} = \frac{2}{5}", False),
        (r"2\frac{3}{4} = \frac{11}{4}", True),
        (r"-7 - (-4) = -3", True),
        (r"\frac{\frac{1}{2} + 1}{3} = \frac{1}{2}", True),
        (r"15\% = 0.15", True),
        (r"\$12 - \$3.50 = \$8.50", True),
        (r"(-5)^2 - 4 \times 1 \times 6 = 1", True),
        (r"24 \div 6 \div 2 = 2", True),
    ],
)
def test_the_calculator_tells_true_equalities_from_false_ones(chain: str, truth: bool) -> None:
    assert holds(chain, {}) is truth


@pytest.mark.parametrize(
    ("chain", "truth"),
    [
        ("2x + 3 = 13", True),
        ("2x + 3 = 14", False),
        ("(x - 5)(x + 2) = 0", True),
        (r"x = \frac{3 \pm 7}{2}", True),
        (r"x = \frac{3 \pm 7}{1}", False),
        ("x = -5", False),
        ("b^2 - 4ac = 49", True),
    ],
)
def test_an_equation_is_true_when_a_true_value_of_the_unknown_satisfies_it(chain: str, truth: bool) -> None:
    five, two = Fraction(5), Fraction(-2)
    unknowns = {"x": (five, two), "a": (Fraction(1),), "b": (Fraction(-3),), "c": (Fraction(-10),)}
    assert holds(chain, unknowns) is truth


def test_words_and_approximations_are_left_alone() -> None:
    assert list(judged(r"$x \approx 3$ and $y = 2$, price $5 = $6", {})) == []
