"""Buying and selling: change, decimals, profit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import coins, dec
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, goods, person, register
from models_prm.practice.wording import SHOPS


@register
@dataclass(frozen=True)
class ShopChange(Template):
    """Two kinds of goods at whole prices, paid with a note."""

    name, topic, level = "shop-change", "arithmetic", 1
    who: tuple[str, str]
    things: tuple[tuple[str, str], tuple[str, str]]
    counts: tuple[int, int]
    prices: tuple[int, int]
    note: int
    shop: str
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        counts = (rng.randint(3, 9), rng.randint(2, 8))
        prices = tuple(rng.sample(range(3, 13), 2))
        total = counts[0] * prices[0] + counts[1] * prices[1]
        note = next(n for n in (50, 100, 200, 300) if n > total)
        return cls(
            person(rng), goods(rng), counts, (prices[0], prices[1]), note, rng.choice(SHOPS), rng.randrange(3)
        )

    def text(self) -> str:
        (who, they), ((a, many_a), (b, many_b)) = self.who, self.things
        (k, n), (p, q) = self.counts, self.prices
        return (
            f"{who} buys {k} {many_a} at ¤{p} each and {n} {many_b} at ¤{q} each and pays with ¤{self.note}. "
            f"How many dollars does {they} get back?",
            f"At {self.shop} a {a} costs ¤{p} and a {b} costs ¤{q}. {who} takes {k} {many_a} and {n} "
            f"{many_b} and "
            f"hands over ¤{self.note}. How much change does {they} receive, in dollars?",
            f"{who} has ¤{self.note}. At {self.shop} {they} pays for {k} {many_a}, which cost ¤{p} apiece, "
            f"and for "
            f"{n} {many_b} at ¤{q} apiece. How many dollars are left?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        (k, n), ((_, many_a), (_, many_b)) = self.counts, self.things
        pen.given(
            f"{self.who[0]} buys {k} {many_a} and {n} {many_b}.",
            f"The prices are {pen.cash(self.prices[0])} and {pen.cash(self.prices[1])}, "
            f"and {pen.cash(self.note)} is handed over.",
        )
        pen.plan(
            "We add up what everything costs and take it away from the money paid.",
            "The change is the money paid minus the total price.",
        )
        p, q, m = self.prices[0], self.prices[1], pen.money
        running = pen.slip("running_equals")
        if running:
            first, second = Fraction(k * p), Fraction(n * q)
            pen.because(
                rf"the equals signs are strung together: ${k} \times {p}$ is ${k * p}$, not "
                rf"${k * p + n * q}$."
            )
            pen.step(
                rf"~we work out everything in one line: ${k} \times {p} = {dec(first)} + {dec(second)} "
                rf"= {dec(first + second)}$, where ${dec(second)} = {n} \times {q}$."
            )
        else:
            first = pen.mul(k, p)
            pen.step(
                rf"~the {many_a} cost ${k} \times {m(p)} = {m(first)}$.",
                rf"~{k} {many_a} at {pen.cash(p)} each make ${k} \times {p} = {dec(first)}$.",
                rf"For the {many_a}, {self.who[0]} pays ${k} \times {p} = {dec(first)}$.",
            )
            second = pen.mul(n, q)
            pen.step(
                rf"The {many_b} cost ${n} \times {m(q)} = {m(second)}$.",
                rf"~{n} {many_b} at {pen.cash(q)} each make ${n} \times {q} = {dec(second)}$.",
                rf"For the {many_b} it is ${n} \times {q} = {dec(second)}$.",
            )
        pen.recap(f"The two parts of the bill are {pen.cash(first)} and {pen.cash(second)}.")
        if pen.way("total", "total", "one by one") == "total":
            self._by_total(pen, first, second)
        else:
            self._one_by_one(pen, first, second)

    def _by_total(self, pen: Pen, first: Fraction, second: Fraction) -> None:
        m = pen.money
        total = pen.add(first, second)
        pen.step(
            f"~the total is ${m(first)} + {m(second)} = {m(total)}$.",
            f"Together that is ${dec(first)} + {dec(second)} = {dec(total)}$.",
            f"Altogether {self.who[0]} spends ${dec(first)} + {dec(second)} = {dec(total)}$.",
        )
        if pen.slip(
            "other_quantity", f"{dec(total)} is the price of everything; the question asks what is left."
        ):
            pen.finish(dec(total), f">the answer is {pen.cash(total)}.")
            return
        self._close(pen, total)

    def _close(self, pen: Pen, total: Fraction) -> None:
        note = self.note
        change = pen.sub(note, total)
        pen.finish(
            dec(change),
            f"The change is ${pen.money(note)} - {pen.money(total)} = {pen.money(change)}$.",
            f"From {pen.cash(note)} there remain ${note} - {dec(total)} = {dec(change)}$.",
            f">{self.who[0]} has ${note} - {dec(total)} = {dec(change)}$ dollars left.",
        )

    def _one_by_one(self, pen: Pen, first: Fraction, second: Fraction) -> None:
        many_a = self.things[0][1]
        rest = pen.sub(self.note, first)
        pen.step(
            f"After the {many_a}, ${self.note} - {dec(first)} = {dec(rest)}$ is left.",
            f"~paying for the {many_a} leaves ${pen.money(self.note)} - {pen.money(first)} = "
            f"{pen.money(rest)}$.",
        )
        change = pen.sub(rest, second)
        pen.finish(
            dec(change),
            f"After the rest, ${dec(rest)} - {dec(second)} = {dec(change)}$ is left.",
            f"Taking away the other part leaves ${pen.money(rest)} - {pen.money(second)} = "
            f"{pen.money(change)}$.",
        )


@register
@dataclass(frozen=True)
class DecimalPrices(Template):
    """Decimal prices: several of one, one of another, and the share of each friend."""

    name, topic, level = "decimal-prices", "arithmetic", 2
    things: tuple[tuple[str, str], tuple[str, str]]
    count: int
    cents: tuple[int, int]
    friends: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            count, friends = rng.randint(3, 8), rng.choice((2, 3, 4, 5, 6))
            p, q = rng.randint(112, 475), rng.randint(215, 985)
            if (count * p + q) % friends == 0 and p % 10 and q % 10:
                return cls(goods(rng), count, (p, q), friends, rng.randrange(3))

    def text(self) -> str:
        (a, many_a), (b, _) = self.things
        p, q = coins(Fraction(self.cents[0], 100)), coins(Fraction(self.cents[1], 100))
        k, f = self.count, self.friends
        return (
            f"One {a} costs ¤{p} and one {b} costs ¤{q}. {f} friends buy {k} {many_a} and one {b} and share "
            f"the cost "
            "equally. How many dollars does each of them pay?",
            f"{f} friends split a bill equally. The bill lists {k} {many_a} at ¤{p} each and a {b} for ¤{q}. "
            "What does each friend pay, in dollars?",
            f"A present for a teacher consists of {k} {many_a} (¤{p} each) and a {b} (¤{q}). It is paid by "
            f"{f} "
            "pupils in equal parts. How many dollars does one pupil pay?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        (_, many_a), (b, _) = self.things
        k, f, m = self.count, self.friends, pen.money
        p, q = Fraction(self.cents[0], 100), Fraction(self.cents[1], 100)
        pen.given(
            f"There are {k} {many_a} at {pen.cash(p)} each and one {b} at {pen.cash(q)}, shared by {f}.",
            f"The cost of {k} {many_a} and one {b} is split into {f} equal parts.",
        )
        pen.plan("First the total, then the share of each.", f"We find the whole bill and divide it by {f}.")
        price = Fraction(pen.copy(p))
        goods_cost = pen.mul(k, price)
        pen.step(
            rf"~the {many_a} cost ${k} \times {m(price)} = {m(goods_cost)}$.",
            rf"~for {k} {many_a} we pay ${k} \times {coins(price)} = {coins(goods_cost)}$.",
            rf"Multiplying, ${k} \times {coins(price)} = {coins(goods_cost)}$ for the {many_a}.",
        )
        if pen.slip(
            "other_quantity", f"the bill also has one {b} on it, so {coins(q)} must be added before sharing."
        ):
            total = goods_cost
            pen.step(f"The whole bill is therefore {pen.cash(total)}.", f">{pen.cash(total)} must be shared.")
        else:
            total = pen.add(goods_cost, q)
            pen.step(
                f"~with the {b} the bill is ${m(goods_cost)} + {m(q)} = {m(total)}$.",
                f"Adding the {b}, we get ${coins(goods_cost)} + {coins(q)} = {coins(total)}$.",
            )
        pen.recap(f"The whole bill comes to {pen.cash(total)}.")
        if pen.slip("unjustified_jump"):
            share = Fraction(round(total / f)) if round(total / f) != total / f else total / f + 1
            pen.because(f"nothing lets us round here: {coins(total)} divided by {f} is not {coins(share)}.")
            pen.finish(
                coins(share),
                f"Rounded to whole dollars, since people pay in dollars, each pays {pen.cash(share)}.",
            )
            return
        if pen.slip("running_equals", f"the sum is {coins(total)}, which is not equal to its part."):
            share = total / f
            pen.finish(
                coins(share),
                rf"Now ${coins(total - q)} + {coins(q)} = {coins(total)} \div {f} = {coins(share)}$, "
                "which each of them pays.",
            )
            return
        share = pen.div(total, f)
        pen.finish(
            coins(share),
            rf"Each pays ${m(total)} \div {f} = {m(share)}$.",
            rf"Dividing by {f} gives ${coins(total)} \div {f} = {coins(share)}$.",
            rf">one share is ${coins(total)} \div {f} = {coins(share)}$ dollars.",
        )


@register
@dataclass(frozen=True)
class StallProfit(Template):
    """Buy boxes, sell pieces: profit."""

    name, topic, level = "stall-profit", "arithmetic", 3
    who: tuple[str, str]
    thing: tuple[str, str]
    boxes: int
    per_box: int
    cost: int
    price: int
    unsold: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        boxes, per_box = rng.randint(3, 9), rng.choice((6, 8, 12, 15, 16, 24))
        price = rng.randint(2, 9)
        cost = rng.randint(price * per_box // 3, price * per_box * 2 // 3)
        return cls(
            person(rng),
            goods(rng)[0],
            boxes,
            per_box,
            cost,
            price,
            rng.randint(2, per_box - 2),
            rng.randrange(2),
        )

    def text(self) -> str:
        (who, they), (_, many) = self.who, self.thing
        return (
            f"{who} buys {self.boxes} boxes of {many} for ¤{self.cost} a box. There are {self.per_box} in a "
            f"box. "
            f"{they.capitalize()} sells them for ¤{self.price} each, but {self.unsold} stay unsold. "
            f"What is the profit in dollars?",
            f"A box of {self.per_box} {many} costs ¤{self.cost}. {who} takes {self.boxes} boxes to the "
            f"market and "
            f"sells all but {self.unsold} of the {many} at ¤{self.price} each. How many dollars does {they} "
            f"earn "
            "after paying for the boxes?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        (who, _), (_, many), m = self.who, self.thing, pen.money
        pen.given(
            f"{who} has {self.boxes} boxes with {self.per_box} {many} each, and {self.unsold} are not sold.",
            f"We know the cost of a box, {pen.cash(self.cost)}, and the price of one piece, "
            f"{pen.cash(self.price)}.",
        )
        pen.plan(
            "The profit is the income minus the cost.", f"We count the {many} sold and find income and cost."
        )
        all_of_them = pen.mul(self.boxes, self.per_box)
        pen.step(
            rf"~there are ${self.boxes} \times {self.per_box} = {dec(all_of_them)}$ {many} in all.",
            rf"The boxes hold ${self.boxes} \times {self.per_box} = {dec(all_of_them)}$ {many}.",
        )
        sold = self._sold(pen, all_of_them)
        income = pen.mul(sold, self.price)
        pen.step(
            rf"~they bring in ${dec(sold)} \times {m(self.price)} = {m(income)}$.",
            rf"The income is ${dec(sold)} \times {self.price} = {dec(income)}$.",
        )
        if pen.slip(
            "other_quantity", "that is the income; the profit is what is left after paying for the boxes."
        ):
            pen.finish(dec(income), f">the profit is {pen.cash(income)}.")
            return
        if pen.slip(
            "half_applied", f"{who} buys {self.boxes} boxes, so the cost of one box is not the whole cost."
        ):
            cost = Fraction(self.cost)
            pen.step(
                f"The cost is {pen.cash(cost)}.", f"To pay for the {many}, {who} spends {pen.cash(cost)}."
            )
        else:
            cost = pen.mul(self.boxes, self.cost)
            pen.step(
                rf"The boxes cost ${self.boxes} \times {m(self.cost)} = {m(cost)}$.",
                rf"~the cost is ${self.boxes} \times {self.cost} = {dec(cost)}$.",
            )
        profit = pen.sub(income, cost)
        pen.finish(
            dec(profit),
            f">the profit is ${dec(income)} - {dec(cost)} = {dec(profit)}$ dollars.",
            f"Income minus cost is ${dec(income)} - {dec(cost)} = {dec(profit)}$.",
        )

    def _sold(self, pen: Pen, all_of_them: Fraction) -> Fraction:
        if pen.slip(
            "copied_wrong", f"{self.unsold} pieces stay unsold in the whole, not {self.unsold} in each box."
        ):
            sold = all_of_them - self.unsold * self.boxes
            pen.step(
                rf"In every box {self.unsold} stay unsold, which leaves ${dec(all_of_them)} - {self.unsold} "
                rf"\times "
                rf"{self.boxes} = {dec(sold)}$."
            )
            return sold
        sold = pen.sub(all_of_them, self.unsold)
        pen.step(
            f"~${dec(all_of_them)} - {self.unsold} = {dec(sold)}$ of them are sold.",
            f"As {self.unsold} stay unsold, the number sold is ${dec(all_of_them)} - {self.unsold} = "
            f"{dec(sold)}$.",
        )
        return sold
