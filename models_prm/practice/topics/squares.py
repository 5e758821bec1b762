"""Squares of sums: roots taken, brackets expanded, sums of squares of roots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from random import Random
from typing import Self

from models_prm.practice.latex import DeadEndError, Number, lin, num, par, poly, quad, signed, term
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register
from models_prm.practice.topics.linear_moves import move_constant
from models_prm.practice.topics.quadratic_moves import (
    NONZERO,
    by_formula,
    conclude_roots,
    factor_pair,
    read_roots,
)


@register
@dataclass(frozen=True)
class SquareEquals(Template):
    """(x + a)^2 = b^2."""

    name, topic, level = "square-equals", "quadratic equations", 3
    a: int
    b: int
    k: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        return cls(rng.choice(NONZERO), rng.randint(2, 12), rng.choice((1, 1, 2, 3, 5)), rng.randrange(2))

    def _equation(self) -> str:
        square = f"({lin(1, self.a)})^2"
        return f"{self.k if self.k > 1 else ''}{square} = {self.k * self.b * self.b}"

    def text(self) -> str:
        return (
            f"Solve ${self._equation()}$. List the solutions from smallest to largest, separated by a comma.",
            f"Which numbers $x$ satisfy ${self._equation()}$? Give them in rising order, separated by a "
            f"comma.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        a, b = self.a, self.b
        c = a * a - b * b
        return {"x": (b - a, -b - a), "D": (4 * b * b,), "a": (1,), "b": (2 * a,), "c": (c,)}

    def solve(self, pen: Pen) -> None:
        a, b, k = self.a, self.b, self.k
        pen.given(f"The equation to solve is ${self._equation()}$.")
        pen.plan("We undo the square by taking roots.", "The unknown stands inside a square.")
        square = Fraction(b * b)
        if k > 1:
            square = pen.div(k * b * b, k)
            pen.step(
                f"~we divide by ${k}$: $({lin(1, a)})^2 = {num(square)}$.",
                f"Dividing both sides by ${k}$ gives $({lin(1, a)})^2 = {num(square)}$.",
            )
        if pen.way("root", "root", "expand") == "expand":
            self._expand(pen, square)
            return
        root = exact_root(square)
        if pen.slip(
            "termwise_square",
            f"${num(square)}$ is the square of ${num(root)}$; a square root is not half of it.",
        ):
            half = square / 2
            pen.step(rf"~taking the root, ${lin(1, a)} = \pm {num(half)}$.")
            root = half
        elif pen.slip(
            "only_one_root",
            rf"a square is ${num(square)}$ for two numbers, so ${lin(1, a)} = \pm {num(root)}$.",
        ):
            pen.step(
                f"~taking the square root of both sides gives ${lin(1, a)} = {num(root)}$.",
                rf"Since $\sqrt{{{num(square)}}} = {num(root)}$, we have ${lin(1, a)} = {num(root)}$.",
            )
            value = move_constant(pen, "x", a, root)
            conclude_roots(pen, (value,))
            return
        else:
            pen.step(
                rf"~taking roots, ${lin(1, a)} = {num(root)}$ or ${lin(1, a)} = {num(-root)}$.",
                rf"~the square root gives two cases, ${lin(1, a)} = \pm {num(root)}$.",
            )
        pen.recap(f"There are two cases to look at, with ${num(root)}$ and ${num(-root)}$ on the right.")
        high = move_constant(pen, "x", a, root)
        low = -root - a
        if high == low:
            raise DeadEndError
        pen.step(
            f"In the other case, $x = {num(-root)} {signed(-a)} = {num(low)}$.",
            f"From ${lin(1, a)} = {num(-root)}$ we get $x = {num(low)}$.",
        )
        conclude_roots(pen, (high, low))

    def _expand(self, pen: Pen, square: Fraction) -> None:
        a = self.a
        b, c = 2 * a, a * a
        if pen.slip(
            "termwise_square", f"the square of a sum has a middle term: $({lin(1, a)})^2 = {quad(1, b, c)}$."
        ):
            b = 0
        pen.step(
            f"~we expand the square: $({lin(1, a)})^2 = {quad(1, b, c)}$.",
            f"Expanding, ${quad(1, b, c)} = {num(square)}$.",
        )
        rest = c - square
        if pen.slip("sign_lost_moving", f"${num(square)}$ must be subtracted on both sides."):
            rest = c + square
        pen.step(f">${quad(1, b, rest)} = 0$.", f"~with zero on the right, ${quad(1, b, rest)} = 0$.")
        if b == 0:
            value = -rest
            if value <= 0:
                raise DeadEndError
            root = exact_root(value)
            pen.step(f"So $x^2 = {num(value)}$ and $x$ is ${num(root)}$ or ${num(-root)}$.")
            conclude_roots(pen, (root, -root))
            return
        conclude_roots(pen, by_formula(pen, 1, b, int(rest)))


def exact_root(value: Fraction) -> Fraction:
    """The square root where it is a whole number, else a dead end."""
    if value < 0 or value.denominator > 1 or isqrt(int(value)) ** 2 != value:
        raise DeadEndError
    return Fraction(isqrt(int(value)))


@register
@dataclass(frozen=True)
class SquareIsLine(Template):
    """(x + a)^2 = bx + c, where a linear side makes expansion necessary."""

    name, topic, level = "square-is-line", "quadratic equations", 5
    a: int
    roots: tuple[int, int]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            p, q = rng.sample(NONZERO, 2)
            a = rng.choice(NONZERO)
            if p + q and 2 * a + p + q and abs(a * a - p * q) > 1:
                return cls(a, (p, q), rng.randrange(2))

    def _right(self) -> tuple[int, int]:
        p, q = self.roots
        return 2 * self.a + p + q, self.a * self.a - p * q

    def text(self) -> str:
        b, c = self._right()
        equation = f"({lin(1, self.a)})^2 = {lin(b, c)}"
        return (
            f"Find all real solutions of ${equation}$ and list them from smallest to largest, separated by a "
            f"comma.",
            f"Solve ${equation}$. Give all solutions in rising order, separated by a comma.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        p, q = self.roots
        return {"x": self.roots, "D": ((p - q) ** 2,), "a": (1,), "b": (-(p + q),), "c": (p * q,)}

    def solve(self, pen: Pen) -> None:
        (p, q), a = self.roots, self.a
        b, c = self._right()
        pen.given(f"The square of ${lin(1, a)}$ is to equal ${lin(b, c)}$.")
        pen.plan(
            "We expand the square and collect everything on one side.",
            "We need the form with zero on the right.",
        )
        middle = 2 * a
        if pen.slip(
            "termwise_square", f"the middle term is missing: $({lin(1, a)})^2 = {quad(1, 2 * a, a * a)}$."
        ):
            middle = 0
        pen.step(
            f"~we expand the left side: ${quad(1, middle, a * a)} = {lin(b, c)}$.",
            f"Since $({lin(1, a)})^2 = {quad(1, middle, a * a)}$, we have ${quad(1, middle, a * a)} = "
            f"{lin(b, c)}$.",
        )
        slope, rest = middle - b, a * a - c
        if pen.slip(
            "sign_lost_moving",
            f"${term(b, 'x')}$ is subtracted on both sides, giving ${term(middle - b, 'x')}$.",
        ):
            slope = middle + b
        elif pen.slip("sign_lost_moving", f"${c}$ is subtracted on both sides, giving ${a * a - c}$."):
            rest = a * a + c
        pen.step(
            f"~we collect everything on the left: ${quad(1, slope, rest)} = 0$.",
            f"Bringing all terms to the left gives ${quad(1, slope, rest)} = 0$.",
        )
        pen.recap(f"The equation in standard form is ${quad(1, slope, rest)} = 0$.")
        if (slope, rest) != (-(p + q), p * q) or pen.way("factors", "formula") == "formula":
            conclude_roots(pen, by_formula(pen, 1, slope, rest))
            return
        conclude_roots(pen, read_roots(pen, factor_pair(pen, p, q)))


@register
@dataclass(frozen=True)
class SumOfSquares(Template):
    """The sum of the squares of the roots, by Vieta or by solving."""

    name, topic, level = "sum-of-squares", "quadratic equations", 5
    roots: tuple[int, int]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            p, q = rng.sample(NONZERO, 2)
            if p + q:
                return cls((p, q), rng.randrange(2))

    def _equation(self) -> str:
        p, q = self.roots
        return f"{quad(1, -(p + q), p * q)} = 0"

    def text(self) -> str:
        return (
            f"Let $r$ and $s$ be the solutions of ${self._equation()}$. Find $r^2 + s^2$.",
            f"The equation ${self._equation()}$ has two solutions. What is the sum of their squares?",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        p, q = self.roots
        return {
            "r": (p,),
            "s": (q,),
            "x": (p, q),
            "D": ((p - q) ** 2,),
            "a": (1,),
            "b": (-(p + q),),
            "c": (p * q,),
        }

    def solve(self, pen: Pen) -> None:
        p, q = self.roots
        total, product = p + q, p * q
        pen.given(f"We look at the two solutions of ${self._equation()}$.")
        if pen.way("vieta", "vieta", "roots") == "roots":
            self._by_roots(pen)
            return
        pen.plan("We need not solve the equation: sum and product of the solutions are enough.")
        if pen.slip(
            "root_sign",
            f"the sum of the solutions is the coefficient of $x$ with the opposite sign, ${p + q}$.",
        ):
            total = -total
        pen.step(
            f"~call the solutions $r$ and $s$; then $r + s = {total}$ and $rs = {product}$.",
            f"With solutions $r$ and $s$ we read off $r + s = {total}$ and $rs = {product}$.",
        )
        if pen.slip(
            "termwise_square", "$(r + s)^2 = r^2 + 2rs + s^2$, so the term $2rs$ must be subtracted."
        ):
            square = pen_square = Fraction(total * total)
            pen.step(
                f"~the sum of the squares is $r^2 + s^2 = (r + s)^2 = {par(total)}^2 = {num(pen_square)}$."
            )
            pen.step("The product is not needed for this.", "So we do not need the product $rs$.")
            pen.finish(num(square))
            return
        pen.step(
            "~we use $r^2 + s^2 = (r + s)^2 - 2rs$.", "The identity $r^2 + s^2 = (r + s)^2 - 2rs$ helps here."
        )
        pen.recap(f"We know $r + s = {total}$ and $rs = {product}$.")
        square = pen.mul(abs(total), abs(total)) if abs(total) > 1 else Fraction(1)
        double = 2 * product
        if pen.slip("half_applied", f"the identity has $2rs = {double}$, not $rs = {product}$."):
            double = product
        pen.step(
            f"~$(r + s)^2 = {par(total)}^2 = {num(square)}$ and $2rs = {double}$.",
            f"Here $(r + s)^2 = {num(square)}$ and $2rs = {double}$.",
        )
        result = pen.sub(square, double)
        pen.finish(num(result), f">$r^2 + s^2 = {num(square)} - {par(double)} = {num(result)}$.")

    def _by_roots(self, pen: Pen) -> None:
        p, q = self.roots
        r, s = read_roots(pen, factor_pair(pen, p, q))
        pen.recap(f"The two solutions are ${num(r)}$ and ${num(s)}$.")
        if pen.slip("termwise_square"):
            total = (r + s) ** 2
            pen.because(f"the squares must be added, ${par(r)}^2 + {par(s)}^2$; the step squares the sum.")
            pen.finish(num(total), f">$r^2 + s^2 = ({poly((r, ''), (s, ''))})^2 = {num(total)}$.")
            return
        first, second = r * r, s * s
        if min(r, s) < 0 and pen.slip("sign_arithmetic"):
            negative = min(r, s)
            pen.because(f"the square of ${num(negative)}$ is positive, ${num(negative * negative)}$.")
            first, second = (-first, second) if r == negative else (first, -second)
        pen.step(
            f"~the squares are ${par(r)}^2 = {num(first)}$ and ${par(s)}^2 = {num(second)}$.",
            f"Squaring gives ${par(r)}^2 = {num(first)}$ and ${par(s)}^2 = {num(second)}$.",
        )
        total = pen.add(first, second)
        pen.finish(num(total), f">the sum is ${num(first)} {signed(second)} = {num(total)}$.")
