"""Moves that all quadratic equations share: factors, the formula, reading off roots."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from models_prm.practice.latex import (
    DeadEndError,
    dec,
    factor,
    frac,
    num,
    par,
    quad,
    signed,
)
from models_prm.practice.pen import Pen

NONZERO = [n for n in range(-9, 10) if n]


def conclude_roots(pen: Pen, roots: tuple[Fraction, ...], symbol: str = "x") -> None:
    """The last step of an equation with one or two roots."""
    if len(set(roots)) == 1:
        pen.finish(num(roots[0]), f">the only solution is ${symbol} = {num(roots[0])}$.")
        return
    show = dec if pen.rounded else num
    low, high = (show(root) for root in sorted(roots))
    pen.finish(
        f"{low}, {high}",
        f">the solutions are ${low}$ and ${high}$.",
        f"The equation has the two solutions ${low}$ and ${high}$.",
    )


def read_roots(pen: Pen, roots: tuple[Fraction, Fraction], symbol: str = "x") -> tuple[Fraction, Fraction]:
    """From ``(x - p)(x - q) = 0`` to the roots: writes the step."""
    p, q = roots
    shown = f"{factor(p, symbol)}{factor(q, symbol)} = 0"
    if p and q and pen.slip("root_sign"):
        p, q = -p, -q
        pen.because(
            f"a factor ${factor(roots[0], symbol)}$ is zero for ${symbol} = {num(roots[0])}$, not for its "
            f"opposite."
        )
    pen.step(
        f"A product is zero only if a factor is zero, so ${symbol} = {num(p)}$ or ${symbol} = {num(q)}$.",
        f"From ${shown}$ we read off ${symbol} = {num(p)}$ or ${symbol} = {num(q)}$.",
        f">${symbol} = {num(p)}$ or ${symbol} = {num(q)}$.",
    )
    return p, q


def factor_pair(pen: Pen, p: int, q: int, symbol: str = "x") -> tuple[Fraction, Fraction]:
    """From ``x^2 + bx + c`` to its factors: writes the step; gives the roots the factors show."""
    b, c = -(p + q), p * q
    pairs = [(n, c // n) for n in range(1, abs(c) + 1) if c % n == 0 and n * n <= abs(c)]
    pairs += [(-n, -m) for n, m in pairs]
    wrong = sorted((pair for pair in pairs if set(pair) != {-p, -q}), key=lambda pair: abs(sum(pair) - b))
    left = quad(1, b, c, symbol)
    if wrong and pen.slip("wrong_factor_pair"):
        m, n = wrong[0]
        pen.because(
            f"${num(m)}$ and ${num(n)}$ have the product ${c}$, but their sum is ${m + n}$, and the "
            f"coefficient of "
            f"${symbol}$ is ${b}$."
        )
        p, q = -m, -n
    roots = Fraction(p), Fraction(q)
    shown = f"{factor(p, symbol)}{factor(q, symbol)}"
    pen.step(
        rf"~two numbers with the product ${c}$ and the sum ${b}$ are ${-p}$ and ${-q}$, so ${left} = "
        rf"{shown}$.",
        f"~we factor the left side: ${left} = {shown}$.",
        f"The left side factors, and the equation becomes ${shown} = 0$.",
    )
    return roots


def by_formula(pen: Pen, a: int, b: int, c: int, symbol: str = "x") -> tuple[Fraction, ...]:
    """The quadratic formula for ``ax^2 + bx + c = 0``: writes the steps, gives the roots."""
    right = b * b - 4 * a * c
    square = pen.mul(abs(b), abs(b)) if abs(b) > 1 else Fraction(1)
    product = Fraction(4 * a * c)
    if c and pen.slip("wrong_discriminant"):
        disc = square + product
        pen.because(
            rf"the discriminant is $b^2 - 4ac$, and $-4 \cdot {a} \cdot {par(c)} = {-4 * a * c}$, so it is "
            rf"${right}$."
        )
        middle = f"{num(square)} {signed(product)}"
    else:
        disc = square - product
        middle = f"{num(square)} {signed(-product)}"
    pen.step(
        rf"~the discriminant is $D = {par(b)}^2 - 4 \times {a} \times {par(c)} = {middle} = {num(disc)}$.",
        rf"With $a = {a}$, $b = {b}$ and $c = {c}$ we get $D = b^2 - 4ac = {middle} = {num(disc)}$.",
    )
    pen.recap(f"So the discriminant is ${num(disc)}$.")
    root, sign = _square_root(disc)
    top = -b
    bottom = 2 * a
    if pen.slip("wrong_sign_of_b", f"the formula starts with $-b$, which is ${-b}$ here, not ${b}$."):
        top = b
    elif a > 1 and pen.slip("forgot_two_a", rf"the formula divides by $2a = {2 * a}$, not by ${a}$."):
        bottom = a
    elif a == 1 and pen.slip("forgot_two_a", "the formula divides by $2a = 2$; here nothing is divided."):
        bottom = 1
    fraction = (
        frac(rf"{top} \pm \sqrt{{{num(disc)}}}", bottom) if bottom > 1 else rf"{top} \pm \sqrt{{{num(disc)}}}"
    )
    value = frac(rf"{top} \pm {dec(root)}", bottom) if bottom > 1 else rf"{top} \pm {dec(root)}"
    pen.step(
        rf"~the formula gives ${symbol} = {fraction} {sign} {value}$.",
        rf"By the quadratic formula, ${symbol} = {fraction} {sign} {value}$.",
    )
    if sign != "=":
        return _rounded_values(pen, (top + root) / bottom, (top - root) / bottom, symbol)
    return _two_values(pen, top, root, bottom, symbol)


def _square_root(disc: Fraction) -> tuple[Fraction, str]:
    if disc < 0 or disc.denominator > 1:
        raise DeadEndError
    root = isqrt(int(disc))
    if root * root == disc:
        return Fraction(root), "="
    return Fraction(round(float(disc) ** 0.5 * 10), 10), r"\approx"


def _rounded_values(pen: Pen, high: Fraction, low: Fraction, symbol: str) -> tuple[Fraction, ...]:
    high, low = Fraction(round(high * 100), 100), Fraction(round(low * 100), 100)
    pen.rounded = True
    pen.step(
        rf"The two values are ${symbol} \approx {dec(high)}$ and ${symbol} \approx {dec(low)}$.",
        rf">${symbol} \approx {dec(high)}$ or ${symbol} \approx {dec(low)}$, rounded to two places.",
    )
    return high, low


def _two_values(pen: Pen, top: int, root: Fraction, bottom: int, symbol: str) -> tuple[Fraction, ...]:
    high, low = (top + root) / bottom, (top - root) / bottom
    if root == 0:
        pen.step(f">there is one value, ${symbol} = {num(high)}$.")
        return (high,)
    if bottom > 1 and pen.slip("cancelled_terms"):
        high, low = Fraction(top, bottom) + root, Fraction(top, bottom) - root
        pen.because(f"the whole numerator is divided by ${bottom}$, also the ${num(root)}$.")
    tops = [f"{top} {sign} {num(root)}" for sign in "+-"]
    first, second = (frac(t, bottom) for t in tops) if bottom > 1 else tops
    pen.step(
        f"The two values are ${symbol} = {first} = {num(high)}$ and ${symbol} = {second} = {num(low)}$.",
        f">${symbol} = {first} = {num(high)}$ or ${symbol} = {second} = {num(low)}$.",
    )
    return high, low
