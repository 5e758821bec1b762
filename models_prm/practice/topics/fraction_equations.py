"""Linear equations with fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random
from typing import Self

from models_prm.practice.latex import Number, frac, lin, num, term
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register
from models_prm.practice.topics.linear_moves import ask, conclude, divide_out, move_constant


@register
@dataclass(frozen=True)
class FractionEquation(Template):
    """(x + a)/b + x/c = d."""

    name, topic, level = "fraction-equation", "linear equations", 4
    a: int
    b: int
    c: int
    root: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            b, c = rng.sample(range(2, 9), 2)
            a, root = rng.randint(1, 9), rng.randint(-6, 24)
            right = Fraction(root + a, b) + Fraction(root, c)
            if root and right.denominator == 1 and lcm(b, c) <= 40:
                return cls(a, b, c, root, rng.randrange(3))

    @property
    def right(self) -> int:
        return int(Fraction(self.root + self.a, self.b) + Fraction(self.root, self.c))

    def _left(self) -> str:
        return f"{frac(lin(1, self.a), self.b)} + {frac('x', self.c)}"

    def text(self) -> str:
        return ask(self.voice, f"{self._left()} = {self.right}", "x")

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"x": (self.root,)}

    def solve(self, pen: Pen) -> None:
        a, b, c, right = self.a, self.b, self.c, self.right
        pen.given(f"We solve ${self._left()} = {right}$.")
        if pen.slip("added_denominators"):
            pen.because(
                "fractions with different denominators are not added top to top and bottom to bottom."
            )
            pen.step(f"~the left side is ${self._left()} = {frac(lin(2, a), b + c)}$.")
            moved = Fraction(right * (b + c))
            pen.step(f"Multiplying by ${b + c}$, ${lin(2, a)} = {num(moved)}$.")
            conclude(pen, divide_out(pen, 2, move_constant(pen, "2x", a, moved)))
            return
        low = lcm(b, c)
        pen.plan(
            f"We multiply both sides by {low} to remove the fractions.", "We clear the denominators first."
        )
        up, down = low // b, low // c
        big = Fraction(right)
        if right and pen.slip("one_side_only", f"the right side must be multiplied by ${low}$ as well."):
            pass
        else:
            big = pen.mul(right, low) if right else Fraction(0)
        first = f"{up}({lin(1, a)})" if up > 1 else lin(1, a)
        pen.step(
            f"~we multiply by ${low}$: ${first} + {term(down, 'x')} = {num(big)}$.",
            f"Multiplied by ${low}$, the equation becomes ${first} + {term(down, 'x')} = {num(big)}$.",
        )
        pen.recap(f"The equation without fractions is ${first} + {term(down, 'x')} = {num(big)}$.")
        shift = up * a
        if up > 1 and pen.slip("distributed_first_only", f"the ${up}$ also multiplies the ${a}$."):
            shift = a
        slope = pen.add(up, down)
        pen.step(
            f"~we expand and collect: ${lin(slope, shift)} = {num(big)}$.",
            f"The left side is ${lin(slope, shift)}$, so ${lin(slope, shift)} = {num(big)}$.",
        )
        moved = move_constant(pen, term(slope, "x"), shift, big)
        root = divide_out(pen, slope, moved)
        conclude(pen, root)


@register
@dataclass(frozen=True)
class Proportion(Template):
    """(x + a)/b = (x + c)/d, by cross multiplication."""

    name, topic, level = "proportion", "linear equations", 4
    a: int
    b: int
    c: int
    d: int
    root: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            b, d = rng.sample(range(2, 10), 2)
            root, a = rng.randint(-9, 15), rng.randint(-9, 9)
            c = Fraction(d * (root + a), b) - root
            if a and c and root and c.denominator == 1 and abs(c) < 15 and d > b and root + a:
                return cls(a, b, int(c), d, root, rng.randrange(3))

    def text(self) -> str:
        return ask(self.voice, f"{frac(lin(1, self.a), self.b)} = {frac(lin(1, self.c), self.d)}", "x")

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"x": (self.root,)}

    def solve(self, pen: Pen) -> None:
        a, b, c, d = self.a, self.b, self.c, self.d
        pen.given(f"Two fractions are equal: ${frac(lin(1, a), b)} = {frac(lin(1, c), d)}$.")
        pen.plan("We cross-multiply.", "We multiply by both denominators and solve.")
        if pen.slip(
            "inverted_wrong_fraction",
            f"in cross multiplication the numerator ${lin(1, a)}$ is multiplied by ${d}$.",
        ):
            b, d = d, b
        pen.step(
            f"~cross-multiplying gives ${d}({lin(1, a)}) = {b}({lin(1, c)})$.",
            f"Multiplying both sides by the denominators, ${d}({lin(1, a)}) = {b}({lin(1, c)})$.",
        )
        left, right = d * a, b * c
        if pen.slip(
            "distributed_first_only",
            f"the ${d}$ multiplies both terms: ${d}({lin(1, a)}) = {lin(d, d * a)}$.",
        ):
            left = a
        pen.step(
            f"~we expand both sides: ${lin(d, left)} = {lin(b, right)}$.",
            f"Expanded, this is ${lin(d, left)} = {lin(b, right)}$.",
        )
        pen.recap(f"We have reached ${lin(d, left)} = {lin(b, right)}$.")
        if pen.slip("sign_lost_moving", f"${term(b, 'x')}$ must be subtracted on both sides."):
            slope = Fraction(d + b)
        else:
            slope = Fraction(d - b)
        pen.step(
            f"~with $x$ on one side only, ${lin(slope, left)} = {right}$.",
            f"Collecting the $x$ terms: ${lin(slope, left)} = {right}$.",
        )
        moved = move_constant(pen, term(slope, "x"), left, right)
        conclude(pen, divide_out(pen, slope, moved))
