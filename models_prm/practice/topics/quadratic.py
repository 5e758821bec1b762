"""Quadratic equations: factors, the formula, lost roots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import (
    DeadEndError,
    Number,
    factor,
    lin,
    num,
    par,
    quad,
    signed,
    term,
)
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register
from models_prm.practice.topics.quadratic_moves import (
    NONZERO,
    by_formula,
    conclude_roots,
    factor_pair,
    read_roots,
)


def list_both(roots: tuple[Number, Number]) -> str:
    """The question's demand for all solutions."""
    return (
        "List all solutions, separated by a comma, from smallest to largest." if roots[0] != roots[1] else ""
    )


@register
@dataclass(frozen=True)
class MonicQuadratic(Template):
    """x^2 + bx = c with whole roots."""

    name, topic, level = "monic-quadratic", "quadratic equations", 3
    roots: tuple[int, int]
    moved: bool
    symbol: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        p, q = rng.sample(NONZERO, 2)
        while p + q == 0:
            p, q = rng.sample(NONZERO, 2)
        return cls((p, q), rng.random() < 0.5, rng.choice("xxxyt"), rng.randrange(2))

    @property
    def coefficients(self) -> tuple[int, int]:
        p, q = self.roots
        return -(p + q), p * q

    def _equation(self) -> str:
        b, c = self.coefficients
        s = self.symbol
        return f"{quad(1, b, 0, s)} = {-c}" if self.moved else f"{quad(1, b, c, s)} = 0"

    def text(self) -> str:
        return (
            f"Solve ${self._equation()}$. {list_both(self.roots)}",
            f"Find all solutions of the equation ${self._equation()}$. List them from smallest to largest, "
            f"separated by a "
            "comma.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        b, c = self.coefficients
        return {self.symbol: self.roots, "D": (b * b - 4 * c,), "a": (1,), "b": (b,), "c": (c,)}

    def solve(self, pen: Pen) -> None:
        (p, q), (b, c), s = self.roots, self.coefficients, self.symbol
        pen.given(
            f"The equation is ${self._equation()}$.", f"We look for all ${s}$ with ${self._equation()}$."
        )
        pen.plan(
            "A quadratic equation can have two solutions.",
            "We want a product or the formula with zero on one side.",
        )
        if self.moved:
            if pen.slip(
                "sign_lost_moving",
                f"${-c}$ is subtracted on both sides, so the left side is ${quad(1, b, c, s)}$.",
            ):
                c = -c
            pen.step(
                f"~we bring everything to the left: ${quad(1, b, c, s)} = 0$.",
                f"With zero on the right side the equation is ${quad(1, b, c, s)} = 0$.",
            )
            if c != p * q:
                conclude_roots(pen, by_formula(pen, 1, b, c, s), s)
                return
        if pen.way("factors", "formula", "factors") == "formula":
            conclude_roots(pen, by_formula(pen, 1, b, c, s), s)
            return
        found = factor_pair(pen, p, q, s)
        pen.recap(f"The equation now has the form ${factor(found[0], s)}{factor(found[1], s)} = 0$.")
        roots = read_roots(pen, found, s)
        x = roots[0]
        pen.check(
            f"Check with ${s} = {num(x)}$: ${par(x)}^2 {signed(b)} \\times {par(x)} {signed(c)} = "
            f"{num(x * x + b * x + c)}$."
        )
        conclude_roots(pen, roots, s)


@register
@dataclass(frozen=True)
class GeneralQuadratic(Template):
    """ax^2 + bx + c = 0 with a > 1 and rational roots."""

    name, topic, level = "general-quadratic", "quadratic equations", 4
    a: int
    root: int
    other: Fraction
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            a, root = rng.choice((2, 2, 3, 4, 5)), rng.choice(NONZERO[2:-2])
            other = Fraction(rng.choice([n for n in range(-9, 10) if n]), a)
            if other.denominator == a and abs(other) != abs(root) and root + other:
                return cls(a, root, other, rng.randrange(2))

    @property
    def coefficients(self) -> tuple[int, int]:
        return int(-self.a * (self.root + self.other)), int(self.a * self.root * self.other)

    def text(self) -> str:
        b, c = self.coefficients
        return (
            f"Solve ${quad(self.a, b, c)} = 0$. List the solutions from smallest to largest, separated by a "
            f"comma.",
            f"What are the solutions of ${quad(self.a, b, c)} = 0$? Give them as fractions or whole numbers "
            f"in rising order, "
            "separated by a comma.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        a, (b, c) = self.a, self.coefficients
        return {"x": (self.root, self.other), "D": (b * b - 4 * a * c,), "a": (a,), "b": (b,), "c": (c,)}

    def solve(self, pen: Pen) -> None:
        a, (b, c) = self.a, self.coefficients
        pen.given(f"We have ${quad(a, b, c)} = 0$.")
        pen.plan("We use the quadratic formula.", "The leading coefficient is not 1, so we take the formula.")
        if pen.way("formula", "formula", "split") == "formula":
            conclude_roots(pen, by_formula(pen, a, b, c))
            return
        m, n = int(-self.root * a), int(-self.other * a)
        pen.step(
            rf"~we split the middle term with ${m} + {par(n)} = {b}$ and ${m} \times {par(n)} = {a * c}$: "
            rf"${quad(a, b, c)} = {quad(a, m, 0)} {signed(n)}x {signed(c)}$.",
        )
        inner = lin(a, n)
        pen.step(
            f"~both parts contain $x {signed(-self.root)}$: the equation is $(x "
            f"{signed(-self.root)})({inner}) = 0$.",
            f"Taking out the common factor gives $(x {signed(-self.root)})({inner}) = 0$.",
        )
        first, second = Fraction(self.root), self.other
        if pen.slip("root_sign", f"${inner} = 0$ means ${term(a, 'x')} = {-n}$, so $x = {num(self.other)}$."):
            second = -second
        elif pen.slip(
            "divided_upside_down", f"${inner} = 0$ means ${term(a, 'x')} = {-n}$, so $x = {num(self.other)}$."
        ):
            second = 1 / second
        pen.step(
            f">$x = {num(first)}$ or $x = {num(second)}$.",
            f"The factors vanish for $x = {num(first)}$ and $x = {num(second)}$.",
        )
        conclude_roots(pen, (first, second))


@register
@dataclass(frozen=True)
class LostRoot(Template):
    """ax^2 = bx."""

    name, topic, level = "lost-root", "quadratic equations", 3
    a: int
    root: int
    extra: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        return cls(
            rng.randint(1, 7),
            rng.choice([n for n in range(-12, 15) if abs(n) > 1]),
            rng.randint(1, 9),
            rng.randrange(2),
        )

    def text(self) -> str:
        a, e = self.a, self.extra
        left = quad(a + 1, e, 0)
        right = quad(1, e + a * self.root, 0)
        return (
            f"Find all solutions of ${left} = {right}$, listed from smallest to largest and separated by a "
            f"comma.",
            f"For which values of $x$ is ${left}$ equal to ${right}$? Give them in rising order, separated "
            f"by a comma.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"x": (0, self.root)}

    def solve(self, pen: Pen) -> None:
        a, e, b = self.a, self.extra, self.a * self.root
        left, right = quad(a + 1, e, 0), quad(1, e + b, 0)
        pen.given(f"We compare ${left}$ with ${right}$.")
        pen.plan("We collect the terms with $x^2$ and those with $x$.", "First we simplify the equation.")
        slope = b
        if pen.slip(
            "sign_lost_moving",
            f"${term(e, 'x')}$ is subtracted on both sides, which leaves ${term(b, 'x')}$.",
        ):
            slope = b + 2 * e
        pen.step(
            f"~we collect equal powers: ${term(a, 'x^2')} = {term(slope, 'x')}$.",
            f"Simplified, the equation is ${term(a, 'x^2')} = {term(slope, 'x')}$.",
        )
        pen.recap(f"We have come to ${term(a, 'x^2')} = {term(slope, 'x')}$.")
        if slope == 0:
            raise DeadEndError
        if pen.slip(
            "divided_by_unknown",
            "dividing by $x$ is allowed only for $x \\ne 0$, and $x = 0$ is a solution as well.",
        ):
            pen.step(
                f"~we divide both sides by $x$: ${term(a, 'x')} = {slope}$.",
                f"Dividing by $x$ leaves ${term(a, 'x')} = {slope}$.",
            )
            root = pen.div(slope, a)
            pen.finish(num(root), f">the solution is $x = {num(root)}$.")
            return
        inner = lin(a, -slope)
        pen.step(
            f"~everything on one side gives ${quad(a, -slope, 0)} = x({inner}) = 0$.",
            f"~we factor out $x$: $x({inner}) = 0$.",
        )
        if pen.slip("root_sign", f"${inner} = 0$ gives $x = {num(Fraction(slope, a))}$."):
            root = Fraction(-slope, a)
        else:
            root = pen.div(slope, a)
        pen.step(
            f">$x = 0$ or $x = {num(root)}$.", f"Either $x = 0$, or ${inner} = 0$ and $x = {num(root)}$."
        )
        conclude_roots(pen, (Fraction(0), root))
