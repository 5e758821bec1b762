"""Percent: changes and their base."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import dec, frac
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register


def as_decimal(pen: Pen, percent: int) -> Fraction:
    """The decimal of a percent, perhaps with the point in the wrong place."""
    right = Fraction(percent, 100)
    if percent % 10 and pen.slip("percent_to_decimal"):
        wrong = right * 10 if percent < 10 else right / 10
        pen.because(rf"${percent}\%$ is ${dec(right)}$, not ${dec(wrong)}$.")
        return wrong
    return right


@register
@dataclass(frozen=True)
class PercentChange(Template):
    """The change from one number to another in percent."""

    name, topic, level = "percent-change", "percent", 2
    old: int
    percent: int
    town: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            old = rng.choice(
                (20, 24, 25, 40, 48, 50, 60, 75, 80, 120, 125, 150, 160, 200, 240, 250, 300, 320, 400)
            )
            percent = rng.choice(
                (-60, -45, -40, -35, -30, -25, -20, -15, -12, 12, 15, 20, 25, 28, 30, 35, 40, 45, 60)
            )
            if old * percent % 100 == 0:
                towns = ("a riding club", "a village school", "a choir", "a chess club", "a swimming team")
                return cls(old, percent, rng.choice(towns), rng.randrange(2))

    @property
    def new(self) -> int:
        return self.old * (100 + self.percent) // 100

    def text(self) -> str:
        up = self.percent > 0
        return (
            f"Within a year {self.town} {'grows' if up else 'shrinks'} from {self.old} to {self.new} "
            f"members. By what "
            f"percent does the number of members {'increase' if up else 'decrease'}?",
            f"The price of a season ticket {'rises' if up else 'falls'} from ¤{self.old} to ¤{self.new}. By "
            f"what percent "
            f"does it {'go up' if up else 'go down'}?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        old, new, up = self.old, self.new, self.percent > 0
        high, low = (new, old) if up else (old, new)
        pen.given(f"The number goes from {old} to {new}.")
        pen.plan(
            "We compare the change with the old value.",
            "Percent change is the change divided by the old value.",
        )
        high_ = int(pen.copy(high))
        change = pen.sub(high_, low)
        pen.step(
            f"~the change is ${high_} - {low} = {dec(change)}$.",
            f"The difference is ${high_} - {low} = {dec(change)}$.",
        )
        pen.recap(f"It changes by {dec(change)}.")
        if pen.slip(
            "other_quantity",
            "that is the change itself; the question asks for it in percent of the old value.",
        ):
            pen.step(f"A change of {dec(change)} means {dec(change)} percent.")
            pen.finish(dec(change))
            return
        base = old
        if pen.slip(
            "percent_wrong_base", f"the change must be compared with the old value {old}, not with {new}."
        ):
            base = new
        share = change / base
        if 10_000 % share.denominator:
            share = Fraction(round(share * 1000), 1000)
            pen.step(
                rf"~as a part of {base} this is $\frac{{{dec(change)}}}{{{base}}} \approx {dec(share)}$."
            )
        else:
            share = pen.div(change, base)
            pen.step(
                f"~as a part of {base} this is ${frac(dec(change), base)} = {dec(share)}$.",
                rf"Dividing by {base}, we get ${dec(change)} \div {base} = {dec(share)}$.",
            )
        if pen.slip(
            "running_equals",
            f"${dec(change)}$ divided by ${base}$ is ${dec(share)}$, not ${dec(share * 100)}$.",
        ):
            percent = share * 100
            pen.finish(
                dec(percent),
                rf"In percent, ${dec(change)} \div {base} = {dec(share)} \times 100 = {dec(percent)}$.",
            )
            return
        percent = pen.mul(share, 100)
        pen.finish(
            dec(percent),
            rf"In percent this is ${dec(share)} \times 100 = {dec(percent)}$.",
            rf">it changes by ${dec(share)} \times 100 = {dec(percent)}$ percent.",
        )


@register
@dataclass(frozen=True)
class UpAndDown(Template):
    """A value rises by p percent and then falls by q percent."""

    name, topic, level = "up-and-down", "percent", 4
    start: int
    up: int
    down: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            start, up, down = (
                rng.randint(4, 40) * 20,
                rng.choice((5, 10, 15, 20, 25, 30, 40, 50)),
                rng.choice((5, 10, 15, 20, 25, 30, 40)),
            )
            end = Fraction(start * (100 + up) * (100 - down), 10_000)
            if (end * 10).denominator == 1:
                return cls(start, up, down, rng.randrange(3))

    def text(self) -> str:
        s, u, d = self.start, self.up, self.down
        return (
            rf"A share is worth ¤{s}. Its value rises by ${u}\%$ in March and falls by ${d}\%$ in April. "
            rf"What is it worth "
            "in dollars at the end of April?",
            f"A lake covers {s} hectares. After heavy rain its surface grows by {u}%, then it shrinks by "
            f"{d}% in the dry "
            "season. How many hectares does it cover now?",
            f"The rent of a workshop is ¤{s} a month. It goes up by {u} percent, and a year later down by "
            f"{d} percent. "
            "What is the rent now, in dollars?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        s, u, d = self.start, self.up, self.down
        pen.given(f"The value {s} goes up by {u}% and then down by {d}%.")
        if u != d and pen.slip("percents_added"):
            net = u - d
            pen.because(
                f"the second percent is taken of the new value, so {u}% up and {d}% down do not make {net}%."
            )
            pen.step(rf"~${u}\% - {d}\% = {net}\%$, so the value changes by ${net}\%$ altogether.")
            change = Fraction(s * net, 100)
            pen.step(rf"~${net}\%$ of {s} is ${dec(Fraction(net, 100))} \times {s} = {dec(change)}$.")
            end = s + change
            pen.finish(
                dec(end),
                f">the value is ${dec(s)} {'-' if net < 0 else '+'} {dec(abs(change))} = {dec(end)}$.",
            )
            return
        if u == d and pen.slip("percents_added"):
            pen.because(
                f"the {d}% are taken of a larger value than the {u}%, so the two changes do not cancel."
            )
            pen.step(f"The value rises by {u}% and falls by {d}%, so the two changes cancel.")
            pen.step("So it is back where it started.", "Nothing has changed in the end.")
            pen.finish(str(s), f">the value is {s} again.")
            return
        pen.plan(
            "We apply the two changes one after the other.",
            "First up, then down, each from the value before.",
        )
        start = Fraction(pen.copy(s))
        if pen.way("parts", "parts", "factors") == "factors":
            high = self._by_factor(pen, start, 100 + u)
            if pen.slip("other_quantity", f"this is the value before it falls by {d}%."):
                pen.finish(dec(high), f">the final value is {dec(high)}.")
                return
            factor = dec(Fraction(100 - d, 100))
            pen.step(f"Falling by {d}% means multiplying by ${factor}$.")
            end = pen.mul(Fraction(100 - d, 100), high)
            pen.finish(dec(end), rf">the value is ${factor} \times {dec(high)} = {dec(end)}$.")
            return
        rate = as_decimal(pen, u)
        rise = pen.mul(rate, start)
        pen.step(
            rf"~${u}\% = {dec(rate)}$ of {dec(start)} is ${dec(rate)} \times {dec(start)} = {dec(rise)}$.",
            rf"The rise is ${u}\% = {dec(rate)}$ of {dec(start)}, so ${dec(rate)} \times {dec(start)} = "
            rf"{dec(rise)}$.",
        )
        high = pen.add(start, rise)
        pen.step(f">the value goes up to ${dec(start)} + {dec(rise)} = {dec(high)}$.")
        pen.recap(f"So it stands at {dec(high)} before it falls.")
        self._fall(pen, high)

    def _by_factor(self, pen: Pen, start: Fraction, percent: int) -> Fraction:
        high = pen.mul(Fraction(percent, 100), start)
        factor = dec(Fraction(percent, 100))
        pen.step(
            rf"~rising by {self.up}% means multiplying by ${factor}$: ${factor} \times {dec(start)} = "
            rf"{dec(high)}$.",
        )
        return high

    def _fall(self, pen: Pen, high: Fraction) -> None:
        d = self.down
        base = high
        if pen.slip(
            "percent_wrong_base",
            f"the fall is {d}% of the value at that time, {dec(high)}, not of {self.start}.",
        ):
            base = Fraction(self.start)
        fall = pen.mul(Fraction(d, 100), base)
        pen.step(
            rf"~${d}\%$ of {dec(base)} is ${dec(Fraction(d, 100))} \times {dec(base)} = {dec(fall)}$.",
            rf"The fall is ${dec(Fraction(d, 100))} \times {dec(base)} = {dec(fall)}$.",
        )
        end = pen.sub(high, fall)
        pen.finish(
            dec(end),
            f">in the end the value is ${dec(high)} - {dec(fall)} = {dec(end)}$.",
            f"Taking this away leaves ${dec(high)} - {dec(fall)} = {dec(end)}$.",
        )
