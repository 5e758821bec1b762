"""Mixed numbers and double fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random
from typing import Self

from models_prm.practice.latex import frac, num
from models_prm.practice.pen import DeadEndError, Pen
from models_prm.practice.template import Template, fraction, person, register
from models_prm.practice.topics.fractions import reduced


@register
@dataclass(frozen=True)
class MixedNumbers(Template):
    """A difference of mixed numbers, as a length of ribbon or wood."""

    name, topic, level = "mixed-numbers", "fractions", 3
    wholes: tuple[int, int]
    parts: tuple[Fraction, Fraction]
    pieces: int
    who: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            parts = (fraction(rng, range(2, 9)), fraction(rng, range(2, 9)))
            wholes = (rng.randint(5, 12), rng.randint(1, 3))
            if parts[0].denominator != parts[1].denominator:
                return cls(wholes, parts, rng.randint(2, 3), person(rng)[0], rng.randrange(2))

    def text(self) -> str:
        long, short = self._mixed(0), self._mixed(1)
        count = "two" if self.pieces == 2 else "three"
        return (
            f"{self.who} has ${long}$ metres of ribbon and cuts off {count} pieces of ${short}$ metres each. "
            f"How many "
            "metres are left?",
            f"A board is ${long}$ metres long. From it, {count} shelves of ${short}$ metres each are sawn. "
            f"Find the "
            "length of the rest in metres (ignore the saw cuts).",
        )[self.voice]

    def _mixed(self, i: int) -> str:
        return f"{self.wholes[i]}{num(self.parts[i])}"

    def solve(self, pen: Pen) -> None:
        pen.given(f"We start with ${self._mixed(0)}$ and take away {self.pieces} times ${self._mixed(1)}$.")
        pen.plan("We write the mixed numbers as fractions.", "Improper fractions are easier to subtract.")
        long = self._improper(pen, 0)
        pen.step(
            f"~the length at the start is ${self._mixed(0)} = {num(long)}$.",
            f"As a fraction, ${self._mixed(0)} = {num(long)}$.",
        )
        short = self._improper(pen, 1)
        pen.step(
            f"One piece is ${self._mixed(1)} = {num(short)}$.",
            f"~each piece is ${self._mixed(1)} = {num(short)}$.",
        )
        if pen.slip("half_applied", f"{self.pieces} pieces are cut off, not one."):
            off = short
            pen.step(f"~we take off ${num(off)}$.", f"So ${num(off)}$ metres are cut off.")
        elif pen.slip("numerator_not_scaled"):
            off = Fraction(short.numerator * self.pieces, short.denominator * self.pieces)
            both = frac(short.numerator * self.pieces, short.denominator * self.pieces)
            pen.because(
                rf"a whole number multiplies only the numerator: ${self.pieces} \times {num(short)} = "
                f"{num(short * self.pieces)}$."
            )
            pen.step(
                rf"The pieces together are ${self.pieces} \times {num(short)} = {both}$.",
                rf"~${self.pieces} \times {num(short)} = {both}$ is cut off.",
            )
        else:
            off = short * self.pieces
            pen.step(
                rf"~the pieces together are ${self.pieces} \times {num(short)} = {num(off)}$.",
                rf"In all, ${self.pieces} \times {num(short)} = {num(off)}$ metres are cut off.",
            )
        self._subtract(pen, long, off)

    def _improper(self, pen: Pen, i: int) -> Fraction:
        whole, part = self.wholes[i], self.parts[i]
        right = whole + part
        if pen.slip("mixed_number"):
            wrong = Fraction(whole + part.numerator, part.denominator)
            pen.because(
                rf"the whole part must be multiplied by the denominator: ${self._mixed(i)} = {num(right)}$, "
                f"not ${num(wrong)}$."
            )
            return wrong
        return right

    def _subtract(self, pen: Pen, long: Fraction, off: Fraction) -> None:
        bottom = lcm(long.denominator, off.denominator)
        tops = int(long * bottom), int(off * bottom)
        if long.denominator != off.denominator and pen.slip("added_denominators"):
            low = abs(long.denominator - off.denominator)
            top = long.numerator - off.numerator
            pen.because(
                "fractions with different denominators cannot be subtracted top from top, bottom from bottom."
            )
            pen.step(f"~the difference is ${num(long)} - {num(off)} = {frac(top, low)}$.")
            pen.finish(num(Fraction(top, low)))
            return
        pen.step(
            f"~over the denominator {bottom} these are ${frac(tops[0], bottom)}$ and "
            f"${frac(tops[1], bottom)}$.",
            f"The common denominator is {bottom}, which gives ${num(long)} = {frac(tops[0], bottom)}$ and "
            f"${num(off)} = {frac(tops[1], bottom)}$.",
        )
        top = int(pen.sub(*tops))
        text, value = reduced(pen, top, bottom)
        shown = f"{frac(tops[0], bottom)} - {frac(tops[1], bottom)} = {text}"
        pen.finish(num(value), f"The rest is ${shown}$.", f"~we subtract: ${shown}$.")


@register
@dataclass(frozen=True)
class DoubleFraction(Template):
    """A sum of fractions over a difference of fractions."""

    name, topic, level = "double-fraction", "fractions", 4
    a: Fraction
    b: Fraction
    c: Fraction
    d: Fraction
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            a, b, c, d = (fraction(rng, range(2, 8)) for _ in range(4))
            result = (a + b) / (c - d) if c > d else Fraction(0)
            different = a.denominator != b.denominator and c.denominator != d.denominator and a != c
            if different and 1 < result < 12 and result.denominator <= 15:
                return cls(a, b, c, d, rng.randrange(2))

    def text(self) -> str:
        body = frac(f"{num(self.a)} + {num(self.b)}", f"{num(self.c)} - {num(self.d)}")
        return (
            f"Simplify the fraction ${body}$.",
            f"Write ${body}$ as a single number or fraction in lowest terms.",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        a, b, c, d = self.a, self.b, self.c, self.d
        pen.given(
            f"The numerator is ${num(a)} + {num(b)}$ and the denominator is ${num(c)} - {num(d)}$.",
        )
        if pen.slip("cancelled_terms"):
            value = a / c + b / -d
            pen.because("a fraction bar over sums cannot be split term by term; only common factors cancel.")
            pen.step(
                f"~we divide term by term: ${frac(f'{num(a)} + {num(b)}', f'{num(c)} - {num(d)}')} = "
                f"{num(a / c)} - {num(b / d)}$.",
            )
            pen.step(f"The two terms are ${num(a / c)}$ and ${num(b / d)}$.")
            pen.finish(num(value), f"Their difference is ${num(a / c)} - {num(b / d)} = {num(value)}$.")
            return
        pen.plan("We simplify top and bottom separately and divide.", "First the top, then the bottom.")
        top = self._combine(pen, a, b, "+")
        pen.recap(f"So the numerator is ${num(top)}$.")
        bottom = self._combine(pen, c, d, "-")
        if bottom == 0 or top == 0:
            raise DeadEndError
        self._quotient(pen, top, bottom)

    def _combine(self, pen: Pen, a: Fraction, b: Fraction, sign: str) -> Fraction:
        place, factor = ("numerator", 1) if sign == "+" else ("denominator", -1)
        low = lcm(a.denominator, b.denominator)
        tops = [int(a * low), int(b * low)]
        for i, x in enumerate((a, b)):
            if x.denominator != low and pen.slip("numerator_not_scaled"):
                pen.because(
                    f"${num(x)}$ over {low} is ${frac(tops[i], low)}$, because the numerator grows as well."
                )
                tops[i] = x.numerator
        if sign == "+" and pen.slip("added_denominators"):
            value = Fraction(a.numerator + b.numerator, a.denominator + b.denominator)
            pen.because(f"fractions need a common denominator: ${num(a)} + {num(b)} = {num(a + b)}$.")
            pen.step(f"~the {place} is ${num(a)} + {num(b)} = {num(value)}$.")
            return value
        top = tops[0] + factor * tops[1]
        value = Fraction(top, low)
        chain = (
            f"{num(a)} {sign} {num(b)} = {frac(tops[0], low)} {sign} {frac(tops[1], low)} = {frac(top, low)}"
        )
        if num(value) != frac(top, low):
            chain += f" = {num(value)}"
        pen.step(
            f"~the {place} is ${chain}$." if top else f"The {place} vanishes: ${chain}$.",
            f"For the {place} we find ${chain}$.",
        )
        return value

    def _quotient(self, pen: Pen, top: Fraction, bottom: Fraction) -> None:
        if pen.slip("inverted_wrong_fraction", "the denominator must be turned over, not the numerator."):
            value = bottom / top
            pen.step(rf"~${num(top)} \div {num(bottom)} = {num(1 / top)} \times {num(bottom)}$.")
        else:
            value = top / bottom
            pen.step(
                rf"~we divide: ${num(top)} \div {num(bottom)} = {num(top)} \times {num(1 / bottom)}$.",
                rf"Dividing by ${num(bottom)}$ is multiplying by ${num(1 / bottom)}$: "
                rf"${num(top)} \div {num(bottom)} = {num(top)} \times {num(1 / bottom)}$.",
            )
        pen.finish(num(value), f">the result is ${num(value)}$.", f"The product is ${num(value)}$.")
