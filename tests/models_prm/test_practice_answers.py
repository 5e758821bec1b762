"""The answer of every problem, computed a second time from the numbers in the problem's text alone."""

import re
from collections.abc import Callable
from fractions import Fraction
from math import ceil

import pytest

from models_prm.practice import Problem, make_problems
from models_prm.practice.template import TEMPLATES
from tests.models_prm.test_practice_calculator import Calculator

F = Fraction
Answers = set[Fraction]


def solve_linear(left: Callable[[Fraction], Fraction], right: Callable[[Fraction], Fraction]) -> Answers:
    """The root of left = right for two linear functions, from their values at 0 and 1."""
    at_zero, at_one = left(F(0)) - right(F(0)), left(F(1)) - right(F(1))
    return {at_zero / (at_zero - at_one)}


def roots_of(difference: Callable[[Fraction], Fraction]) -> Answers:
    """The roots of a quadratic function, searched among all fractions that the makers use."""
    return {F(p, q) for q in (1, 2, 3, 4, 5) for p in range(-25 * q, 25 * q + 1) if difference(F(p, q)) == 0}


def equation(text: str) -> tuple[Callable[[Fraction], Fraction], Callable[[Fraction], Fraction]]:
    """Both sides of the equation in a text, as functions of its one letter."""
    sides = next(found for found in re.findall(r"\$([^$]+=[^$]+)\$", text)).split("=")
    letter = next(iter(set(re.findall(r"(?<![\\a-z])[a-z](?![a-z])", "".join(sides)))))
    left, right = (lambda x, side=side: Calculator(side, {letter: x}, 1).result() for side in sides)
    return left, right


def by_equation(text: str, _: list[Fraction]) -> Answers:
    return solve_linear(*equation(text))


def by_square(text: str, _: list[Fraction]) -> Answers:
    left, right = equation(text)
    return roots_of(lambda x: left(x) - right(x))


def compare(text: str, _: list[Fraction]) -> Answers:
    left, right = re.findall(r"\$([^$]+)\$", text)[-2:] if "equal to" in text else ("", "")
    if not left:
        return by_square(text, [])
    return roots_of(
        lambda x: Calculator(left, {"x": x}, 1).result() - Calculator(right, {"x": x}, 1).result()
    )


def expression(text: str, _: list[Fraction]) -> Answers:
    return {Calculator(re.findall(r"\$([^$]+)\$", text)[0], {}, 1).result()}


def sums_of_squares(text: str, _: list[Fraction]) -> Answers:
    return {sum((root * root for root in by_square(text, [])), F(0))}


def elimination(text: str, _: list[Fraction]) -> Answers:
    def row(side: str) -> tuple[Fraction, Fraction]:
        at = [Calculator(side, {"x": F(x), "y": F(y)}, 1).result() for x, y in ((1, 0), (0, 1))]
        return at[0], at[1]

    (left, e), (other, f) = (found.split("=") for found in re.findall(r"\$([^$]+=[^$]+)\$", text)[:2])
    (a, b), (c, d) = row(left), row(other)
    e_, f_ = F(e.strip()), F(f.strip())
    det = a * d - b * c
    return {(e_ * d - b * f_) / det + (a * f_ - e_ * c) / det}


def ages(text: str, n: list[Fraction]) -> Answers:
    later = next(F(k) for k, word in ((2, "twice"), (3, "three times"), (4, "four times")) if word in text)
    return {n[0] * n[1] * (later - 1) / (n[0] - later)}


def consecutive(text: str, n: list[Fraction]) -> Answers:
    gap = 2 if "odd" in text or "even" in text else 1
    return {n[0] / 3 + (gap if "largest" in text else -gap)}


def rectangle(text: str, n: list[Fraction]) -> Answers:
    numbers = [value for value in n if value != 2] if "m$^2$" in text else n
    more, area = min(numbers), max(numbers)
    width = next(w for w in range(1, 60) if w * (w + more) == area)
    return {F(2 * (2 * width + more)) if "perimeter" in text else F(width)}


def before(text: str, n: list[Fraction]) -> Answers:
    percent, price = (n[0], n[1])
    rise = "rise" in text or "raised" in text
    return {price / (1 + percent / 100 if rise else 1 - percent / 100)}


def shop(text: str, n: list[Fraction]) -> Answers:
    if text.split()[1] == "has":
        note, k, p, m, q = n
    elif "hands over" in text:
        p, q, k, m, note = n
    else:
        k, p, m, q, note = n
    return {note - k * p - m * q}


def decimal(text: str, n: list[Fraction]) -> Answers:
    if text.startswith("One"):
        p, q, friends, k = n
    elif text.startswith("A present"):
        k, p, q, friends = n
    else:
        friends, k, p, q = n
    return {(k * p + q) / friends}


def stall(text: str, n: list[Fraction]) -> Answers:
    if text.startswith("A box"):
        per_box, cost, boxes, unsold, price = n
    else:
        boxes, cost, per_box, price, unsold = n
    return {(boxes * per_box - unsold) * price - boxes * cost}


def crates(text: str, n: list[Fraction]) -> Answers:
    return {n[0] * n[1] - n[2]}


def buses(text: str, n: list[Fraction]) -> Answers:
    price = n[1] if text.startswith("A company") else n[2]
    seats = n[2] if text.startswith("A company") else n[1]
    return {ceil(n[0] / seats) * price}


