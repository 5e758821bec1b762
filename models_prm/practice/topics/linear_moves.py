"""Moves that all linear equations share: move a constant, divide out a coefficient."""

from __future__ import annotations

from fractions import Fraction

from models_prm.practice.latex import Number, frac, num, par, signed, term
from models_prm.practice.pen import DeadEndError, Pen

ASK = ("Solve the equation ${}$.", "Find the value of $%$ for which ${}$.", "If ${}$, what is $%$?")


def ask(voice: int, equation: str, symbol: str) -> str:
    """The question for an equation in one of three wordings."""
    return ASK[voice].format(equation).replace("%", symbol)


def move_constant(pen: Pen, left: str, shift: Number, right: Number) -> Fraction:
    """From ``left + shift = right`` to ``left = ...``: writes the step, gives the right side."""
    verb = "subtract" if shift > 0 else "add"
    size = num(shift if shift > 0 else -shift)
    if pen.slip("sign_lost_moving"):
        wrong = Fraction(right) + shift
        pen.because(
            f"${size}$ must be {'subtracted from' if shift > 0 else 'added to'} both sides; the "
            f"step moves it to the "
            f"other side without changing its sign."
        )
        pen.step(
            f"~we move the constant to the right: ${left} = {num(right)} {signed(shift)} = {num(wrong)}$.",
            f"Bringing ${size}$ to the other side gives ${left} = {num(right)} {signed(shift)} = "
            f"{num(wrong)}$.",
        )
        return wrong
    result = pen.sub(right, shift) if shift > 0 else pen.add(right, -shift)
    pen.step(
        f"~we {verb} ${size}$ on both sides: ${left} = {num(right)} {signed(-shift)} = {num(result)}$.",
        f"{verb.capitalize()}ing ${size}$ on both sides gives ${left} = {num(right)} "
        f"{signed(-shift)} = {num(result)}$.",
        f"~we move the constant to the right: ${left} = {num(right)} {signed(-shift)} = {num(result)}$.",
        f">${left} = {num(right)} {signed(-shift)} = {num(result)}$.",
    )
    return result


def divide_out(pen: Pen, slope: Number, right: Fraction, symbol: str = "x") -> Fraction:
    """From ``slope x = right`` to ``x = ...``: writes the step, gives the root."""
    if slope == 0:
        raise DeadEndError
    if slope == 1:
        return right
    if slope == -1:
        if pen.slip("sign_arithmetic", f"both sides must change sign, so ${symbol} = {num(-right)}$."):
            pen.step(f"So we have ${symbol} = {num(right)}$.", f">${symbol} = {num(right)}$.")
            return right
        pen.step(
            f"~we change both signs: ${symbol} = {num(-right)}$.",
            f"Multiplying by $-1$, ${symbol} = {num(-right)}$.",
        )
        return -right
    if slope > 1 and pen.slip("subtracted_coefficient"):
        root = right - slope
        pen.because(
            f"${term(slope, symbol)}$ means ${num(slope)}$ times ${symbol}$, so we must divide by "
            f"${num(slope)}$."
        )
        pen.step(
            f"~we take ${num(slope)}$ away to free ${symbol}$: ${symbol} = {num(right)} - {num(slope)} = "
            f"{num(root)}$.",
            f"Removing the ${num(slope)}$ gives ${symbol} = {num(right)} - {num(slope)} = {num(root)}$.",
        )
        return root
    if slope > 1 and right > 1 and pen.slip("divided_upside_down"):
        root = Fraction(slope) / right
        pen.because(
            f"the right side must be divided by the coefficient: ${symbol} = {frac(num(right), num(slope))}$."
        )
        pen.step(
            f"~we divide: ${symbol} = {frac(num(slope), num(right))}$.",
            f">${symbol} = {frac(num(slope), num(right))}$.",
        )
        return root
    root = pen.div(right, slope)
    pen.step(
        rf"~we divide both sides by ${num(slope)}$: ${symbol} = {num(right)} \div {par(slope)} = "
        rf"{num(root)}$.",
        f"Dividing by ${num(slope)}$, ${symbol} = {frac(num(right), num(slope))} = {num(root)}$."
        if right.denominator == 1 and root.denominator == 1
        else f"Dividing by ${num(slope)}$, ${symbol} = {num(root)}$.",
        f">${symbol} = {num(root)}$, after dividing both sides by ${num(slope)}$.",
    )
    return root


def conclude(pen: Pen, root: Fraction, symbol: str = "x") -> None:
    """The last step of a plain equation."""
    pen.finish(
        num(root),
        f">the solution is ${symbol} = {num(root)}$.",
        f"The equation has the solution ${num(root)}$.",
    )
