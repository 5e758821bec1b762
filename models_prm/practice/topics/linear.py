"""Linear equations in one unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import Number, lin, num, par, poly, signed, term
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register
from models_prm.practice.topics.linear_moves import ask, conclude, divide_out, move_constant


@register
@dataclass(frozen=True)
class TwoSteps(Template):
    """ax + b = c."""

    name, topic, level = "two-steps", "linear equations", 1
    a: int
    b: int
    root: int
    symbol: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        b = rng.choice([n for n in range(-19, 20) if abs(n) > 2])
        return cls(rng.randint(2, 9), b, rng.randint(-6, 14) or 8, rng.choice("xxxynt"), rng.randrange(3))

    def text(self) -> str:
        right = self.a * self.root + self.b
        return ask(self.voice, f"{lin(self.a, self.b, self.symbol)} = {right}", self.symbol)

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {self.symbol: (self.root,)}

    def solve(self, pen: Pen) -> None:
        a, b, s = self.a, self.b, self.symbol
        right = a * self.root + b
        left = lin(a, b, s)
        pen.given(f"The equation is ${left} = {right}$ and we look for ${s}$.")
        pen.plan(f"We isolate ${s}$.", f"We undo the operations on ${s}$ one by one.")
        if b > 0 and pen.slip("combined_unlike_terms"):
            pen.because(f"${term(a, s)}$ and ${b}$ are unlike terms and do not add up to ${term(a + b, s)}$.")
            pen.step(
                f"~we simplify the left side: ${left} = {term(a + b, s)}$.",
                f"The left side is ${left} = {term(a + b, s)}$.",
            )
            pen.step(f">${term(a + b, s)} = {right}$.", f"The equation becomes ${term(a + b, s)} = {right}$.")
            conclude(pen, divide_out(pen, a + b, Fraction(right), s), s)
            return
        if pen.way("usual", "usual", "divide first") == "divide first" and pen.slip("one_side_only"):
            pen.because(f"the whole left side must be divided by ${a}$, also the ${num(abs(b))}$.")
            moved = Fraction(right, a)
            pen.step(f"~we divide by ${a}$ first: ${lin(1, b, s)} = {num(moved)}$.")
            conclude(pen, move_constant(pen, s, b, moved), s)
            return
        moved = move_constant(pen, term(a, s), b, right)
        pen.recap(f"We now have ${term(a, s)} = {num(moved)}$.")
        root = divide_out(pen, a, moved, s)
        if root.denominator == 1:
            pen.check(rf"Check: ${a} \times {par(root)} {signed(b)} = {num(a * root + b)}$, as it should be.")
        conclude(pen, root, s)


@register
@dataclass(frozen=True)
class BothSides(Template):
    """a(x + b) = cx + d."""

    name, topic, level = "both-sides", "linear equations", 2
    a: int
    b: int
    c: int
    root: int
    symbol: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        a = rng.randint(3, 9)
        b = rng.choice([n for n in range(-9, 10) if abs(n) > 1])
        c = rng.randint(1, a - 1)
        return cls(a, b, c, rng.randint(-8, 12) or 5, rng.choice("xxyz"), rng.randrange(3))

    @property
    def d(self) -> int:
        return self.a * (self.root + self.b) - self.c * self.root

    def text(self) -> str:
        s = self.symbol
        return ask(self.voice, f"{self.a}({lin(1, self.b, s)}) = {lin(self.c, self.d, s)}", s)

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {self.symbol: (self.root,)}

    def solve(self, pen: Pen) -> None:
        a, b, c, d, s = self.a, self.b, self.c, self.d, self.symbol
        left, right = f"{a}({lin(1, b, s)})", lin(c, d, s)
        pen.given(f"We have to solve ${left} = {right}$.")
        pen.plan(
            f"We expand the bracket and collect the terms with ${s}$.",
            f"First the bracket, then all ${s}$ to one side.",
        )
        if pen.slip("distributed_first_only"):
            shift = Fraction(b)
            pen.because(f"the ${a}$ multiplies the whole bracket: ${left} = {lin(a, a * b, s)}$.")
        else:
            shift = pen.mul(a, b)
        pen.step(
            f"~we expand the left side: ${left} = {lin(a, shift, s)}$, so ${lin(a, shift, s)} = {right}$.",
            f"Expanding gives ${lin(a, shift, s)} = {right}$.",
            f"Multiplying out, we get ${lin(a, shift, s)} = {right}$.",
        )
        if pen.slip("sign_lost_moving"):
            slope = Fraction(a + c)
            pen.because(
                f"${term(c, s)}$ is subtracted on both sides, so the left side has ${term(a - c, s)}$."
            )
            pen.step(
                f"~we bring ${term(c, s)}$ to the left: ${lin(slope, shift, s)} = {d}$.",
                f"Collecting the terms with ${s}$ on the left gives ${lin(slope, shift, s)} = {d}$.",
            )
        else:
            slope = pen.sub(a, c)
            pen.step(
                f"~we subtract ${term(c, s)}$ on both sides: ${lin(slope, shift, s)} = {d}$.",
                f"Collecting the terms with ${s}$ on the left gives ${lin(slope, shift, s)} = {d}$.",
            )
        moved = Fraction(d)
        if shift:
            moved = move_constant(pen, term(slope, s), shift, d)
        pen.recap(f"This leaves ${term(slope, s)} = {num(moved)}$.")
        conclude(pen, divide_out(pen, slope, moved, s), s)


@register
@dataclass(frozen=True)
class MinusBracket(Template):
    """a - b(x - c) = d x + e."""

    name, topic, level = "minus-bracket", "linear equations", 3
    a: int
    b: int
    c: int
    d: int
    root: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        return cls(
            rng.randint(5, 30),
            rng.randint(2, 6),
            rng.randint(2, 9),
            rng.randint(1, 5),
            rng.randint(-5, 9) or 4,
            rng.randrange(3),
        )

    @property
    def e(self) -> int:
        return self.a - self.b * (self.root - self.c) - self.d * self.root

    def _sides(self) -> tuple[str, str]:
        return f"{self.a} - {self.b}(x - {self.c})", lin(self.d, self.e)

    def text(self) -> str:
        left, right = self._sides()
        return ask(self.voice, f"{left} = {right}", "x")

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"x": (self.root,)}

    def solve(self, pen: Pen) -> None:
        a, b, c, d, e = self.a, self.b, self.c, self.d, self.e
        left, right = self._sides()
        pen.given(f"The equation is ${left} = {right}$.")
        pen.plan(
            "We expand the bracket, taking care of the minus sign.",
            "We remove the bracket and sort the terms.",
        )
        if a > b and pen.slip(
            "order_of_operations",
            f"the ${b}$ multiplies the bracket, which comes before taking anything away from ${a}$.",
        ):
            pen.step(f"~we subtract: ${left} = {a - b}(x - {c})$, so ${a - b}(x - {c}) = {right}$.")
            first = pen.mul(a - b, c)
            pen.step(f"~we expand: ${lin(a - b, -first)} = {right}$.")
            self._collect(pen, -first, Fraction(a - b), d, e)
            return
        extra = b * c
        if pen.slip(
            "minus_not_distributed", f"minus times minus is plus: $-{b}(x - {c}) = -{b}x + {b * c}$."
        ):
            extra = -b * c
        elif pen.slip(
            "distributed_first_only",
            f"the ${b}$ also multiplies the ${c}$: $-{b}(x - {c}) = -{b}x + {b * c}$.",
        ):
            extra = c
        pen.step(
            f"~we expand: ${left} = {poly((a, ''), (-b, 'x'), (extra, ''))}$.",
            f"Without the bracket the equation is ${poly((a, ''), (-b, 'x'), (extra, ''))} = {right}$.",
        )
        if a > b and pen.slip("combined_unlike_terms"):
            wrong = a - b
            pen.because(
                f"${a}$ and ${term(-b, 'x')}$ are unlike terms; the constants are ${a}$ and ${extra}$."
            )
            pen.step(f"~we collect on the left: ${lin(wrong, extra)} = {right}$.")
            constant, slope = Fraction(extra), Fraction(wrong)
        else:
            constant, slope = pen.add(a, extra), Fraction(-b)
            pen.step(
                f"~the constants on the left make ${a} {signed(extra)} = {num(constant)}$, so "
                f"${poly((constant, ''), (slope, 'x'))} = {right}$.",
                f"Collecting the constants gives ${poly((constant, ''), (slope, 'x'))} = {right}$.",
            )
        pen.recap(f"So far we have ${poly((constant, ''), (slope, 'x'))} = {right}$.")
        self._collect(pen, constant, slope, d, e)

    def _collect(self, pen: Pen, constant: Fraction, slope: Fraction, d: int, e: int) -> None:
        if pen.slip("sign_lost_moving"):
            total = slope + d
            pen.because(
                f"${term(d, 'x')}$ is subtracted on both sides, which gives ${term(slope - d, 'x')}$ on the "
                f"left."
            )
        else:
            total = slope - d
        pen.step(
            f"~we bring the terms with $x$ to the left: ${poly((constant, ''), (total, 'x'))} = {e}$.",
            f"With all $x$ on the left, ${poly((constant, ''), (total, 'x'))} = {e}$.",
        )
        moved = Fraction(e)
        if constant:
            moved = move_constant(pen, term(total, "x"), constant, e)
        conclude(pen, divide_out(pen, total, moved))
