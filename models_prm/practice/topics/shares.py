"""Parts of a whole: what is left after parts are taken, and work done together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random
from typing import Self

from models_prm.practice.latex import dec, frac, num
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, fraction, person, register


@register
@dataclass(frozen=True)
class PartOfTheRest(Template):
    """A fraction is spent, then a fraction of the rest."""

    name, topic, level = "part-of-the-rest", "fractions", 3
    whole: int
    first: Fraction
    second: Fraction
    who: tuple[str, str]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            a, b = fraction(rng, range(2, 9)), fraction(rng, range(2, 7))
            unit = a.denominator * b.denominator
            whole = unit * rng.randint(2, 12)
            if a < Fraction(3, 4) and a + b < 1 and 40 <= whole <= 480:
                return cls(whole, a, b, person(rng), rng.randrange(3))

    def text(self) -> str:
        (who, they), n, a, b = self.who, self.whole, num(self.first), num(self.second)
        return (
            f"{who} has ¤{n}. {they.capitalize()} spends ${a}$ of it on books and ${b}$ of the rest on a "
            f"coat. "
            "How many dollars are left?",
            f"A book has {n} pages. On Saturday {who} reads ${a}$ of the book, on Sunday ${b}$ of the "
            f"remaining pages. "
            f"How many pages does {they} still have to read?",
            f"Of {n} seats in a hall, ${a}$ are booked early and ${b}$ of the others are sold at the door. "
            "How many seats stay empty?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        n, a, b = self.whole, self.first, self.second
        pen.given(f"The whole is {n}; first ${num(a)}$ of it goes, then ${num(b)}$ of the rest.")
        pen.plan(
            "We go step by step: first part, rest, second part, what is left.",
            "We find the two parts in turn.",
        )
        whole = int(pen.copy(n))
        taken = self._part(pen, a, whole)
        pen.step(
            rf"~the part that goes first is ${num(a)} \times {whole} = {dec(taken)}$.",
            rf"~${num(a)}$ of {whole} is ${num(a)} \times {whole} = {dec(taken)}$.",
        )
        if pen.slip("fraction_of_whole"):
            second = b * n
            pen.because(f"${num(b)}$ is taken of the rest, {dec(n - taken)}, not of the whole, {n}.")
            pen.step(
                rf"~the second part is ${num(b)} \times {n} = {dec(second)}$.",
                rf"Then ${num(b)}$ goes, which is ${num(b)} \times {n} = {dec(second)}$.",
            )
            left = n - taken - second
            pen.finish(dec(left), f"What is left is ${n} - {dec(taken)} - {dec(second)} = {dec(left)}$.")
            return
        rest = pen.sub(n, taken)
        pen.step(
            f"~the rest is ${n} - {dec(taken)} = {dec(rest)}$.",
            f"This leaves ${n} - {dec(taken)} = {dec(rest)}$.",
        )
        pen.recap(f"So {dec(rest)} remain after the first part.")
        if pen.slip("other_quantity"):
            left = b * rest
            pen.because(f"${num(b)}$ of the rest is what goes; the question asks for what stays.")
            pen.finish(
                dec(left),
                rf"~${num(b)}$ of this is ${num(b)} \times {dec(rest)} = {dec(left)}$, which is what is "
                rf"left.",
            )
            return
        if pen.way("part", "complement") == "part":
            second = b * rest
            pen.step(
                rf"~the second part is ${num(b)} \times {dec(rest)} = {dec(second)}$.",
                rf"Of these, ${num(b)} \times {dec(rest)} = {dec(second)}$ go next.",
            )
            left = pen.sub(rest, second)
            pen.finish(dec(left), f">what is left is ${dec(rest)} - {dec(second)} = {dec(left)}$.")
            return
        stays = 1 - b
        pen.step(
            f"Of the rest, $1 - {num(b)} = {num(stays)}$ stays.",
            f"~$1 - {num(b)} = {num(stays)}$ of that stays.",
        )
        left = stays * rest
        pen.finish(dec(left), rf">what is left is ${num(stays)} \times {dec(rest)} = {dec(left)}$.")

    def _part(self, pen: Pen, share: Fraction, whole: int) -> Fraction:
        unit = Fraction(whole, share.denominator)
        if share.numerator > 1 and pen.slip("half_applied"):
            pen.because(
                f"${num(share)}$ is {share.numerator} times ${num(Fraction(1, share.denominator))}$, and the "
                f"step takes "
                f"only ${num(Fraction(1, share.denominator))}$."
            )
            return unit
        return unit * share.numerator


@register
@dataclass(frozen=True)
class WorkTogether(Template):
    """Two pipes or workers together."""

    name, topic, level = "work-together", "fractions", 4
    times: tuple[int, int]
    who: tuple[str, str]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            a, b = sorted(rng.sample(range(2, 31), 2))
            if Fraction(a * b, a + b).denominator in (1, 2, 4, 5) and lcm(a, b) <= 120:
                names = (person(rng)[0], person(rng)[0])
                if names[0] != names[1]:
                    return cls((a, b), names, rng.randrange(3))

    def text(self) -> str:
        (a, b), (one, two) = self.times, self.who
        return (
            f"{one} paints a fence in {a} hours, {two} needs {b} hours for it. How many hours do they need "
            f"together?",
            f"One pipe fills a pool in {a} hours and another fills it in {b} hours. How many hours does it "
            f"take with "
            "both pipes open?",
            f"A printer finishes a job in {a} minutes; an older one takes {b} minutes. If they share the "
            f"job, how "
            "many minutes does it take?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        a, b = self.times
        one, two = frac(1, a), frac(1, b)
        unit = ("hour", "hour", "minute")[self.voice]
        pen.given(f"Alone they need {a} and {b} {unit}s.")
        if pen.slip("averaged_averages"):
            mean = Fraction(a + b, 2)
            pen.because(
                "together they are faster than the faster one alone; the mean of the two times is no such "
                "time."
            )
            pen.step(f"Working together, they need the average of {a} and {b} {unit}s.")
            pen.step(rf"The average is $({a} + {b}) \div 2 = {num(mean)}$.")
            pen.finish(num(mean))
            return
        pen.plan(f"We add the parts of the job done in one {unit}.", "Rates of work can be added.")
        pen.step(
            f"~in one {unit} they do ${one}$ and ${two}$ of the job.",
            f"Each {unit} the first does ${one}$ of the job and the second ${two}$.",
        )
        pen.recap(f"We work with the rates ${one}$ and ${two}$.")
        low = lcm(a, b)
        tops = [low // a, low // b]
        if pen.slip("added_denominators"):
            rate = Fraction(2, a + b)
            pen.because(
                f"fractions are not added bottom to bottom: ${one} + {two} = "
                f"{num(Fraction(1, a) + Fraction(1, b))}$."
            )
            pen.step(f"Together they do ${one} + {two} = {frac(2, a + b)}$ in one {unit}.")
        else:
            if a != low and pen.slip("numerator_not_scaled"):
                pen.because(f"${one}$ over {low} is ${frac(tops[0], low)}$.")
                tops[0] = 1
            elif b != low and pen.slip("numerator_not_scaled"):
                pen.because(f"${two}$ over {low} is ${frac(tops[1], low)}$.")
                tops[1] = 1
            total = pen.add(*tops)
            rate = total / low
            chain = f"{one} + {two} = {frac(tops[0], low)} + {frac(tops[1], low)} = {frac(int(total), low)}"
            pen.step(f"Together they do ${chain}$ in one {unit}.", f"~the rates add up to ${chain}$.")
        if pen.slip("forgot_reciprocal"):
            pen.because(
                f"${num(rate)}$ is the part done in one {unit}; the time is its reciprocal, "
                f"${num(1 / rate)}$."
            )
            pen.finish(num(rate), f">they need ${num(rate)}$ {unit}s.")
            return
        time = 1 / rate
        pen.finish(
            num(time),
            rf"The time is the reciprocal, $1 \div {num(rate)} = {num(time)}$.",
            rf">the whole job takes $1 \div {num(rate)} = {num(time)}$ {unit}s.",
        )
