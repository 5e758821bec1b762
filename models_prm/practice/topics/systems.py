"""Two unknowns: systems by elimination, and tickets of two prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from random import Random
from typing import Self

from models_prm.practice.latex import Number, num, par, poly, signed, term
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register
from models_prm.practice.topics.linear_moves import divide_out, move_constant


@register
@dataclass(frozen=True)
class TicketSale(Template):
    """n tickets of two prices bring a total; how many of one kind."""

    name, topic, level = "ticket-sale", "linear equations", 4
    adults: int
    children: int
    prices: tuple[int, int]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        adults, children = rng.sample(range(12, 95), 2)
        child = rng.randint(3, 9)
        return cls(adults, children, (child + rng.randint(2, 8), child), rng.randrange(3))

    def text(self) -> str:
        (p, q), n = self.prices, self.adults + self.children
        total = self.adults * p + self.children * q
        return (
            f"For a concert {n} tickets were sold for ¤{total} in all. An adult ticket costs ¤{p} and a "
            f"child ticket costs "
            f"¤{q}. How many adult tickets were sold?",
            f"A zoo had {n} visitors in one hour and took in ¤{total}. Adults pay ¤{p} and children pay "
            f"¤{q}. How many of "
            "the visitors were adults?",
            f"At a pool, {n} people paid ¤{total} altogether. Entry is ¤{p} for adults and ¤{q} for "
            f"children. Find the "
            "number of adults.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"a": (self.adults,), "c": (self.children,)}

    def solve(self, pen: Pen) -> None:
        (p, q), n = self.prices, self.adults + self.children
        total = self.adults * p + self.children * q
        pen.given(f"There were {n} people, who paid {pen.cash(total)} together.")
        if pen.slip("unjustified_jump", "nothing says that there are as many adults as children."):
            pen.step("Let us assume that half of the tickets are for adults, since nothing else is known.")
            pen.step(rf"Half of {n} is ${n} \div 2 = {num(Fraction(n, 2))}$.")
            pen.finish(num(Fraction(n, 2)))
            return
        if pen.way("equations", "equations", "suppose") == "suppose":
            self._suppose(pen, n, total)
            return
        if pen.slip(
            "swapped_roles", f"adults pay {p} and children {q}, so the equation is ${p}a + {q}c = {total}$."
        ):
            p, q = q, p
        pen.step(
            f"~let $a$ be the number of adults and $c$ the number of children: $a + c = {n}$ and ${p}a + "
            f"{q}c = {total}$.",
            f"With $a$ adults and $c$ children we have $a + c = {n}$ and ${p}a + {q}c = {total}$.",
        )
        pen.plan("We put the first equation into the second.", f"From the first equation, $c = {n} - a$.")
        shift, slope = self._expand(pen, p, q, n, total)
        pen.recap(f"Now there is one unknown left in ${poly((slope, 'a'), (shift, ''))} = {total}$.")
        moved = move_constant(pen, term(slope, "a"), shift, total)
        adults = divide_out(pen, slope, moved, "a")
        self._close(pen, adults, n)

    def _expand(self, pen: Pen, p: int, q: int, n: int, total: int) -> tuple[Fraction, Fraction]:
        if pen.slip(
            "distributed_first_only", f"the ${q}$ also multiplies $a$: ${q}({n} - a) = {q * n} - {q}a$."
        ):
            shift, off = Fraction(q * n), 1
        else:
            shift, off = pen.mul(q, n), q
        pen.step(
            f"~replacing $c$ by ${n} - a$ gives ${p}a + {q}({n} - a) = {total}$, or "
            f"${poly((p, 'a'), (shift, ''), (-off, 'a'))} = {total}$.",
            f"Since $c = {n} - a$, we get ${p}a + {q}({n} - a) = {total}$, that is "
            f"${poly((p, 'a'), (shift, ''), (-off, 'a'))} = {total}$.",
        )
        if pen.slip("sign_lost_moving"):
            slope = Fraction(p + off)
            pen.because(
                f"${term(p, 'a')} - {term(off, 'a')} = {term(p - off, 'a')}$, so the coefficient is "
                f"${p - off}$."
            )
        else:
            slope = Fraction(p - off)
        pen.step(
            f"~the terms with $a$ make ${poly((slope, 'a'), (shift, ''))} = {total}$.",
            f"Collecting terms, ${poly((slope, 'a'), (shift, ''))} = {total}$.",
        )
        return shift, slope

    def _close(self, pen: Pen, adults: Fraction, n: int) -> None:
        if pen.slip("other_quantity"):
            other = n - adults
            pen.because(
                f"$a = {num(adults)}$ is the number of adults that is asked for; {num(other)} are children."
            )
            pen.finish(
                num(other),
                f"With $a = {num(adults)}$ there are ${n} - {num(adults)} = {num(other)}$, which is the "
                f"answer.",
            )
            return
        pen.finish(
            num(adults), f">the number of adults is {num(adults)}.", f"There were {num(adults)} adults."
        )

    def _suppose(self, pen: Pen, n: int, total: int) -> None:
        p, q = self.prices
        least = pen.mul(n, q)
        pen.step(
            rf"Suppose all {n} were children: then they would pay ${n} \times {q} = {num(least)}$.",
            rf"~if only children had come, the total would be ${n} \times {q} = {num(least)}$.",
        )
        more = pen.sub(total, least)
        pen.step(
            f"The real total is ${total} - {num(least)} = {num(more)}$ higher.",
            f"~this is ${total} - {num(least)} = {num(more)}$ less than what was really paid.",
        )
        if pen.slip(
            "swapped_roles", f"every adult pays {p} - {q} = {p - q} more than a child, not {p} more."
        ):
            gap = Fraction(p)
            pen.step(
                f"Every adult adds {pen.cash(p)} to that.", f"Each adult accounts for {pen.cash(p)} of it."
            )
        else:
            gap = pen.sub(p, q)
            pen.step(
                f"Every adult pays ${p} - {q} = {num(gap)}$ more than a child.",
                f"One adult adds ${p} - {q} = {num(gap)}$.",
            )
        adults = pen.div(more, gap)
        pen.step(rf">there were ${num(more)} \div {num(gap)} = {num(adults)}$ adults.")
        self._close(pen, adults, n)


@register
@dataclass(frozen=True)
class Elimination(Template):
    """ax + by = e, cx + dy = f; the question asks for one unknown or for the sum."""

    name, topic, level = "elimination", "linear equations", 5
    rows: tuple[tuple[int, int], tuple[int, int]]
    roots: tuple[int, int]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            a, c = rng.sample(range(2, 7), 2)
            b, d = rng.choice([-5, -4, -3, 2, 3, 4, 5]), rng.choice([-5, -4, -3, -2, 2, 3, 5])
            x, y = rng.choice([n for n in range(-6, 10) if n]), rng.choice([n for n in range(-6, 10) if n])
            if a * d != b * c and gcd(a, c) == 1 and x != y and abs(b) != abs(d):
                return cls(((a, b), (c, d)), (x, y), rng.randrange(3))

    def _totals(self) -> tuple[int, int]:
        (a, b), (c, d) = self.rows
        x, y = self.roots
        return a * x + b * y, c * x + d * y

    def text(self) -> str:
        (a, b), (c, d) = self.rows
        e, f = self._totals()
        one, two = f"{poly((a, 'x'), (b, 'y'))} = {e}", f"{poly((c, 'x'), (d, 'y'))} = {f}"
        return (
            f"The numbers $x$ and $y$ satisfy ${one}$ and ${two}$. Find $x + y$.",
            f"Solve the system ${one}$, ${two}$ and give the value of $x + y$.",
            f"If ${one}$ and ${two}$, what is $x + y$?",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"x": (self.roots[0],), "y": (self.roots[1],)}

    def solve(self, pen: Pen) -> None:
        (a, b), (c, d) = self.rows
        e, f = self._totals()
        pen.given(f"The system is ${poly((a, 'x'), (b, 'y'))} = {e}$ and ${poly((c, 'x'), (d, 'y'))} = {f}$.")
        pen.plan("We multiply the equations so that $x$ drops out when we subtract.", "We eliminate $x$.")
        first, second = (b * c, Fraction(e * c)), (d * a, Fraction(f * a))
        if pen.slip("one_side_only", f"the right side ${e}$ must be multiplied by ${c}$ as well."):
            first = (b * c, Fraction(e))
        elif pen.slip("one_side_only", f"the term ${term(b, 'y')}$ must be multiplied by ${c}$ as well."):
            first = (b, Fraction(e * c))
        one = f"{poly((a * c, 'x'), (first[0], 'y'))} = {num(first[1])}"
        two = f"{poly((a * c, 'x'), (second[0], 'y'))} = {num(second[1])}"
        pen.step(
            f"~we multiply the first equation by ${c}$ and the second by ${a}$: ${one}$ and ${two}$.",
            f"Multiplied by ${c}$ and by ${a}$, the two equations are ${one}$ and ${two}$.",
        )
        pen.recap(f"The two equations are now ${one}$ and ${two}$.")
        if pen.slip("sign_lost_moving"):
            slope = first[0] + second[0]
            pen.because(
                f"the second equation is subtracted, so $y$ has the coefficient ${first[0]} - "
                f"{par(second[0])}$."
            )
        else:
            slope = first[0] - second[0]
        right = pen.sub(first[1], second[1])
        pen.step(
            f"~we subtract the second from the first: ${term(slope, 'y')} = {num(first[1])} - "
            f"{par(second[1])} = {num(right)}$.",
            f"Subtracting removes $x$: ${term(slope, 'y')} = {num(first[1])} - {par(second[1])} = "
            f"{num(right)}$.",
        )
        y = divide_out(pen, slope, right, "y")
        self._back(pen, y)

    def _back(self, pen: Pen, y: Fraction) -> None:
        a, b = self.rows[0]
        e = self._totals()[0]
        part = b * y
        if y < 0 and pen.slip("sign_arithmetic", f"${b} \\cdot ({num(y)})$ is ${num(b * y)}$."):
            part = -b * y
        pen.step(
            f"~with $y = {num(y)}$ the first equation is ${term(a, 'x')} {signed(part)} = {e}$.",
            f"Putting $y = {num(y)}$ into the first equation gives ${term(a, 'x')} {signed(part)} = {e}$.",
        )
        moved = move_constant(pen, term(a, "x"), part, e)
        x = divide_out(pen, a, moved)
        if pen.slip("other_quantity", f"$x = {num(x)}$ alone is not asked for; the question wants $x + y$."):
            pen.finish(num(x), f">the answer is $x = {num(x)}$.")
            return
        total = pen.add(x, y)
        pen.finish(
            num(total),
            f">$x + y = {num(x)} {signed(y)} = {num(total)}$.",
            f"The sum is ${num(x)} {signed(y)} = {num(total)}$.",
        )
