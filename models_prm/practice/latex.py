"""Numbers, equations and prices as LaTeX text."""

from __future__ import annotations

from fractions import Fraction

Number = int | Fraction


class DeadEndError(Exception):
    """A derivation cannot go on naturally from the value it carries."""


def frac(top: Number | str, bottom: Number | str) -> str:
    """A fraction as written, not reduced; a minus above the line moves in front of it."""
    if isinstance(top, int | Fraction) and top < 0:
        return rf"-\frac{{{-top}}}{{{bottom}}}"
    return rf"\frac{{{top}}}{{{bottom}}}"


def num(value: Number) -> str:
    """An integer, or a reduced fraction: ``-\\frac{3}{4}``."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    return frac(value.numerator, value.denominator)


def dec(value: Number) -> str:
    """An integer, or a decimal of up to four places where that is exact, else a fraction."""
    value = Fraction(value)
    if value.denominator == 1 or 10_000 % value.denominator:
        return num(value)
    return f"{float(value):.4f}".rstrip("0")


def coins(value: Number) -> str:
    """An amount of money without its sign: whole, or with two places.

    Raises DeadEndError for an amount that is not a whole number of cents.
    """
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    if (value * 100).denominator != 1:
        raise DeadEndError
    cents = abs(value.numerator * 100 // value.denominator)
    return f"{'-' if value < 0 else ''}{cents // 100}.{cents % 100:02d}"


def par(value: Number) -> str:
    """The number, in brackets when it is negative."""
    return f"({num(value)})" if value < 0 else num(value)


def signed(value: Number) -> str:
    """``+ 5`` or ``- 5``, to follow another term."""
    return f"- {num(-value)}" if value < 0 else f"+ {num(value)}"


def term(factor: Number, symbol: str) -> str:
    """``3x``, ``x``, ``-x``: a factor of 1 is not written."""
    if factor == 1:
        return symbol
    return f"-{symbol}" if factor == -1 else f"{num(factor)}{symbol}"


def poly(*terms: tuple[Number, str]) -> str:
    """A sum of terms ``(factor, symbol)``, zero terms left out; the symbol "" is a constant."""
    out = ""
    for factor, symbol in terms:
        if factor == 0:
            continue
        shown = -factor if out and factor < 0 else factor
        body = term(shown, symbol) if symbol else num(shown)
        out += (f" {'-' if factor < 0 else '+'} " if out else "") + body
    return out or "0"


def lin(slope: Number, shift: Number, symbol: str = "x") -> str:
    """``3x - 5``."""
    return poly((slope, symbol), (shift, ""))


def quad(a: Number, b: Number, c: Number, symbol: str = "x") -> str:
    """``2x^2 - 3x + 1``."""
    return poly((a, f"{symbol}^2"), (b, symbol), (c, ""))


def factor(root: Number, symbol: str = "x") -> str:
    """``(x - 3)`` for the root 3; ``x`` for the root 0."""
    return symbol if root == 0 else f"({symbol} {signed(-root)})"