def trees(text: str, n: list[Fraction]) -> Answers:
    length, gap = max(n[:2]), min(n[:2])
    return {(length / gap + 1) * n[2]}


def groups(text: str, n: list[Fraction]) -> Answers:
    if "club" in text:
        size, other, mean, second = n
    elif "theatre" in text:
        mean, size, second, other = n
    else:
        size, mean, other, second = n
    return {(size * mean + other * second) / (size + other)}


def next_score(text: str, n: list[Fraction]) -> Answers:
    if text.startswith("The average"):
        return {n[0] * n[1] - sum(n[3:])}
    scores = n[1:-1] if text.startswith("On") else n[:-3]
    return {n[-1] * (len(scores) + 1) - sum(scores)}


def speeds(text: str, n: list[Fraction]) -> Answers:
    (v, t, w, u) = n if text.startswith("A boat") else (n[1], n[0], n[3], n[2])
    return {(v * t + w * u) / (t + u)}


def path(text: str, n: list[Fraction]) -> Answers:
    length, width, edge = n
    return {(length + 2 * edge) * (width + 2 * edge) - length * width}


def tank(text: str, n: list[Fraction]) -> Answers:
    whole, there, rate = (n[0], n[2], n[1]) if "aquarium" in text else n
    return {(whole - there) * 1000 / rate / 60}


def ribbon(text: str, n: list[Fraction]) -> Answers:
    long, short = (Calculator(found, {}, 1).result() for found in re.findall(r"\$([^$]+)\$", text))
    return {long - (2 if "two" in text else 3) * short}


def portions(text: str, n: list[Fraction]) -> Answers:
    bag, portion = (Calculator(found, {}, 1).result() for found in re.findall(r"\$([^$]+)\$", text))
    return {F(re.findall(r"(?<![{\d])\d+(?![}\d])", text)[0]) * bag / portion}


def rest(text: str, n: list[Fraction]) -> Answers:
    a, b = (Calculator(found, {}, 1).result() for found in re.findall(r"\$(\\frac[^$]+)\$", text))
    whole = F(re.findall(r"(?<![{\d])\d+(?![}\d])", text)[0])
    return {whole * (1 - a) * (1 - b)}


SECOND_WAY: dict[str, Callable[[str, list[Fraction]], Answers]] = {
    "ages": ages,
    "both-sides": by_equation,
    "buses": buses,
    "consecutive-numbers": consecutive,
    "crates": crates,
    "decimal-prices": decimal,
    "discount-then-tax": lambda text, n: {n[0] * (1 - n[1] / 100) * (1 + n[2] / 100)},
    "double-fraction": expression,
    "elimination": elimination,
    "fence-price": lambda text, n: {2 * (n[0] + n[1]) * n[2]},
    "fraction-equation": by_equation,
    "fraction-quotient": portions,
    "general-quadratic": by_square,
    "lost-root": compare,
    "minus-bracket": by_equation,
    "mixed-numbers": ribbon,
    "mixed-operations": expression,
    "mixed-solutions": lambda text, n: {(n[0] * n[1] + n[2] * n[3]) / (n[0] + n[2])},
    "monic-quadratic": by_square,
    "next-score": next_score,
    "part-of-the-rest": rest,
    "percent-change": lambda text, n: {abs(n[1] - n[0]) / n[0] * 100},
    "percent-of-group": lambda text, n: {n[0] * n[1] * n[2] / 10_000},
    "pool-path": path,
    "price-before": before,
    "proportion": by_equation,
    "rectangle-area": rectangle,
    "shop-change": shop,
    "signed-numbers": expression,
    "simple-interest": lambda text, n: {n[0] * (1 + n[1] / 100 * n[2] / 12)},
    "square-equals": by_square,
    "square-is-line": by_square,
    "stall-profit": stall,
    "sum-of-fractions": expression,
    "sum-of-squares": sums_of_squares,
    "tariffs": lambda text, n: {(n[0] - n[2]) / (n[3] - n[1])},
    "ticket-sale": lambda text, n: {(n[1] - n[0] * n[3]) / (n[2] - n[3])},
    "tree-row": trees,
    "two-groups": groups,
    "two-speeds": speeds,
    "two-steps": by_equation,
    "up-and-down": lambda text, n: {n[0] * (1 + n[1] / 100) * (1 - n[2] / 100)},
    "water-tank": tank,
    "work-together": lambda text, n: {1 / (1 / n[0] + 1 / n[1])},
}


def answer_values(answer: str) -> Answers:
    return {Calculator(part, {}, 1).result() for part in answer.split(",")}


def test_every_template_has_a_second_way() -> None:
    assert set(SECOND_WAY) == set(TEMPLATES)


@pytest.fixture(scope="module")
def many() -> list[Problem]:
    return make_problems(500, 5)


@pytest.mark.parametrize("name", sorted(SECOND_WAY))
def test_the_answer_agrees_with_a_second_computation_from_the_text(name: str, many: list[Problem]) -> None:
    problems = [problem for problem in many if problem.key.startswith(f"{name}.")]
    assert len(problems) > 5
    for problem in problems:
        numbers = [F(found) for found in re.findall(r"\d+(?:\.\d+)?", problem.text)]
        assert SECOND_WAY[name](problem.text, numbers) == answer_values(problem.answer), problem
