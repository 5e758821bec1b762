"""Means: of groups, of scores still to come, and speed on two parts of a way."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Self

from models_prm.practice.latex import dec, frac, num
from models_prm.practice.pen import Pen
from models_prm.practice.template import Template, person, register


@register
@dataclass(frozen=True)
class TwoGroups(Template):
    """The mean of two groups of different size."""

    name, topic, level = "two-groups", "averages", 3
    sizes: tuple[int, int]
    means: tuple[int, int]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            n, m = rng.sample(range(8, 31), 2)
            a, b = rng.sample(range(52, 96), 2)
            if (n * a + m * b) % (n + m) == 0 and 2 * (n * a + m * b) != (a + b) * (n + m):
                return cls((n, m), (a, b), rng.randrange(3))

    def text(self) -> str:
        (n, m), (a, b) = self.sizes, self.means
        return (
            f"In a class of {n} students the average score on a test is {a}. In another class, of {m} "
            f"students, it is "
            f"{b}. What is the average score of all the students together?",
            f"A chess club has {n} junior and {m} senior members. The juniors' average number of points is "
            f"{a}, the "
            f"seniors' average is {b}. Find the average of the whole club.",
            f"A theatre sold on average {a} seats a night in {n} nights of spring and {b} seats a night in "
            f"{m} nights "
            f"of autumn. What was its average per night over all these nights?",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        n, m = self.sizes
        pen.given(
            f"One group has {n} members with average {self.means[0]}, the other {m} with average "
            f"{self.means[1]}.",
            f"We are given two averages, {self.means[0]} and {self.means[1]}.",
        )
        if pen.slip("averaged_averages"):
            a, b = self.means
            mean = Fraction(a + b, 2)
            pen.because(
                f"the groups have different sizes, {n} and {m}, so the average of the two averages is not "
                f"the "
                "average of all."
            )
            pen.step(
                f"The overall average is the average of the two averages, {a} and {b}.",
                f"~we take the mean of {a} and {b}, because there are two groups.",
            )
            total = pen.add(a, b)
            pen.step(f"Their sum is ${a} + {b} = {dec(total)}$.", f"~${a} + {b} = {dec(total)}$.")
            mean = pen.div(total, 2)
            pen.finish(dec(mean), rf"Half of it is ${dec(total)} \div 2 = {dec(mean)}$.")
            return
        pen.plan(
            "The overall average is the sum of everything divided by the number of all members.",
            "We need the total of both groups before we divide.",
        )
        known, b = pen.copy(self.means[0]), self.means[1]
        first = pen.mul(n, known)
        pen.step(
            rf"~the total of the first group is ${n} \times {dec(known)} = {dec(first)}$.",
            rf"The first group contributes ${n} \times {dec(known)} = {dec(first)}$.",
        )
        second = pen.mul(m, b)
        pen.step(
            rf"The total of the second group is ${m} \times {b} = {dec(second)}$.",
            rf"~the second group contributes ${m} \times {b} = {dec(second)}$.",
        )
        total = pen.add(first, second)
        pen.step(
            f"~the grand total is ${dec(first)} + {dec(second)} = {dec(total)}$.",
            f"Together they have ${dec(first)} + {dec(second)} = {dec(total)}$.",
        )
        self._divide(pen, total)

    def _divide(self, pen: Pen, total: Fraction) -> None:
        n, m = self.sizes
        pen.recap(f"All in all we have {dec(total)} to spread over both groups.")
        if pen.slip(
            "averaged_averages", f"the total belongs to {n + m} members, so dividing it by 2 means nothing."
        ):
            mean = total / 2
            pen.finish(
                dec(mean), rf"There are two groups, so the average is ${dec(total)} \div 2 = {dec(mean)}$."
            )
            return
        size = pen.add(n, m)
        pen.step(
            f"There are ${n} + {m} = {dec(size)}$ in both groups.",
            f"The number of all is ${n} + {m} = {dec(size)}$.",
        )
        mean = pen.div(total, size)
        pen.finish(
            num(mean),
            f">the average is ${frac(dec(total), dec(size))} = {num(mean)}$.",
            rf"Dividing, ${dec(total)} \div {dec(size)} = {num(mean)}$.",
        )


@register
@dataclass(frozen=True)
class NextScore(Template):
    """The score needed to reach a mean."""

    name, topic, level = "next-score", "averages", 3
    who: tuple[str, str]
    scores: tuple[int, ...]
    goal: int
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            scores = tuple(rng.randint(61, 97) for _ in range(rng.choice((3, 4, 4, 5))))
            goal = rng.randint(70, 92)
            needed = goal * (len(scores) + 1) - sum(scores)
            if 60 <= needed <= 100 and needed != goal:
                return cls(person(rng), scores, goal, rng.randrange(3))

    def text(self) -> str:
        (who, they), count = self.who, len(self.scores)
        listed = ", ".join(str(s) for s in self.scores[:-1]) + f" and {self.scores[-1]}"
        return (
            f"{who} scored {listed} on {count} tests. What must {they} score on the next test so that the "
            f"average of "
            f"all {count + 1} tests is {self.goal}?",
            f"On {count} quizzes {who} has got {listed} points. How many points on one more quiz bring the "
            f"average to "
            f"exactly {self.goal}?",
            f"The average of {count + 1} numbers is {self.goal}. {count} of them are {listed}. Find the "
            f"missing "
            "number.",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        scores, count = self.scores, len(self.scores)
        shown = " + ".join(str(s) for s in scores)
        pen.given(
            f"There are {count} known values and one unknown value, with an average of {self.goal}.",
            f"The known values are {', '.join(str(s) for s in scores)}.",
        )
        if pen.slip("unjustified_jump"):
            pen.because(
                "the unknown value equals the average only if the known values have this average too, and "
                "they do not."
            )
            pen.step(
                f"If the average is to be {self.goal}, the missing value has to be at the average itself."
            )
            pen.step(f"The average asked for is {self.goal}, so the missing value is {self.goal}.")
            pen.finish(str(self.goal))
            return
        pen.plan(
            f"We compare the total needed for {count + 1} values with the total so far.",
            "An average times the number of values is their sum, so we work with sums.",
        )
        most = pen.add(sum(scores[:-1]), scores[-1])
        pen.step(
            f"~the sum so far is ${shown} = {dec(most)}$.",
            f"Adding the known values, ${shown} = {dec(most)}$.",
        )
        number = count + 1
        if pen.slip("fencepost", f"with the new one there are {count + 1} values, not {count}."):
            number = count
        needed = pen.mul(number, self.goal)
        pen.step(
            rf"The total has to be ${number} \times {self.goal} = {dec(needed)}$.",
            rf"~for an average of {self.goal} we need ${number} \times {self.goal} = {dec(needed)}$ in "
            rf"total.",
        )
        pen.recap(f"So we have {dec(most)} and need {dec(needed)}.")
        if pen.slip("other_quantity", f"{dec(needed)} is the total of all values, not the missing one."):
            pen.finish(dec(needed), f">the value needed is {dec(needed)}.")
            return
        missing = pen.sub(needed, most)
        pen.finish(
            dec(missing),
            f"The missing value is ${dec(needed)} - {dec(most)} = {dec(missing)}$.",
            f"What is missing is ${dec(needed)} - {dec(most)} = {dec(missing)}$.",
        )


@register
@dataclass(frozen=True)
class TwoSpeeds(Template):
    """The mean speed over two parts of a way, one time given in minutes."""

    name, topic, level = "two-speeds", "averages", 5
    who: tuple[str, str]
    minutes: tuple[int, int]
    speeds: tuple[int, int]
    voice: int

    @classmethod
    def draw(cls, rng: Random) -> Self:
        while True:
            t, u = rng.sample((30, 45, 60, 75, 90, 105, 120, 150), 2)
            v, w = rng.sample(range(8, 64, 4), 2)
            way = Fraction(t * v + u * w, 60)
            if t % 60 and way.denominator == 1 and (way * 60 / (t + u)).denominator == 1:
                return cls(person(rng), (t, u), (v, w), rng.randrange(2))

    def text(self) -> str:
        (who, _), (t, u), (v, w) = self.who, self.minutes, self.speeds
        return (
            f"{who} cycles for {t} minutes at {v} km/h and then takes a tram for {u} minutes at {w} km/h. "
            "What is the average speed of the whole journey in km/h?",
            f"A boat sails at {v} km/h for {t} minutes and at {w} km/h for another {u} minutes. "
            "Find its average speed over the whole trip, in km/h.",
        )[self.voice]

    def solve(self, pen: Pen) -> None:
        (t, u), (v, w) = self.minutes, self.speeds
        pen.given(
            f"The first part takes {t} minutes at {v} km/h, the second {u} minutes at {w} km/h.",
            "Average speed means the whole distance divided by the whole time.",
        )
        if pen.slip("averaged_averages"):
            pen.because(
                f"the two parts last {t} and {u} minutes, so the mean of the two speeds is not the mean "
                f"speed."
            )
            pen.step(f"The average speed is the mean of the two speeds, {v} km/h and {w} km/h.")
            total = pen.add(v, w)
            pen.step(f"The speeds add up to ${v} + {w} = {dec(total)}$.")
            mean = pen.div(total, 2)
            pen.finish(dec(mean), rf"Half of this is ${dec(total)} \div 2 = {dec(mean)}$ km/h.")
            return
        pen.plan(
            "We find the distance of each part and divide the whole distance by the whole time.",
            "We change the minutes to hours and find both distances.",
        )
        first_time, second_time = self._hours(pen, t), Fraction(u, 60)
        pen.step(
            f"~the times in hours are ${num(first_time)}$ and ${num(second_time)}$.",
            f"In hours, {t} minutes are ${num(first_time)}$ and {u} minutes are ${num(second_time)}$.",
        )
        first, second = first_time * v, second_time * w
        pen.step(
            rf"~the distances are ${num(first_time)} \times {v} = {num(first)}$ km and "
            rf"${num(second_time)} \times {w} = {num(second)}$ km.",
            rf"Distance is time by speed: ${num(first_time)} \times {v} = {num(first)}$ and "
            rf"${num(second_time)} \times {w} = {num(second)}$, both in km.",
        )
        self._close(pen, first, second, first_time + second_time)

    def _hours(self, pen: Pen, minutes: int) -> Fraction:
        if pen.slip("unit_slip"):
            wrong = Fraction(minutes, 100)
            pen.because(
                f"an hour has 60 minutes, so {minutes} minutes are ${num(Fraction(minutes, 60))}$ hours, "
                f"not ${num(wrong)}$."
            )
            return wrong
        return Fraction(minutes, 60)

    def _close(self, pen: Pen, first: Fraction, second: Fraction, time: Fraction) -> None:
        way = pen.add(first, second)
        pen.step(
            f"~the whole way is ${num(first)} + {num(second)} = {num(way)}$ km.",
            f"Altogether the distance is ${num(first)} + {num(second)} = {num(way)}$ km.",
        )
        if pen.slip("other_quantity", f"{num(way)} km is the distance; the question asks for the speed."):
            pen.finish(num(way), f">the result is ${num(way)}$.")
            return
        if pen.slip(
            "averaged_averages", f"the distance must be divided by the time, ${num(time)}$ hours, not by 2."
        ):
            time = Fraction(2)
            pen.step("There are two parts, so we divide the distance by 2.")
        else:
            pen.step(
                f"The whole time is ${num(time)}$ hours.",
                f"~the journey takes ${num(time)}$ hours in all.",
            )
        speed = way / time
        pen.finish(
            num(speed),
            rf">the average speed is ${num(way)} \div {num(time)} = {num(speed)}$ km/h.",
            rf"Dividing distance by time, ${num(way)} \div {num(time)} = {num(speed)}$ km/h.",
        )
