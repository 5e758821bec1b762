"""Whole numbers: order of operations, signed numbers, long multiplication."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import dec, num, par, signed
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register


@register
@dataclass(frozen=True)
class MixedOperations(Template):
    """a + b * c - d / e."""

    name, topic, level = "mixed-operations", "arithmetic", 1
    a: int
    b: int
    c: int
    d: int
    e: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        e = rng.randint(2, 9)
        b, c = rng.randint(3, 12), rng.randint(4, 12)
        return cls(rng.randint(11, 60), b, c, e * rng.randint(3, 9), e, rng.randrange(3))

    def text(self) -> str:
        body = rf"{self.a} + {self.b} \times {self.c} - {self.d} \div {self.e}"
        return (
            f"Compute ${body}$.",
            f"What is the value of ${body}$?",
            f"Evaluate the expression ${body}$.",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        a, b, c, d, e = self.a, self.b, self.c, self.d, self.e
        pen.given(
            rf"We have to compute ${a} + {b} \times {c} - {d} \div {e}$.",
            rf"The expression is ${a} + {b} \times {c} - {d} \div {e}$, with four numbers joined to ${a}$.",
        )
        pen.plan(
            "Multiplication and division come before addition and subtraction.",
            "By the order of operations, we do the product and the quotient first.",
        )
        if pen.way("usual", "usual", "quotient first") == "quotient first":
            quotient = self._quotient(pen)
            product = self._product(pen)
        elif pen.slip(
            "order_of_operations", f"the product comes before the sum, but the step adds ${a} + {b}$ first."
        ):
            total = Fraction((a + b) * c)
            pen.step(rf"~we start with ${a} + {b} \times {c} = {a + b} \times {c} = {total}$.")
            self._close(pen, total, self._quotient(pen))
            return
        else:
            product = self._product(pen)
            quotient = self._quotient(pen)
        pen.recap(f"So the expression has become ${a} + {dec(product)} - {dec(quotient)}$.")
        self._close(pen, self._sum(pen, product, quotient), quotient)

    def _product(self, pen: Pen) -> Fraction:
        a, b, c = self.a, self.b, self.c
        product = pen.mul(b, c)
        pen.step(
            rf"~we multiply: ${b} \times {c} = {dec(product)}$.",
            rf"The product is ${b} \times {c} = {dec(product)}$.",
            rf"For the product we get ${b} \times {c} = {dec(product)}$.",
            rf"~${b} \times {c} = {dec(product)}$, so the expression starts with ${a} + {dec(product)}$.",
        )
        return product

    def _quotient(self, pen: Pen) -> Fraction:
        d, e = self.d, self.e
        quotient = pen.div(d, e)
        pen.step(
            rf"~we divide: ${d} \div {e} = {dec(quotient)}$.",
            rf"The quotient is ${d} \div {e} = {dec(quotient)}$.",
            rf"~the division gives ${d} \div {e} = {dec(quotient)}$.",
        )
        return quotient

    def _sum(self, pen: Pen, product: Fraction, quotient: Fraction) -> Fraction:
        a = self.a
        if pen.slip("running_equals"):
            total = a + product
            pen.because(
                f"the equals signs are strung together: ${a} + {dec(product)}$ is ${dec(total)}$, "
                f"which is not equal to ${dec(total - quotient)}$."
            )
            pen.step(
                f"~we add and subtract: ${a} + {dec(product)} = {dec(total)} - {dec(quotient)} "
                f"= {dec(total - quotient)}$."
            )
            return total
        total = pen.add(a, product)
        pen.step(
            f"~the sum is ${a} + {dec(product)} = {dec(total)}$.",
            f"~adding from the left, ${a} + {dec(product)} = {dec(total)}$.",
        )
        return total

    def _close(self, pen: Pen, total: Fraction, quotient: Fraction) -> None:
        result = pen.sub(total, quotient)
        pen.finish(
            dec(result),
            f"Finally, ${dec(total)} - {dec(quotient)} = {dec(result)}$.",
            f"Subtracting the quotient leaves ${dec(total)} - {dec(quotient)} = {dec(result)}$.",
        )


@register
@dataclass(frozen=True)
class SignedNumbers(Template):
    """a - b(c - d) - e with signed numbers."""

    name, topic, level = "signed-numbers", "arithmetic", 2
    a: int
    b: int
    c: int
    d: int
    e: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        c = rng.randint(2, 9)
        d = c + rng.randint(2, 7)
        return cls(rng.randint(-12, -2), rng.randint(2, 6), c, d, rng.randint(-9, -2), rng.randrange(3))

    def text(self) -> str:
        body = f"{self.a} - {self.b}({self.c} - {self.d}) - ({self.e})"
        return (f"Simplify ${body}$.", f"Find the value of ${body}$.", f"What number is ${body}$ equal to?")[
            self.voice
        ]

    def solve(self, pen: Pen) -> None:
        a, b, c, d, e = self.a, self.b, self.c, self.d, self.e
        pen.given(f"The expression to work out is ${a} - {b}({c} - {d}) - ({e})$.")
        pen.plan("We work from the bracket outwards.", "First the bracket, then the product, then the rest.")
        if pen.way("bracket", "bracket", "expand") == "bracket":
            inner = pen.sub(c, d)
            pen.step(
                f"~the bracket is ${c} - {d} = {dec(inner)}$.",
                f"Inside the bracket, ${c} - {d} = {dec(inner)}$.",
            )
            product = pen.mul(b, inner)
            pen.step(
                rf"~the product is ${b} \times {par(inner)} = {dec(product)}$.",
                rf"~multiplying by ${b}$ gives ${b} \times {par(inner)} = {dec(product)}$.",
            )
            pen.recap(f"We are left with ${a} - {par(product)} - ({e})$.")
            if pen.slip("sign_arithmetic"):
                total = a + product
                pen.because(
                    f"taking away ${par(product)}$ is the same as adding ${dec(-product)}$, "
                    f"so the result is ${dec(a - product)}$, not ${dec(total)}$."
                )
            else:
                total = a - product
            pen.step(
                f"~${a} - {par(product)} = {dec(total)}$.",
                f"Taking it away from ${a}$ gives ${a} - {par(product)} = {dec(total)}$.",
            )
        else:
            if pen.slip(
                "minus_not_distributed",
                f"the minus before the bracket also changes the sign of ${d}$: "
                f"$-{b}({c} - {d}) = -{b * c} + {b * d}$.",
            ):
                total = Fraction(a - b * c - b * d)
                tail = f"{a} - {b * c} - {b * d}"
            else:
                total = Fraction(a - b * c + b * d)
                tail = f"{a} - {b * c} + {b * d}"
            pen.step(
                f"~we expand the bracket: ${a} - {b}({c} - {d}) = {tail}$.",
                f"Expanding, ${a} - {b}({c} - {d}) = {tail}$.",
            )
            first = pen.sub(a, b * c)
            total = first + (total - (a - b * c))
            pen.step(
                f"~${a} - {b * c} = {dec(first)}$, and with the other term this makes "
                f"${dec(first)} {signed(total - first)} = {dec(total)}$."
            )
        last = pen.sub(total, e)
        pen.finish(
            num(last),
            f"Last, ${dec(total)} - ({e}) = {dec(last)}$.",
            f"Minus ${e}$ means plus ${-e}$: ${dec(total)} - ({e}) = {dec(last)}$.",
        )


@register
@dataclass(frozen=True)
class Crates(Template):
    """Long multiplication by splitting, then a product with a third number or a remainder."""

    name, topic, level = "crates", "arithmetic", 2
    crates: int
    each: int
    sold: int
    thing: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        crates, each = rng.randint(13, 48), rng.choice([n for n in range(14, 69) if n % 10])
        things = ("oranges", "eggs", "light bulbs", "tiles", "apples", "candles", "bread rolls")
        return cls(crates, each, rng.randint(55, 180), rng.choice(things), rng.randrange(3))

    def text(self) -> str:
        n, e, s, t = self.crates, self.each, self.sold, self.thing
        return (
            f"A warehouse receives {n} crates with {e} {t} in each. It sends out {s} {t}. How many {t} are "
            f"left?",
            f"There are {e} {t} in a crate. A shop has {n} full crates and sells {s} {t} on Monday. "
            f"How many {t} does it still have?",
            f"{n} crates hold {e} {t} each, but {s} {t} turn out to be damaged. How many {t} are fine?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        n, t, s = self.crates, self.thing, self.sold
        pen.given(
            f"There are {n} crates with {self.each} {t} each, and {s} {t} go away.",
            f"We know the number of crates, {n}, and that each holds {self.each} {t}.",
        )
        pen.plan(
            f"We multiply to get all {t} and then take away {s}.",
            f"The number of {t} at the start is a product; {s} must come off it.",
        )
        each = int(pen.copy(self.each))
        tens, ones = each - each % 10, each % 10
        pen.step(
            rf"~we split ${each} = {tens} + {ones}$ to work out ${n} \times {each}$.",
            rf"To find ${n} \times {each}$, write it as ${n} \times {tens} + {n} \times {ones}$.",
            rf"The crates hold ${n} \times {each} = {n} \times ({tens} + {ones})$ {t}.",
        )
        first = pen.mul(n, tens)
        second = pen.mul(n, ones)
        pen.step(
            rf"~${n} \times {tens} = {dec(first)}$ and ${n} \times {ones} = {dec(second)}$.",
            rf"The parts are ${n} \times {tens} = {dec(first)}$ and ${n} \times {ones} = {dec(second)}$.",
        )
        total = pen.add(first, second)
        pen.step(
            f">there are ${dec(first)} + {dec(second)} = {dec(total)}$ {t} in all the crates.",
            f"Together ${dec(first)} + {dec(second)} = {dec(total)}$.",
        )
        if pen.slip(
            "other_quantity", f"${dec(total)}$ is the number at the start; the question asks what is left."
        ):
            pen.finish(dec(total), f">the number of {t} is ${dec(total)}$.")
            return
        left = pen.sub(total, s)
        pen.finish(
            dec(left),
            f"Taking away {s} leaves ${dec(total)} - {s} = {dec(left)}$ {t}.",
            f"~${dec(total)} - {s} = {dec(left)}$, so {dec(left)} {t} remain.",
        )
