"""Fractions: sums and quotients."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from random import Random
from typing import Self

from models_prm.practice.latex import frac, num
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, fraction, register


def reduced(pen: Pen, top: int, bottom: int) -> tuple[str, Fraction]:
    """Reduce a fraction in a chain ``a/b = c/d``: the text and the value, perhaps after a slip."""
    value, common = Fraction(top, bottom), gcd(top, bottom)
    if common == 1:
        return f"{frac(top, bottom)}", value
    if bottom // common > 1 and pen.slip("reduced_unevenly"):
        other = next((k for k in range(2, 30) if k != common and bottom % k == 0), 0)
        wrong = Fraction(top // common, bottom // other if other else bottom)
        pen.because(
            f"the numerator is divided by {common}, so the denominator must be divided by {common} too: "
            f"${frac(top, bottom)} = {num(value)}$."
        )
        return f"{frac(top, bottom)} = {num(wrong)}", wrong
    return f"{frac(top, bottom)} = {num(value)}", value


@register
@dataclass(frozen=True)
class SumOfFractions(Template):
    """a/b + c/d - e/f."""

    name, topic, level = "sum-of-fractions", "fractions", 2
    a: Fraction
    b: Fraction
    c: Fraction
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        reducible = rng.random() < 0.8
        while True:
            a, b, c = (fraction(rng, range(2, 13)) for _ in range(3))
            bottoms = {x.denominator for x in (a, b, c)}
            result = a + b - c
            small = len(bottoms) == 3 and lcm(*bottoms) <= 60
            if (
                small
                and result > 0
                and result.denominator > 1
                and (result.denominator < lcm(*bottoms)) == reducible
            ):
                return cls(a, b, c, rng.randrange(3))

    def text(self) -> str:
        body = f"{num(self.a)} + {num(self.b)} - {num(self.c)}"
        return (
            f"Compute ${body}$ and give the answer in lowest terms.",
            f"What is ${body}$? Write the result as a fraction in lowest terms.",
            f"Simplify: ${body}$.",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        a, b, c = self.a, self.b, self.c
        bottom = lcm(a.denominator, b.denominator, c.denominator)
        pen.given(f"We want to simplify ${num(a)} + {num(b)} - {num(c)}$.")
        if pen.slip("added_denominators"):
            both = Fraction(a.numerator + b.numerator, a.denominator + b.denominator)
            top, low = a.numerator + b.numerator, a.denominator + b.denominator
            pen.because(
                f"fractions are not added top to top and bottom to bottom: ${num(a)} + {num(b)} = "
                f"{num(a + b)}$, "
                f"not ${frac(top, low)}$."
            )
            pen.step(
                f"~the first two make ${num(a)} + {num(b)} = {frac(top, low)}$.",
                f"Adding the first two, we get ${num(a)} + {num(b)} = {frac(top, low)}$.",
            )
            result = both - c
            bottom = lcm(both.denominator, c.denominator)
            pen.step(
                f"With the common denominator {bottom}, ${num(both)} = {frac(int(both * bottom), bottom)}$ "
                f"and "
                f"${num(c)} = {frac(int(c * bottom), bottom)}$."
            )
            pen.finish(num(result), f">the result is ${num(both)} - {num(c)} = {num(result)}$.")
            return
        pen.plan("We bring all three to a common denominator.", f"The common denominator is {bottom}.")
        tops = self._scale(pen, bottom)
        pen.step(
            f"~over {bottom}, they are ${frac(tops[0], bottom)}$, ${frac(tops[1], bottom)}$ and "
            f"${frac(tops[2], bottom)}$: ${num(a)} = {frac(tops[0], bottom)}$, ${num(b)} = "
            f"{frac(tops[1], bottom)}$, "
            f"${num(c)} = {frac(tops[2], bottom)}$.",
            f"With denominator {bottom}: ${num(a)} = {frac(tops[0], bottom)}$, ${num(b)} = "
            f"{frac(tops[1], bottom)}$ "
            f"and ${num(c)} = {frac(tops[2], bottom)}$.",
            f"The least common multiple of the denominators is {bottom}, so ${num(a)} = "
            f"{frac(tops[0], bottom)}$, "
            f"${num(b)} = {frac(tops[1], bottom)}$, ${num(c)} = {frac(tops[2], bottom)}$.",
        )
        pen.recap(f"All three now have the denominator {bottom}.")
        total = int(pen.add(tops[0], tops[1]))
        pen.step(
            f"~the first two give ${frac(tops[0], bottom)} + {frac(tops[1], bottom)} = "
            f"{frac(total, bottom)}$.",
            f"Adding the numerators, ${tops[0]} + {tops[1]} = {total}$, so the sum of the first two is "
            f"${frac(total, bottom)}$.",
        )
        rest = int(pen.sub(total, tops[2]))
        pen.step(
            f"~subtracting leaves ${frac(total, bottom)} - {frac(tops[2], bottom)} = {frac(rest, bottom)}$.",
            f"Taking away the third, ${frac(total, bottom)} - {frac(tops[2], bottom)} = "
            f"{frac(rest, bottom)}$.",
        )
        text, value = reduced(pen, rest, bottom)
        pen.finish(num(value), f">the result is ${text}$.", f"In lowest terms this is ${text}$.")

    def _scale(self, pen: Pen, bottom: int) -> list[int]:
        tops = [int(x * bottom) for x in (self.a, self.b, self.c)]
        for i, x in enumerate((self.a, self.b, self.c)):
            if x.denominator != bottom and pen.slip("numerator_not_scaled"):
                pen.because(
                    f"the numerator must be multiplied by {bottom // x.denominator} as well: "
                    f"${num(x)} = {frac(tops[i], bottom)}$, not ${frac(x.numerator, bottom)}$."
                )
                tops[i] = x.numerator
        return tops


@register
@dataclass(frozen=True)
class FractionQuotient(Template):
    """How many portions: a fraction times a number divided by a fraction."""

    name, topic, level = "fraction-quotient", "fractions", 3
    bags: int
    bag: Fraction
    portion: Fraction
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            bags, bag, portion = rng.randint(2, 9), fraction(rng, range(2, 9)), fraction(rng, range(3, 13))
            count = bags * bag / portion
            if count.denominator == 1 and 4 <= count <= 60 and (bags * bag).denominator > 1:
                return cls(bags, bag, portion, rng.randrange(3))

    def text(self) -> str:
        n, b, p = self.bags, num(self.bag), num(self.portion)
        return (
            f"A cook has {n} bags with ${b}$ kg of flour each. One cake needs ${p}$ kg. How many cakes can "
            f"be made?",
            f"{n} bottles contain ${b}$ litre of juice each. The juice is poured into glasses of ${p}$ "
            f"litre. "
            "How many glasses are filled?",
            f"A roll of wire is made from {n} lengths of ${b}$ m each. How many pieces of ${p}$ m can be cut "
            f"from it?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        n, b, p = self.bags, self.bag, self.portion
        pen.given(f"There are {n} times ${num(b)}$, and every part takes ${num(p)}$.")
        pen.plan(
            "We find the whole amount and divide by one part.",
            "The number of parts is a quotient of fractions.",
        )
        top = int(pen.mul(n, b.numerator))
        if pen.slip("numerator_not_scaled", f"the {n} multiplies only the numerator of ${num(b)}$."):
            whole = Fraction(n * b.numerator, n * b.denominator)
            pen.step(
                rf"~the whole amount is ${n} \times {num(b)} = {frac(n * b.numerator, n * b.denominator)}$."
            )
        else:
            whole = Fraction(top, b.denominator)
            shown = frac(top, b.denominator)
            tail = "" if shown == num(whole) else f" = {num(whole)}"
            pen.step(
                rf"~the whole amount is ${n} \times {num(b)} = {shown}{tail}$.",
                rf"In all there is ${n} \times {num(b)} = {shown}{tail}$.",
            )
        turned = 1 / p
        if pen.slip("inverted_wrong_fraction"):
            result = p / whole
            pen.because(
                f"to divide by ${num(p)}$ we turn over ${num(p)}$, not ${num(whole)}$: the factor is "
                f"${num(turned)}$."
            )
            pen.step(
                rf"~we divide: ${num(whole)} \div {num(p)} = {num(1 / whole)} \times {num(p)}$.",
                rf"Dividing means multiplying by the reciprocal, ${num(whole)} \div {num(p)} = "
                rf"{num(1 / whole)} "
                rf"\times {num(p)}$.",
            )
            pen.finish(num(result), rf"This product is ${num(1 / whole)} \times {num(p)} = {num(result)}$.")
            return
        if pen.slip("divided_upside_down"):
            result = whole * p
            pen.because(rf"the division by ${num(p)}$ has become a multiplication by ${num(p)}$.")
            pen.step(rf"~we divide: ${num(whole)} \div {num(p)} = {num(whole)} \times {num(p)}$.")
            pen.finish(num(result), rf"This product is ${num(whole)} \times {num(p)} = {num(result)}$.")
            return
        pen.step(
            rf"~we divide by multiplying with the reciprocal: ${num(whole)} \div {num(p)} = {num(whole)} "
            rf"\times "
            rf"{num(turned)}$.",
            rf"The number of parts is ${num(whole)} \div {num(p)} = {num(whole)} \times {num(turned)}$.",
        )
        self._multiply(pen, whole, turned)

    def _multiply(self, pen: Pen, whole: Fraction, turned: Fraction) -> None:
        up = int(pen.mul(whole.numerator, turned.numerator))
        low = whole.denominator * turned.denominator
        product = frac(up, low) if low > 1 else str(up)
        pen.step(
            rf"~the product is ${num(whole)} \times {num(turned)} = {product}$.",
            rf"Multiplying tops and bottoms gives ${num(whole)} \times {num(turned)} = {product}$.",
        )
        if Fraction(up, low).denominator == 1 and low > 1:
            result = pen.div(up, low)
            pen.finish(
                num(result),
                f">the number is ${product} = {num(result)}$.",
                f"And ${product} = {num(result)}$.",
            )
            return
        pen.finish(num(Fraction(up, low)), f">the number is ${num(Fraction(up, low))}$.")
