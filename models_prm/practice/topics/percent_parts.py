"""Percent: parts of groups, interest, mixtures."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import coins, dec, frac
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, goods, person, register
from models_prm.practice.topics.percent import as_decimal


@register
@dataclass(frozen=True)
class PercentOfGroup(Template):
    """A percent of a group and a percent of that part."""

    name, topic, level = "percent-of-group", "percent", 2
    whole: int
    first: int
    second: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            whole, a, b = (
                rng.randint(6, 48) * 20,
                rng.choice((15, 20, 25, 30, 35, 40, 45, 60)),
                rng.choice((5, 10, 15, 20, 25, 40, 50, 75)),
            )
            if whole * a % 100 == 0 and whole * a * b % 10_000 == 0:
                return cls(whole, a, b, rng.randrange(3))

    def text(self) -> str:
        n, a, b = self.whole, self.first, self.second
        return (
            f"A school has {n} students. Of these, {a}% play an instrument, and {b}% of those who play an "
            f"instrument play "
            "in the orchestra. How many students play in the orchestra?",
            rf"A library owns {n} comic books. ${a}\%$ of them are in French, and ${b}\%$ of the French ones "
            rf"are lent out. "
            "How many French comic books are lent out?",
            f"{a} percent of the {n} cars in a car park are electric. {b} percent of the electric cars are "
            f"being charged. "
            "How many cars are being charged?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        a, b = self.first, self.second
        pen.given(f"There are {self.whole} in all; {a}% of them count, and of these {b}%.")
        if pen.slip("percents_added"):
            both = a + b
            count = Fraction(self.whole * both, 100)
            pen.because(f"the {b}% are a part of the {a}%, so the two percents are not added.")
            pen.step(rf"~together the percents make ${a}\% + {b}\% = {both}\%$.")
            pen.step(
                rf"${both}\%$ of {self.whole} is ${dec(Fraction(both, 100))} \times {self.whole} = "
                rf"{dec(count)}$."
            )
            pen.finish(dec(count))
            return
        pen.plan("We find the first group and then its part.", f"First {a}% of all, then {b}% of that.")
        n = Fraction(pen.copy(self.whole))
        rate = as_decimal(pen, a)
        group = pen.mul(rate, n)
        pen.step(
            rf"~${a}\% = {dec(rate)}$, so the first group has ${dec(rate)} \times {dec(n)} = {dec(group)}$.",
            rf"The first group is ${a}\% = {dec(rate)}$ of {dec(n)}: ${dec(rate)} \times {dec(n)} = "
            rf"{dec(group)}$.",
        )
        pen.recap(f"So {dec(group)} belong to the first group.")
        if pen.slip("other_quantity", f"that is the first group; the question asks for {b}% of it."):
            pen.step(f"The number we look for is {dec(group)}.")
            pen.finish(dec(group))
            return
        base = group
        if pen.slip(
            "percent_wrong_base",
            f"the {b}% are taken of the first group, {dec(group)}, not of all {self.whole}.",
        ):
            base = Fraction(self.whole)
        part = pen.mul(Fraction(b, 100), base)
        pen.step(
            rf"~${b}\%$ of {dec(base)} is ${dec(Fraction(b, 100))} \times {dec(base)} = {dec(part)}$.",
            rf"For the second percent, ${dec(Fraction(b, 100))} \times {dec(base)} = {dec(part)}$.",
        )
        pen.finish(dec(part), f">the number is {dec(part)}.", f"There are {dec(part)} of them.")


@register
@dataclass(frozen=True)
class SimpleInterest(Template):
    """Simple interest for a number of months."""

    name, topic, level = "simple-interest", "percent", 3
    who: tuple[str, str]
    sum: int
    rate: int
    months: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            amount, rate, months = (
                rng.randint(4, 60) * 100,
                rng.randint(2, 9),
                rng.choice((3, 4, 5, 6, 8, 9, 10, 15, 18)),
            )
            if amount * rate * months % 1200 == 0:
                return cls(person(rng), amount, rate, months, rng.randrange(2))

    def text(self) -> str:
        (who, they), n, r, t = self.who, self.sum, self.rate, self.months
        return (
            f"{who} lends ¤{n} at a simple interest of {r}% per year. How many dollars does {they} get back "
            f"in all after "
            f"{t} months?",
            rf"A sum of ¤{n} earns simple interest at ${r}\%$ a year. What is it worth after {t} months, in "
            rf"dollars?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        t = self.months
        pen.given(f"The sum is {pen.cash(self.sum)}, the rate {self.rate}% a year and the time {t} months.")
        pen.plan(
            "We find the interest of a year, then of the months, and add it.",
            "Interest for a year comes first.",
        )
        n = Fraction(pen.copy(self.sum))
        rate = as_decimal(pen, self.rate)
        year = pen.mul(rate, n)
        pen.step(
            rf"~for a year the interest is ${self.rate}\% = {dec(rate)}$ of the sum: ${dec(rate)} \times "
            rf"{dec(n)} = {coins(year)}$.",
            rf"With ${self.rate}\% = {dec(rate)}$, a whole year earns ${dec(rate)} \times {dec(n)} = "
            rf"{coins(year)}$.",
        )
        if pen.slip("unit_slip"):
            share = Fraction(t, 10)
            earned = year * share
            pen.because(
                f"a year has 12 months, so {t} months are ${frac(t, 12)}$ of a year, not {dec(share)}."
            )
            pen.step(
                rf"~{t} months are {dec(share)} years: ${dec(share)} \times {coins(year)} = {coins(earned)}$."
            )
        elif pen.slip(
            "half_applied", f"the interest of {coins(year)} is for a year, but the time is {t} months."
        ):
            earned = year
            pen.step(
                f">the interest to be added is {pen.cash(earned)}.",
                f"The interest is thus {pen.cash(earned)}.",
            )
        else:
            earned = year * t / 12
            pen.step(
                rf"~for {t} months it is ${frac(t, 12)} \times {coins(year)} = {coins(earned)}$.",
                rf"{t} months are ${frac(t, 12)}$ of a year, which gives ${frac(t, 12)} \times {coins(year)} "
                rf"= "
                rf"{coins(earned)}$.",
            )
        pen.recap(f"So the interest is {pen.cash(earned)}.")
        if pen.slip(
            "other_quantity", f"{coins(earned)} is the interest alone; the sum itself is asked for as well."
        ):
            pen.finish(coins(earned), f">the result is {pen.cash(earned)}.")
            return
        total = pen.add(n, earned)
        pen.finish(
            coins(total),
            f"With the sum itself this is ${dec(n)} + {coins(earned)} = {coins(total)}$.",
            f">the total is ${pen.money(n)} + {pen.money(earned)} = {pen.money(total)}$.",
        )


@register
@dataclass(frozen=True)
class MixedSolutions(Template):
    """Salt water of two strengths poured together."""

    name, topic, level = "mixed-solutions", "percent", 5
    amounts: tuple[int, int]
    strengths: tuple[int, int]
    pair: tuple[tuple[str, str], tuple[str, str]]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            n, m = rng.sample(range(2, 25), 2)
            a, b = rng.sample(range(5, 65, 5), 2)
            if (n * a + m * b) % (n + m) == 0:
                return cls((n * 10, m * 10), (a, b), goods(rng), rng.randrange(2))

    def text(self) -> str:
        (n, m), (a, b) = self.amounts, self.strengths
        return (
            rf"A chemist mixes {n} ml of a ${a}\%$ salt solution with {m} ml of a ${b}\%$ salt solution. "
            rf"What percent of "
            "the mixture is salt?",
            f"{n} g of an alloy with {a}% copper and {m} g of an alloy with {b}% copper are melted together. "
            f"What is the "
            "percentage of copper in the new alloy?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        (n, m), (a, b) = self.amounts, self.strengths
        thing, unit = (("salt", "ml"), ("copper", "g"))[self.voice]
        pen.given(f"We have {n} {unit} with {a}% and {m} {unit} with {b}% of {thing}.")
        if pen.slip("averaged_averages"):
            mean = Fraction(a + b, 2)
            pen.because(
                f"the amounts {n} and {m} differ, so the mixture is not the plain average of {a}% and {b}%."
            )
            pen.step("The percentage of the mixture lies in the middle of the two.")
            pen.step(rf"The middle is $({a} + {b}) \div 2 = {dec(mean)}$.")
            pen.finish(dec(mean))
            return
        pen.plan(
            f"We find the {thing} in both parts and divide by the whole.",
            f"The {thing} in the mixture is what counts.",
        )
        rate = as_decimal(pen, a)
        first = pen.mul(rate, n)
        pen.step(
            rf"~the first part has ${dec(rate)} \times {n} = {dec(first)}$ {unit} of {thing}, as ${a}\% = "
            rf"{dec(rate)}$.",
            rf"Since ${a}\% = {dec(rate)}$, the first part contains ${dec(rate)} \times {n} = {dec(first)}$ "
            rf"{unit} of {thing}.",
        )
        rate = as_decimal(pen, b)
        second = pen.mul(rate, m)
        pen.step(
            rf"The second part has ${dec(rate)} \times {m} = {dec(second)}$ {unit} of {thing}, as ${b}\% = "
            rf"{dec(rate)}$.",
            rf"~the other part contains ${b}\% = {dec(rate)}$, so ${dec(rate)} \times {m} = {dec(second)}$ "
            rf"{unit}.",
        )
        total = pen.add(first, second)
        pen.step(f"Together this is ${dec(first)} + {dec(second)} = {dec(total)}$ {unit} of {thing}.")
        if pen.slip(
            "percent_wrong_base", f"the mixture has {n + m} {unit}, so the {thing} must be divided by that."
        ):
            whole = Fraction(max(n, m))
            pen.step(f"The amount it is dissolved in is {dec(whole)} {unit}.")
        else:
            whole = pen.add(n, m)
            pen.step(f"The mixture has ${n} + {m} = {dec(whole)}$ {unit}.")
        if pen.slip("other_quantity", f"{dec(total)} is the amount of {thing}, not its percentage."):
            pen.finish(dec(total), f">the mixture has {dec(total)} percent of {thing}.")
            return
        share = total / whole * 100
        if 10_000 % share.denominator:
            share = Fraction(round(share * 10), 10)
            pen.finish(
                dec(share),
                rf">it has $\frac{{{dec(total)}}}{{{dec(whole)}}} \times 100 \approx {dec(share)}$ percent.",
            )
            return
        pen.finish(
            dec(share),
            rf">the share is $\frac{{{dec(total)}}}{{{dec(whole)}}} \times 100 = {dec(share)}$ percent.",
            rf"In percent, $\frac{{{dec(total)}}}{{{dec(whole)}}} \times 100 = {dec(share)}$.",
        )
