"""Counting with care: buses for everyone, trees at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Self

from models_prm.practice.latex import dec
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, person, register


@register
@dataclass(frozen=True)
class Buses(Template):
    """How many buses, with a remainder, and what they cost."""

    name, topic, level = "buses", "arithmetic", 3
    people: int
    seats: int
    price: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        seats = rng.choice((24, 32, 36, 44, 45, 48, 52))
        return cls(
            seats * rng.randint(3, 8) + rng.randint(3, seats - 4),
            seats,
            rng.randint(14, 39) * 10,
            rng.randrange(3),
        )

    def text(self) -> str:
        p, s = self.people, self.seats
        return (
            f"A school takes {p} people on a trip. A bus has {s} seats and costs ¤{self.price}. "
            "How many dollars do the buses cost?",
            f"For a match, {p} fans travel by bus. Every bus seats {s} and is hired for ¤{self.price}. "
            "What is the total cost of hiring, in dollars?",
            f"A company with {p} workers hires buses for a day out at ¤{self.price} per bus. If a bus has "
            f"{s} "
            "seats, what does the company pay in dollars?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        pen.given(
            f"There are {self.people} people and {self.seats} seats in a bus.",
            f"We know that {self.people} people travel and that one bus costs {pen.cash(self.price)}.",
        )
        pen.plan(
            "We find the number of buses first and then their cost.",
            "The number of buses is a quotient, rounded up to a whole number.",
        )
        people = int(pen.copy(self.people))
        full, rest = divmod(people, self.seats)
        if pen.slip("off_by_one_division"):
            pen.because(
                rf"${self.seats}$ goes into ${people}$ only ${full}$ times, with ${rest}$ left over, "
                f"so ${self.seats * (full + 1)}$ is already too many."
            )
            full, rest = full + 1, 7
            text = rf"{self.seats} \times {full} + {rest} = {people}"
        else:
            text = rf"{self.seats} \times {full} + {rest} = {people}"
        pen.step(
            f"~we divide {people} by {self.seats}: ${text}$.",
            f"Since ${text}$, dividing {people} by {self.seats} gives {full} with remainder {rest}.",
        )
        buses = self._count(pen, full, rest)
        cost = pen.mul(buses, self.price)
        pen.step(
            rf"~the cost is ${buses} \times {pen.money(self.price)} = {pen.money(cost)}$.",
            rf"At {pen.cash(self.price)} each, they cost ${buses} \times {self.price} = {dec(cost)}$.",
        )
        pen.finish(
            dec(cost), f">they pay {pen.cash(cost)} for the buses.", f"The total cost is {pen.cash(cost)}."
        )

    def _count(self, pen: Pen, full: int, rest: int) -> int:
        if pen.slip("remainder_ignored"):
            pen.because(
                f"the remaining {rest} people also need a bus, so {full + 1} buses are needed, not {full}."
            )
            pen.step(
                f">{full} buses are needed.",
                f"As {full} is the whole part of the quotient, {full} buses are enough.",
            )
            return full
        if pen.slip("unjustified_jump"):
            pen.because(
                f"nothing says that people may stand or stay behind, and {full + 1} buses are enough, so a "
                "second spare bus is not needed."
            )
            pen.step(
                f"One should always have a spare bus, so with the rest we need {full + 2} buses.",
                f"To be safe for the remainder we need two more, which makes {full + 2} buses.",
            )
            return full + 2
        pen.step(
            f"The other {rest} people need one more bus, so ${full} + 1 = {full + 1}$ buses are needed.",
            f">{full} buses are full and one more takes the rest, which makes {full + 1} buses.",
            f"We round up, because nobody may be left behind: {full + 1} buses.",
        )
        return full + 1


@register
@dataclass(frozen=True)
class TreeRow(Template):
    """Trees along a path at both ends, and their price."""

    name, topic, level = "tree-row", "arithmetic", 3
    gaps: int
    gap: int
    price: int
    who: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        return cls(
            rng.randint(9, 35), rng.randint(3, 9), rng.randint(12, 38), person(rng)[0], rng.randrange(3)
        )

    def text(self) -> str:
        length = self.gaps * self.gap
        return (
            f"Trees are planted along a straight path {length} m long, one every {self.gap} m, with a tree "
            f"at both "
            f"ends. A tree costs ¤{self.price}. What do the trees cost in dollars?",
            f"{self.who} puts up a straight fence of {length} m. There is a post at each end and one every "
            f"{self.gap} m between. Each post costs ¤{self.price}. How many dollars do the posts cost?",
            f"Street lamps stand every {self.gap} metres along one side of a {length} metre road, including "
            f"both "
            f"its ends. Cleaning one lamp costs ¤{self.price}. How many dollars does it cost to clean all of "
            f"them?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        thing = ("trees", "posts", "lamps")[self.voice]
        pen.given(
            f"There is one of the {thing} every {self.gap} m on {self.gaps * self.gap} m, also at both ends.",
            f"The {thing} stand {self.gap} m apart and cost {pen.cash(self.price)} each.",
        )
        pen.plan(
            f"We count the gaps, then the {thing}, then the cost.", f"First we need the number of {thing}."
        )
        length = pen.copy(self.gaps * self.gap)
        gaps = pen.div(length, self.gap)
        pen.step(
            rf"~the number of gaps is ${dec(length)} \div {self.gap} = {dec(gaps)}$.",
            rf"Dividing the length by the distance gives ${dec(length)} \div {self.gap} = {dec(gaps)}$ gaps.",
        )
        pen.recap(f"So there are {dec(gaps)} gaps of {self.gap} m.")
        count = gaps + 1
        if pen.slip("fencepost"):
            count = pen.choose("fence", (gaps, gaps - 1))
            pen.because(
                f"with one at both ends there is one more than there are gaps: {dec(gaps + 1)} {thing}."
            )
            pen.step(
                f">there are {dec(count)} {thing}.",
                f"For {dec(gaps)} gaps we need {dec(count)} {thing}.",
            )
        else:
            pen.step(
                f"With one at both ends there are ${dec(gaps)} + 1 = {dec(count)}$ {thing}.",
                f"There is one more than there are gaps, so we count {dec(count)} {thing}.",
            )
        cost = pen.mul(count, self.price)
        pen.step(
            rf"~the cost is ${dec(count)} \times {pen.money(self.price)} = {pen.money(cost)}$.",
            rf"Multiplying by the price of one gives ${dec(count)} \times {self.price} = {dec(cost)}$.",
        )
        pen.finish(
            dec(cost), f">all {thing} together cost {pen.cash(cost)}.", f"The total is {pen.cash(cost)}."
        )
