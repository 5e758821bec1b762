"""Measuring: rectangles, borders, taps and units."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import dec
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, person, register


@register
@dataclass(frozen=True)
class FencePrice(Template):
    """Fence a rectangle: perimeter times price."""

    name, topic, level = "fence-price", "measuring", 2
    length: int
    width: int
    price: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        width = rng.randint(6, 19)
        return cls(width + rng.randint(3, 16), width, rng.randint(4, 15), rng.randrange(3))

    def text(self) -> str:
        n, w, p = self.length, self.width, self.price
        return (
            f"A rectangular garden is {n} m long and {w} m wide. A fence around it costs ¤{p} per metre. "
            "How many dollars does the fence cost?",
            f"A farmer fences in a rectangular field of {n} m by {w} m. One metre of fence costs ¤{p}. "
            "What does the whole fence cost in dollars?",
            f"A photo wall, {w} m high and {n} m wide, gets a wooden frame all around at ¤{p} per metre. "
            "What is the price of the frame in dollars?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        pen.given(f"The sides of the rectangle are {self.length} m and {self.width} m.")
        pen.plan(
            "The fence goes all around, so we need the perimeter."
            if self.voice < 2
            else "We need the perimeter.",
            "We find the length of the border and multiply by the price of a metre.",
        )
        n, w = int(pen.copy(self.length)), self.width
        border = self._border(pen, n, w)
        pen.recap(f"The number to work with is {dec(border)}, and a metre costs {pen.cash(self.price)}.")
        cost = pen.mul(border, self.price)
        pen.step(
            rf"~the cost is ${dec(border)} \times {pen.money(self.price)} = {pen.money(cost)}$.",
            rf"At {pen.cash(self.price)} a metre this makes ${dec(border)} \times {self.price} = "
            rf"{dec(cost)}$.",
        )
        pen.finish(dec(cost), f">the price is {pen.cash(cost)}.", f"It costs {pen.cash(cost)} in all.")

    def _border(self, pen: Pen, n: int, w: int) -> Fraction:
        if pen.slip("perimeter_for_area", "the border is the perimeter, but the step computes the area."):
            area = pen.mul(n, w)
            pen.step(
                rf"~the rectangle measures ${n} \times {w} = {dec(area)}$, which is what has to be paid for.",
                rf"The size of the rectangle is ${n} \times {w} = {dec(area)}$.",
            )
            return area
        if pen.slip(
            "one_side_counted", "a rectangle has two sides of each length, so the sum must be doubled."
        ):
            half = Fraction(n + w)
            pen.step(
                f"~the way around it is ${n} + {w} = {dec(half)}$ m.",
                f"Its perimeter is ${n} + {w} = {dec(half)}$ m.",
            )
            return half
        if pen.way("halves", "sides") == "halves":
            half = pen.add(n, w)
            pen.step(
                f"~one long and one short side make ${n} + {w} = {dec(half)}$ m.",
                f"Half of the perimeter is ${n} + {w} = {dec(half)}$ m.",
            )
            if pen.slip("running_equals"):
                pen.because(
                    rf"the equals signs are strung together: $2 \times {dec(half)} = {dec(2 * half)}$ is "
                    rf"right, but it is not equal to ${dec(2 * half * self.price)}$."
                )
                pen.step(
                    rf"~we double it and take the price: $2 \times {dec(half)} = {dec(2 * half)} \times "
                    rf"{self.price} = {dec(2 * half * self.price)}$, so the fence is {dec(2 * half)} m long."
                )
                return 2 * half
            border = pen.mul(2, half)
            pen.step(
                rf"~the perimeter is $2 \times {dec(half)} = {dec(border)}$ m.",
                rf"Twice that is the perimeter, $2 \times {dec(half)} = {dec(border)}$ m.",
            )
            return border
        if pen.slip(
            "distributed_first_only",
            rf"both sides must be doubled: $2 \times ({n} + {w}) = {2 * n} + {2 * w}$.",
        ):
            border = Fraction(2 * n + w)
            pen.step(rf"~the perimeter is $2 \times ({n} + {w}) = {2 * n} + {w} = {dec(border)}$ m.")
            return border
        border = pen.add(2 * n, 2 * w)
        pen.step(
            rf"~the perimeter is $2 \times {n} + 2 \times {w} = {2 * n} + {2 * w} = {dec(border)}$ m.",
            f"Going around, we pass ${n} + {w} + {n} + {w} = {dec(border)}$ m.",
        )
        return border


@register
@dataclass(frozen=True)
class PoolPath(Template):
    """The area of a path around a rectangle."""

    name, topic, level = "pool-path", "measuring", 4
    length: int
    width: int
    path: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        width = rng.randint(5, 14)
        return cls(width + rng.randint(2, 12), width, rng.randint(1, 3), rng.randrange(3))

    def text(self) -> str:
        n, w, p = self.length, self.width, self.path
        return (
            f"A pool is {n} m long and {w} m wide. A path {p} m wide runs all around it. What is the area of "
            f"the path "
            "in square metres?",
            f"A rectangular lawn of {n} m by {w} m is surrounded by a {p} m wide strip of gravel. Find the "
            f"area of "
            "the gravel in square metres.",
            f"A picture of {n} dm by {w} dm has a frame that is {p} dm wide on every side. How many square "
            f"decimetres "
            "does the frame cover?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        inner, outer = (
            ("pool", "pool and path"),
            ("lawn", "lawn and gravel"),
            ("picture", "picture and frame"),
        )[self.voice]
        rest = ("path", "gravel", "frame")[self.voice]
        n, w, p = self.length, self.width, self.path
        pen.given(f"The {inner} measures {n} by {w}, and the {rest} around it is {p} wide.")
        pen.plan(
            f"The area of the {rest} is the area of {outer} together minus the area of the {inner}.",
            "We subtract the inner rectangle from the outer one.",
        )
        if pen.slip("one_side_counted"):
            long, short = n + p, w + p
            pen.because(f"the {rest} lies on both sides, so each length grows by {2 * p}, not by {p}.")
            pen.step(
                f"~the outer rectangle measures ${n} + {p} = {long}$ by ${w} + {p} = {short}$.",
                f"With the {rest}, the sides are ${n} + {p} = {long}$ and ${w} + {p} = {short}$.",
            )
        else:
            long, short = n + 2 * p, w + 2 * p
            pen.step(
                rf"~the outer rectangle measures ${n} + 2 \times {p} = {long}$ by ${w} + 2 \times {p} = "
                rf"{short}$.",
                f"With the {rest} on both sides, the sides are ${n} + {p} + {p} = {long}$ and "
                f"${w} + {p} + {p} = {short}$.",
            )
        if pen.slip("perimeter_for_area", "the step computes perimeters, but the question asks for an area."):
            whole, hole = Fraction(2 * (long + short)), Fraction(2 * (n + w))
            pen.step(rf"~the outer rectangle has $2 \times ({long} + {short}) = {dec(whole)}$.")
            pen.step(rf"The {inner} has $2 \times ({n} + {w}) = {dec(hole)}$.")
        else:
            whole = pen.mul(long, short)
            pen.step(
                rf"~the outer area is ${long} \times {short} = {dec(whole)}$.",
                rf"The area of {outer} together is ${long} \times {short} = {dec(whole)}$.",
            )
            hole = pen.mul(n, w)
            pen.step(
                rf"The area of the {inner} is ${n} \times {w} = {dec(hole)}$.",
                rf"~the {inner} alone covers ${n} \times {w} = {dec(hole)}$.",
            )
        if pen.slip("other_quantity", f"{dec(whole)} also counts the {inner}; only the {rest} is asked for."):
            pen.finish(dec(whole), f">the {rest} covers ${dec(whole)}$.")
            return
        area = pen.sub(whole, hole)
        pen.finish(
            dec(area),
            f"The {rest} covers ${dec(whole)} - {dec(hole)} = {dec(area)}$.",
            f"The difference is ${dec(whole)} - {dec(hole)} = {dec(area)}$.",
        )


@register
@dataclass(frozen=True)
class WaterTank(Template):
    """A tank in litres filled by a tap in millilitres per second; the time in minutes."""

    name, topic, level = "water-tank", "measuring", 3
    litres: int
    rate: int
    there: int
    who: tuple[str, str]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        rate, minutes = rng.choice((50, 100, 150, 200, 250, 300)), rng.randint(4, 35)
        need = rate * minutes * 60 // 1000
        there = rng.randint(5, 40)
        while rate * minutes * 60 % 1000:
            minutes += 1
            need = rate * minutes * 60 // 1000
        return cls(need + there, rate, there, person(rng), rng.randrange(3))

    def text(self) -> str:
        (who, _), n, r, t = self.who, self.litres, self.rate, self.there
        return (
            f"A tank holds {n} litres and already contains {t} litres of water. A tap adds {r} ml every "
            f"second. After "
            "how many minutes is the tank full?",
            f"{who} fills an aquarium of {n} litres through a hose that brings {r} ml per second. If {t} "
            f"litres are "
            "in it already, how many minutes does it take?",
            f"A barrel with room for {n} litres has {t} litres in it. Rain water runs in at {r} millilitres "
            f"per "
            "second. In how many minutes will it be full?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        r = self.rate
        pen.given(
            f"The volume is {self.litres} litres, {self.there} litres are there, and {r} ml come every "
            f"second.",
            f"Every second {r} ml of water are added.",
        )
        pen.plan(
            "We find the missing volume in millilitres, the time in seconds, and change it to minutes.",
            "Volume missing, then seconds, then minutes.",
        )
        if pen.slip("half_applied", f"{self.there} litres are there already and must be taken off first."):
            missing = Fraction(self.litres)
            pen.step(
                f"The tap has to bring {self.litres} litres.", f"~we need {self.litres} litres of water."
            )
        else:
            litres = pen.copy(self.litres)
            missing = pen.sub(litres, self.there)
            pen.step(
                f"~${dec(litres)} - {self.there} = {dec(missing)}$ litres are missing.",
                f"What is missing is ${dec(litres)} - {self.there} = {dec(missing)}$ litres.",
            )
        small = missing * 1000
        if pen.slip("unit_slip", "a litre has 1000 millilitres, not 100."):
            small = missing * 100
        pen.step(
            f">{dec(missing)} litres, or {dec(small)} ml, have to flow in.",
            f"In millilitres this is {dec(small)} ml.",
        )
        seconds = pen.div(small, r)
        pen.step(
            rf"~the time is ${dec(small)} \div {r} = {dec(seconds)}$ seconds.",
            rf"At {r} ml a second we need ${dec(small)} \div {r} = {dec(seconds)}$ seconds.",
        )
        pen.recap(f"So {dec(seconds)} seconds pass until it is full.")
        if pen.slip(
            "unit_slip", "a minute has 60 seconds, so the seconds must be divided by 60, not by 100."
        ):
            minutes = seconds / 100
            pen.finish(dec(minutes), f">that is {dec(minutes)} minutes.", f"This is {dec(minutes)} minutes.")
            return
        if pen.slip(
            "other_quantity", f"{dec(seconds)} is the time in seconds; the question asks for minutes."
        ):
            pen.finish(dec(seconds), f">it takes {dec(seconds)}.")
            return
        minutes = pen.div(seconds, 60)
        pen.finish(
            dec(minutes),
            rf"In minutes this is ${dec(seconds)} \div 60 = {dec(minutes)}$.",
            rf"~${dec(seconds)} \div 60 = {dec(minutes)}$, so it takes {dec(minutes)} minutes.",
        )
