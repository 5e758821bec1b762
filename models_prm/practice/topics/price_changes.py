"""Percent: discount, tax, and the price before."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import coins, dec
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, register
from models_prm.practice.topics.percent import as_decimal
from models_prm.practice.wording import SHOPS


@register
@dataclass(frozen=True)
class DiscountThenTax(Template):
    """A discount and then a tax on the reduced price."""

    name, topic, level = "discount-then-tax", "percent", 3
    price: int
    off: int
    tax: int
    thing: str
    shop: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            price, off, tax = (
                rng.randint(4, 60) * 10,
                rng.choice((10, 15, 20, 25, 30, 40)),
                rng.randint(4, 15),
            )
            final = Fraction(price * (100 - off) * (100 + tax), 10_000)
            if (final * 100).denominator == 1 and tax != off:
                things = ("jacket", "bicycle", "desk lamp", "tent", "violin", "suitcase", "keyboard")
                return cls(price, off, tax, rng.choice(things), rng.choice(SHOPS), rng.randrange(3))

    def text(self) -> str:
        p, d, t, thing = self.price, self.off, self.tax, self.thing
        return (
            rf"A {thing} costs ¤{p}. It is reduced by ${d}\%$, and then a sales tax of ${t}\%$ is added to "
            rf"the "
            "reduced price. How many dollars does the buyer pay?",
            f"At {self.shop} a {thing} is marked ¤{p}. The customer gets {d}% off and pays {t}% tax on the "
            f"reduced "
            "price. What is the final price in dollars?",
            f"The price of a {thing}, ¤{p} before tax, drops by {d} percent in a sale. Tax of {t} percent is "
            f"charged "
            "on the sale price. Find the amount paid in dollars.",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        p, d, t, m = self.price, self.off, self.tax, pen.money
        pen.given(f"The {self.thing} costs {pen.cash(p)} before the discount of {d}% and the tax of {t}%.")
        if pen.slip("percents_added"):
            net = d - t
            word = "less" if net > 0 else "more"
            pen.because(
                f"the tax is charged on the reduced price and the discount on the full price, so the "
                f"percents have "
                f"different bases and cannot be combined into {abs(net)}%."
            )
            pen.step(
                f"A discount of {d}% and a tax of {t}% together make the price {abs(net)}% {word}.",
                f"~we combine both changes: the price ends up {abs(net)}% {word} than before.",
            )
            change = Fraction(p * abs(net), 100)
            pen.step(
                rf"~{abs(net)}% of {p} is ${dec(Fraction(abs(net), 100))} \times {p} = {coins(change)}$."
            )
            final = p - change if net > 0 else p + change
            sign = "-" if net > 0 else "+"
            pen.finish(coins(final), f"The final price is ${p} {sign} {coins(change)} = {coins(final)}$.")
            return
        pen.plan("First we find the reduced price, then we add the tax.", "Discount first, tax second.")
        sale = self._sale(pen)
        pen.recap(f"The reduced price is {pen.cash(sale)}.")
        if pen.slip(
            "other_quantity", f"{coins(sale)} is the price before tax; the tax still has to be added."
        ):
            pen.finish(coins(sale), f">the customer pays {pen.cash(sale)}.")
            return
        base = sale
        if pen.slip(
            "percent_wrong_base", f"the tax is charged on the reduced price {coins(sale)}, not on {p}."
        ):
            base = Fraction(p)
        rate = as_decimal(pen, t) if base == sale else Fraction(t, 100)
        tax = pen.mul(rate, base)
        pen.step(
            rf"~the tax is ${t}\% = {dec(rate)}$ of {coins(base)}, that is ${dec(rate)} \times {m(base)} = "
            rf"{m(tax)}$.",
            rf"With ${t}\% = {dec(rate)}$, the tax is ${dec(rate)} \times {coins(base)} = {coins(tax)}$.",
        )
        total = pen.add(sale, tax)
        pen.finish(
            coins(total),
            f">the final price is ${m(sale)} + {m(tax)} = {m(total)}$.",
            f"Adding the tax gives ${coins(sale)} + {coins(tax)} = {coins(total)}$.",
        )

    def _sale(self, pen: Pen) -> Fraction:
        p, d, m = Fraction(pen.copy(self.price)), self.off, pen.money
        if pen.way("factor", "part", "part") == "factor":
            keep = pen.sub(100, d)
            sale = pen.mul(keep / 100, p)
            pen.step(
                rf"~the reduced price is $100 - {d} = {dec(keep)}$ percent of {coins(p)}, so "
                rf"${dec(keep / 100)} \times {m(p)} = {m(sale)}$.",
            )
            return sale
        rate = as_decimal(pen, d)
        cut = pen.mul(rate, p)
        pen.step(
            rf"~the discount is ${d}\% = {dec(rate)}$ of {coins(p)}: ${dec(rate)} \times {m(p)} = {m(cut)}$.",
            rf"Since ${d}\% = {dec(rate)}$, the discount is ${dec(rate)} \times {coins(p)} = {coins(cut)}$.",
        )
        if pen.slip("other_quantity", f"{coins(cut)} is the discount, not the price after it."):
            pen.step(f">the reduced price is {pen.cash(cut)}.")
            return cut
        sale = pen.sub(p, cut)
        pen.step(
            f"~the reduced price is ${m(p)} - {m(cut)} = {m(sale)}$.",
            f"Taking it off leaves ${coins(p)} - {coins(cut)} = {coins(sale)}$.",
        )
        return sale


@register
@dataclass(frozen=True)
class PriceBefore(Template):
    """The price before a discount or a rise."""

    name, topic, level = "price-before", "percent", 4
    before: int
    percent: int
    rise: bool
    thing: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            before, percent, rise = (
                rng.randint(8, 160) * 5,
                rng.choice((5, 10, 15, 20, 25, 30, 35, 40)),
                rng.random() < 0.4,
            )
            after = Fraction(before * (100 + (percent if rise else -percent)), 100)
            if after.denominator == 1:
                things = ("coat", "phone", "rug", "guitar", "chair", "camera", "drill")
                return cls(before, percent, rise, rng.choice(things), rng.randrange(2))

    @property
    def after(self) -> int:
        return self.before * (100 + (self.percent if self.rise else -self.percent)) // 100

    def text(self) -> str:
        verb = "a rise of" if self.rise else "a discount of"
        done = "raised" if self.rise else "lowered"
        return (
            rf"After {verb} ${self.percent}\%$ a {self.thing} costs ¤{self.after}. How many dollars did it "
            rf"cost before?",
            f"The price of a {self.thing} was {done} by {self.percent}% and is now ¤{self.after}. What was "
            f"the old price "
            "in dollars?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        after, d, m = self.after, self.percent, pen.money
        pen.given(f"The new price is {pen.cash(after)}, and the change was {d}% of the old price.")
        if pen.slip("percent_wrong_base"):
            pen.because(f"the {d}% are {d}% of the old price, not of the new price {after}.")
            part = Fraction(after * d, 100)
            pen.step(
                rf"~{d}% of {after} is ${dec(Fraction(d, 100))} \times {m(after)} = {m(part)}$, "
                "which is what the price has changed by.",
                rf"The change was {d}% of {pen.cash(after)}, so ${dec(Fraction(d, 100))} \times {after} = "
                rf"{coins(part)}$.",
            )
            pen.recap(f"So the price has changed by {pen.cash(part)}.")
            old, sign = (after - part, "-") if self.rise else (after + part, "+")
            pen.step(f"We undo the change: ${after} {sign} {coins(part)} = {coins(old)}$.")
            pen.finish(coins(old), f"The old price was {pen.cash(old)}.")
            return
        pen.plan(
            "The old price is 100%.", "We take the old price as 100% and see what percent the new price is."
        )
        sign = "+" if self.rise else "-"
        share = pen.add(100, d) if self.rise else pen.sub(100, d)
        pen.step(
            rf"~the new price is $100\% {sign} {d}\% = {dec(share)}\%$ of the old price.",
            rf"The {pen.cash(after)} are $100\% {sign} {d}\% = {dec(share)}\%$ of the old price.",
        )
        pen.recap(rf"We know that ${dec(share)}\%$ are {pen.cash(after)}.")
        after_ = Fraction(pen.copy(after))
        if pen.way("one percent", "divide") == "one percent":
            one = pen.div(after_, share)
            pen.step(
                rf"~$1\%$ of the old price is ${m(after_)} \div {dec(share)} = {dec(one)}$.",
                rf"One percent is therefore ${dec(after_)} \div {dec(share)} = {dec(one)}$.",
            )
            old = pen.mul(one, 100)
            pen.finish(coins(old), rf">the old price was ${dec(one)} \times 100 = {coins(old)}$.")
            return
        if pen.slip("divided_upside_down", f"to go back to the old price we divide by ${dec(share / 100)}$."):
            old = after_ * share / 100
            pen.step(
                rf">the old price is $x = {dec(after_)} \times {dec(share / 100)}$, since it is "
                rf"${dec(share)}\%$ of that."
            )
            pen.finish(coins(old), rf"This is ${dec(after_)} \times {dec(share / 100)} = {coins(old)}$.")
            return
        pen.step(
            rf"With the old price $x$, ${dec(share / 100)}x = {dec(after_)}$.",
            rf"~if $x$ is the old price, then ${dec(share / 100)}x = {dec(after_)}$.",
        )
        old = pen.div(after_, share / 100)
        pen.finish(coins(old), rf">$x = {dec(after_)} \div {dec(share / 100)} = {coins(old)}$.")

    def unknowns(self) -> dict[str, tuple[int, ...]]:
        return {"x": (self.before,)}
