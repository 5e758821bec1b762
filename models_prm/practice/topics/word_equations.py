"""Word problems that lead to a linear equation: ages, consecutive numbers, tariffs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import Number, lin, num, signed, term
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, person, register
from models_prm.practice.topics.linear_moves import divide_out, move_constant


@register
@dataclass(frozen=True)
class Ages(Template):
    """The older is k times as old; in t years j times as old."""

    name, topic, level = "ages", "linear equations", 3
    young: int
    now: int
    later: int
    years: int
    who: tuple[str, str]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            now, later, young = rng.randint(3, 9), rng.randint(2, 4), rng.randint(2, 14)
            years = Fraction(young * (now - later), later - 1)
            if later < now and years.denominator == 1 and 2 <= years <= 30 and young * now < 80:
                names = person(rng)[0], person(rng)[0]
                if names[0] != names[1]:
                    return cls(young, now, later, int(years), names, rng.randrange(2))

    def text(self) -> str:
        old, young = self.who
        words = ("", "", "twice", "three times", "four times")
        return (
            f"{old} is {self.now} times as old as {young}. In {self.years} years {old} will be "
            f"{words[self.later]} as old as "
            f"{young}. How old is {old} now?",
            f"Today {old}'s age is {self.now} times {young}'s age. {self.years} years from now it will be "
            f"only "
            f"{words[self.later]} {young}'s age. Find {old}'s age today.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"x": (self.young,)}

    def solve(self, pen: Pen) -> None:
        k, j, t = self.now, self.later, self.years
        old, young = self.who
        pen.given(f"{old} is {k} times as old as {young}, and in {t} years {j} times as old.")
        pen.step(
            f"Let $x$ be the age of {young} now; then {old} is ${k}x$ years old.",
            f"If {young} is $x$ years old, {old}'s age is ${k}x$.",
        )
        left_shift, inner = t, t
        if pen.slip(
            "half_applied",
            f"in {t} years both are {t} years older, {young} as well: ${lin(k, t)} = {j}(x + {t})$.",
        ):
            inner = 0
        elif pen.slip(
            "half_applied",
            f"in {t} years both are {t} years older, {old} as well: ${lin(k, t)} = {j}(x + {t})$.",
        ):
            left_shift = 0
        right = f"{j}({lin(1, inner)})" if inner else term(j, "x")
        pen.step(
            f"In {t} years we have ${lin(k, left_shift)} = {right}$.",
            f"~the condition for {t} years from now is ${lin(k, left_shift)} = {right}$.",
        )
        pen.recap(f"So the equation to solve is ${lin(k, left_shift)} = {right}$.")
        shift = j * inner
        if inner:
            if pen.slip(
                "distributed_first_only",
                f"the ${j}$ multiplies both terms: ${j}({lin(1, t)}) = {lin(j, j * t)}$.",
            ):
                shift = inner
            pen.step(
                f"~we expand: ${lin(k, left_shift)} = {lin(j, shift)}$.",
                f"Expanding, ${lin(k, left_shift)} = {lin(j, shift)}$.",
            )
        self._finish(pen, shift - left_shift, left_shift, shift)

    def _finish(self, pen: Pen, right: int, left_shift: int, shift: int) -> None:
        k, j, old = self.now, self.later, self.who[0]
        if (
            left_shift
            and shift
            and pen.slip("sign_lost_moving", f"${left_shift}$ must be subtracted on both sides.")
        ):
            right = shift + left_shift
        slope = k - j
        pen.step(
            f"~collecting terms gives ${term(slope, 'x')} = {right}$.",
            f"With $x$ on the left and numbers on the right, ${term(slope, 'x')} = {right}$.",
        )
        x = divide_out(pen, slope, Fraction(right))
        if pen.slip(
            "other_quantity", f"$x = {num(x)}$ is {self.who[1]}'s age; the question asks for {old}'s."
        ):
            pen.finish(num(x), f">the age is {num(x)}.")
            return
        age = pen.mul(k, x) if x.denominator == 1 else k * x
        pen.finish(
            num(age),
            rf">{old} is ${k} \times {num(x)} = {num(age)}$ years old.",
            rf"{old}'s age is ${k} \times {num(x)} = {num(age)}$.",
        )


@register
@dataclass(frozen=True)
class ConsecutiveNumbers(Template):
    """Three consecutive (even, odd) numbers with a given sum."""

    name, topic, level = "consecutive-numbers", "linear equations", 2
    first: int
    gap: int
    wanted: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        gap = rng.choice((1, 2, 2))
        return cls(rng.randint(9, 120), gap, rng.choice((0, 2, 2)), rng.randrange(2))

    def _kind(self) -> str:
        return "" if self.gap == 1 else ("odd " if self.first % 2 else "even ")

    def text(self) -> str:
        total = 3 * self.first + 3 * self.gap
        which = "smallest" if self.wanted == 0 else "largest"
        return (
            f"The sum of three consecutive {self._kind()}numbers is {total}. What is the {which} of them?",
            f"Three consecutive {self._kind()}integers add up to {total}. Find the {which} one.",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"n": (self.first,), "m": (self.first + self.gap,)}

    def solve(self, pen: Pen) -> None:
        total, gap = 3 * self.first + 3 * self.gap, self.gap
        pen.given(f"Three consecutive {self._kind()}numbers have the sum {total}.")
        if pen.way("first", "first", "middle") == "middle":
            self._middle(pen, total)
            return
        if gap == 2 and pen.slip("copied_wrong", f"consecutive {self._kind()}numbers are 2 apart, not 1."):
            gap = 1
        pen.step(
            f"Let the numbers be $n$, $n + {gap}$ and $n + {2 * gap}$.",
            f"We call them $n$, $n + {gap}$ and $n + {2 * gap}$, where $n$ is the smallest.",
        )
        shift = pen.add(gap, 2 * gap)
        pen.step(
            f"~their sum is $n + (n + {gap}) + (n + {2 * gap}) = {lin(3, shift, 'n')}$.",
            f"Adding them gives ${lin(3, shift, 'n')} = {total}$.",
        )
        pen.recap(f"The equation is ${lin(3, shift, 'n')} = {total}$.")
        moved = move_constant(pen, "3n", shift, total)
        n = divide_out(pen, 3, moved, "n")
        self._answer(pen, n, n + 2 * gap, f"n + {2 * gap} = {num(n)} + {2 * gap} = {num(n + 2 * gap)}")

    def _answer(self, pen: Pen, small: Fraction, large: Fraction, chain: str) -> None:
        right, other = (small, large) if self.wanted == 0 else (large, small)
        which, wrong = ("smallest", "largest") if self.wanted == 0 else ("largest", "smallest")
        if pen.slip(
            "other_quantity", f"{num(other)} is the {wrong} of the numbers, but the {which} is asked for."
        ):
            pen.finish(num(other), f">the number is {num(other)}.")
            return
        if self.wanted:
            pen.finish(num(right), f"The largest is ${chain}$.", f">the largest number is ${chain}$.")
            return
        pen.finish(
            num(right),
            f">the smallest number is {num(right)}.",
            f"The smallest of the three is {num(right)}.",
        )

    def _middle(self, pen: Pen, total: int) -> None:
        gap = self.gap
        pen.step(
            f"Let $m$ be the middle number; the others are $m - {gap}$ and $m + {gap}$.",
            f"With $m$ in the middle the numbers are $m - {gap}$, $m$ and $m + {gap}$.",
        )
        pen.step(
            f"Their sum is $3m$, so $3m = {total}$.", f"The ${gap}$ cancels in the sum, and $3m = {total}$."
        )
        m = divide_out(pen, 3, Fraction(total), "m")
        if pen.slip("copied_wrong", f"the others differ from the middle one by {gap}, not by {gap + 1}."):
            gap += 1
            pen.step(f"The others are ${num(m - gap)}$ and ${num(m + gap)}$.")
        else:
            pen.step(
                f"The others are $m - {gap} = {num(m - gap)}$ and $m + {gap} = {num(m + gap)}$.",
                f">the numbers are ${num(m - gap)}$, ${num(m)}$ and ${num(m + gap)}$.",
            )
        self._answer(pen, m - gap, m + gap, f"{num(m + gap)}")


@register
@dataclass(frozen=True)
class Tariffs(Template):
    """Two tariffs: at how many units do they cost the same?"""

    name, topic, level = "tariffs", "linear equations", 3
    fixed: tuple[int, int]
    rates: tuple[int, int]
    units: int
    place: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        low, units = rng.randint(2, 8), rng.randint(4, 25)
        gap, fixed = rng.randint(2, 7), rng.randint(3, 20)
        pairs = ("gyms", "climbing halls", "swimming pools", "dance schools")
        return cls((fixed + gap * units, fixed), (low, low + gap), units, rng.choice(pairs), rng.randrange(2))

    def text(self) -> str:
        (f, g), (r, s) = self.fixed, self.rates
        return (
            f"One of two {self.place} charges ¤{f} a month plus ¤{r} per visit, the other ¤{g} a month plus "
            f"¤{s} per visit. "
            "For how many visits a month do both cost the same?",
            f"Boat hire A costs ¤{f} plus ¤{r} per hour. Boat hire B costs ¤{g} plus ¤{s} per hour. After "
            f"how many hours "
            "do they cost the same?",
        )[self.voice]

    def unknowns(self) -> Mapping[str, tuple[Number, ...]]:
        return {"x": (self.units,)}

    def solve(self, pen: Pen) -> None:
        (f, g), (r, s) = self.fixed, self.rates
        unit = ("visits", "hours")[self.voice]
        pen.given(
            f"One costs {pen.cash(f)} plus {pen.cash(r)} each, the other {pen.cash(g)} plus {pen.cash(s)} "
            f"each."
        )
        pen.plan("We set the two costs equal.", f"Let $x$ be the number of {unit}.")
        if pen.slip(
            "swapped_roles",
            f"the fixed part {f} does not depend on $x$, but the {r} does: the cost is ${lin(r, f)}$.",
        ):
            f, r = r, f
        left, right = lin(r, f), lin(s, g)
        pen.step(
            f"For $x$ {unit} the costs are ${left}$ and ${right}$, so ${left} = {right}$.",
            f"~the equation for $x$ {unit} is ${left} = {right}$.",
        )
        pen.recap(f"We look for the $x$ with ${left} = {right}$.")
        if pen.slip("sign_lost_moving"):
            slope = Fraction(s + r)
            pen.because(
                f"${term(r, 'x')}$ is subtracted on both sides, so ${term(s - r, 'x')}$ stays on the right."
            )
        else:
            slope = pen.sub(s, r)
        pen.step(
            f"~we bring ${term(r, 'x')}$ to the other side: ${f} = {lin(slope, g)}$.",
            f"With $x$ on one side only, ${f} = {lin(slope, g)}$.",
        )
        if pen.slip("sign_lost_moving", f"${g}$ must be subtracted on both sides."):
            gap = Fraction(f + g)
            pen.step(f"~we move ${g}$ to the left: ${term(slope, 'x')} = {f} + {g} = {num(gap)}$.")
        else:
            gap = pen.sub(f, g)
            pen.step(
                f"~we subtract ${g}$: ${term(slope, 'x')} = {f} {signed(-g)} = {num(gap)}$.",
                f"Subtracting ${g}$ on both sides leaves ${term(slope, 'x')} = {f} {signed(-g)} = "
                f"{num(gap)}$.",
            )
        x = divide_out(pen, slope, gap)
        if x.denominator == 1 and pen.slip(
            "other_quantity", f"${num(lin_value(r, f, x))}$ is the common cost, not the number of {unit}."
        ):
            cost = lin_value(r, f, x)
            pen.finish(num(cost), rf"Both cost ${r} \times {num(x)} + {f} = {num(cost)}$.")
            return
        pen.finish(
            num(x), f">they cost the same for {num(x)} {unit}." if x.denominator == 1 else f">$x = {num(x)}$."
        )


def lin_value(slope: Number, shift: Number, at: Number) -> Fraction:
    """slope * at + shift."""
    return Fraction(slope) * at + shift
