"""A rectangle with a given area: a quadratic equation with one useful root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import DeadEndError, Number, dec, num, quad
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, person, register
from models_prm.practice.topics.linear_moves import divide_out, move_constant
from models_prm.practice.topics.quadratic_moves import (
    by_formula,
    factor_pair,
    read_roots,
)


@register
@dataclass(frozen=True)
class RectangleArea(Template):
    """A rectangle with a given area whose length exceeds its width."""

    name, topic, level = "rectangle-area", "quadratic equations", 4
    width: int
    more: int
    ask_border: bool
    who: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        return cls(
            rng.randint(3, 15), rng.randint(2, 11), rng.random() < 0.5, person(rng)[0], rng.randrange(2)
        )

    @property
    def area(self) -> int:
        return self.width * (self.width + self.more)

    def text(self) -> str:
        wanted = "its perimeter" if self.ask_border else "its width"
        return (
            f"A rectangle is {self.more} cm longer than it is wide, and its area is {self.area} square "
            f"centimetres. Find "
            f"{wanted} in centimetres.",
            f"{self.who} has a rectangular flower bed with an area of {self.area} m$^2$. It is {self.more} m "
            f"longer than wide. "
            f"What is {wanted} in metres?",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        m, area = self.more, self.area
        roots = (self.width, -self.width - m)
        return {"w": roots, "D": (m * m + 4 * area,), "a": (1,), "b": (m,), "c": (-area,)}

    def solve(self, pen: Pen) -> None:
        m, area = self.more, self.area
        pen.given(f"The area is {area} and the length is the width plus {m}.")
        if pen.slip("perimeter_for_area"):
            pen.because(
                f"{area} is the area, so the equation is $w(w + {m}) = {area}$; the step uses the perimeter."
            )
            pen.step(f"With the width $w$ we have $2(w + w + {m}) = {area}$.")
            moved = move_constant(pen, "4w", 2 * m, area)
            width = divide_out(pen, 4, moved, "w")
            self._answer(pen, width)
            return
        pen.step(
            f"Let $w$ be the width; the length is $w + {m}$ and the area is $w(w + {m}) = {area}$.",
            f"With the width $w$ and the length $w + {m}$ we get $w(w + {m}) = {area}$.",
        )
        if pen.slip(
            "distributed_first_only", f"$w(w + {m})$ is $w^2 + {m}w$, because $w$ multiplies both terms."
        ):
            square = area - m
            if square <= 0:
                raise DeadEndError
            pen.step(f"~we expand: $w^2 + {m} = {area}$, so $w^2 = {square}$.")
            width = Fraction(round(square**0.5, 1)).limit_denominator(10)
            pen.step(rf">$w = \sqrt{{{square}}} \approx {dec(width)}$, rounded to one place.")
            self._answer(pen, width)
            return
        pen.step(
            f"~this is $w^2 + {m}w = {area}$, or ${quad(1, m, -area, 'w')} = 0$.",
            f"Expanded and sorted, ${quad(1, m, -area, 'w')} = 0$.",
        )
        pen.recap(f"The equation for the width is ${quad(1, m, -area, 'w')} = 0$.")
        if pen.way("factors", "formula") == "formula":
            roots = by_formula(pen, 1, m, -area, "w")
        else:
            roots = read_roots(pen, factor_pair(pen, self.width, -self.width - m, "w"), "w")
        self._choose(pen, roots)

    def _choose(self, pen: Pen, roots: tuple[Fraction, ...]) -> None:
        good = [r for r in roots if r > 0]
        if len(good) != 1:
            raise DeadEndError
        if len(roots) > 1 and pen.slip("unjustified_jump"):
            width = -min(roots)
            pen.because(
                f"the root ${num(min(roots))}$ is impossible for a width; dropping its sign does not make it "
                f"right."
            )
            pen.step(f"A width cannot be negative, so from ${num(min(roots))}$ we take $w = {num(width)}$.")
        else:
            width = good[0]
            pen.step(
                f"A width is positive, so $w = {num(width)}$.",
                f"The negative value makes no sense for a width, which leaves $w = {num(width)}$.",
            )
        self._answer(pen, width)

    def _answer(self, pen: Pen, width: Fraction) -> None:
        m = self.more
        if not self.ask_border:
            if pen.slip("other_quantity", f"${dec(width + m)}$ is the length, but the width is asked for."):
                pen.finish(
                    dec(width + m), f">the rectangle measures ${dec(width)} + {m} = {dec(width + m)}$."
                )
                return
            pen.finish(
                dec(width), f">the width is {dec(width)}.", f"The width we look for is ${dec(width)}$."
            )
            return
        if pen.slip("other_quantity", f"${dec(width)}$ is the width; the question asks for the perimeter."):
            pen.finish(dec(width), f">the answer is {dec(width)}.")
            return
        length = width + m
        half = pen.add(width, length)
        if pen.slip(
            "one_side_counted", "the perimeter has two sides of each length, so the sum must be doubled."
        ):
            pen.finish(dec(half), f"The perimeter is ${dec(width)} + {dec(length)} = {dec(half)}$.")
            return
        pen.step(
            f"The sides are ${dec(width)}$ and ${dec(length)}$, and ${dec(width)} + {dec(length)} = "
            f"{dec(half)}$."
        )
        border = pen.mul(2, half)
        pen.finish(dec(border), rf">the perimeter is $2 \times {dec(half)} = {dec(border)}$.")
