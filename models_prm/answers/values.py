"""Exact and rigorous arithmetic on answers: rationals stay rationals, the rest are enclosing intervals.

An interval always holds the true value, so two answers whose intervals are apart are proven different, at
any size: 1/2004! against 1/2006! as well as towers of powers. Complex values are pairs of such reals.
Only the grader's worker imports this module (mpmath).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial, isqrt, prod
from typing import Any

from mpmath import iv  # type: ignore[import-untyped]

Real = Any  # Fraction, or an mpmath interval; mpmath has no types
_MAX_BITS = 200_000
_MAX_EXPONENT = 2**40


class NoValueError(ArithmeticError):
    """The expression has no value here, or none that this arithmetic can enclose."""


@dataclass(frozen=True, slots=True)
class Value:
    """A complex number; `im` is exactly 0 for reals."""

    re: Real
    im: Real = Fraction(0)

    @property
    def is_real(self) -> bool:
        """Whether the imaginary part is exactly 0."""
        return isinstance(self.im, Fraction) and self.im == 0


Operation = Callable[[Value, Value], Value]


def interval(x: Real) -> Real:
    """The tightest interval at the present precision that holds `x`."""
    return iv.mpf(x.numerator) / iv.mpf(x.denominator) if isinstance(x, Fraction) else x


def _both(left: Real, right: Real) -> tuple[Real, Real]:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        if max(left.denominator.bit_length(), right.denominator.bit_length()) < _MAX_BITS:
            return left, right
        return interval(left), interval(right)
    return interval(left), interval(right)


def _is_zero(x: Real) -> bool:
    return isinstance(x, Fraction) and x == 0


def add(left: Value, right: Value) -> Value:
    """The sum."""
    return Value(_add(left.re, right.re), _add(left.im, right.im))


def _add(left: Real, right: Real) -> Real:
    if _is_zero(left) or _is_zero(right):
        return right if _is_zero(left) else left
    a, b = _both(left, right)
    return a + b


def _times(left: Real, right: Real) -> Real:
    if _is_zero(left) or _is_zero(right):
        return Fraction(0)
    a, b = _both(left, right)
    return a * b


def multiply(left: Value, right: Value) -> Value:
    """The product."""
    if left.is_real and right.is_real:
        return Value(_times(left.re, right.re))
    real = _add(_times(left.re, right.re), _times(Fraction(-1), _times(left.im, right.im)))
    return Value(real, _add(_times(left.re, right.im), _times(left.im, right.re)))


def divide(top: Value, bottom: Value) -> Value:
    """The quotient; NoValueError when the divisor may be zero."""
    if bottom.is_real:
        return Value(_over(top.re, bottom.re), _over(top.im, bottom.re))
    norm = _add(_times(bottom.re, bottom.re), _times(bottom.im, bottom.im))
    product = multiply(top, Value(bottom.re, _times(Fraction(-1), bottom.im)))
    return Value(_over(product.re, norm), _over(product.im, norm))


def _over(top: Real, bottom: Real) -> Real:
    if isinstance(bottom, Fraction):
        if bottom == 0:
            raise NoValueError("division by zero")
    elif 0 in bottom:
        raise NoValueError("division by something near zero")
    if _is_zero(top):
        return top
    a, b = _both(top, bottom)
    return a / b


def power(base: Value, exponent: Value) -> Value:
    """`base ** exponent` on the principal branch, where it can be enclosed."""
    if not exponent.is_real:
        if base.is_real:
            return exp(multiply(log(base), exponent))
        raise NoValueError("complex base and exponent")
    if isinstance(exponent.re, Fraction) and exponent.re.denominator == 1:
        return _whole_power(base, int(exponent.re))
    if not base.is_real:
        raise NoValueError("root of a complex number")
    return _real_power(base.re, exponent.re)


def _whole_power(base: Value, exponent: int) -> Value:
    if exponent < 0:
        return divide(Value(Fraction(1)), _whole_power(base, -exponent))
    if base.is_real:
        return Value(_real_whole_power(base.re, exponent))
    if exponent > 10_000:
        raise NoValueError("huge power of a complex number")
    result = Value(Fraction(1))
    while exponent:
        if exponent & 1:
            result = multiply(result, base)
        base, exponent = multiply(base, base), exponent >> 1
    return result


def _real_whole_power(base: Real, exponent: int) -> Real:
    if isinstance(base, Fraction):
        bits = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
        if bits == 1 or bits * exponent < _MAX_BITS:
            return base**exponent
    if exponent > _MAX_EXPONENT:
        return _vast_power(interval(base))
    return interval(base) ** exponent


def _vast_power(base: Real) -> Real:
    """A power too tall to compute: more than 2**(2**40), which is all that a comparison needs."""
    if base.a >= 2:
        return iv.mpf([iv.mpf(2) ** _MAX_EXPONENT, iv.inf])
    raise NoValueError("exponent too large")


def _real_power(base: Real, exponent: Real) -> Value:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        exact = _exact_root(base, exponent)
        if exact is not None:
            return Value(exact)
    x = interval(base)
    if x.b < 0 and exponent == Fraction(1, 2):
        return Value(Fraction(0), iv.sqrt(-x))
    if not x.a > 0:
        if isinstance(base, Fraction) and base == 0 and isinstance(exponent, Fraction) and exponent > 0:
            return Value(Fraction(0))
        if x.b < 0 and isinstance(exponent, Fraction) and exponent.denominator % 2 == 1:
            # (-8)^{1/3} is -2 at school.
            size = _real_power(-base, exponent)
            return size if exponent.numerator % 2 == 0 else multiply(Value(Fraction(-1)), size)
        raise NoValueError("fractional power of a negative number")
    y = interval(exponent)
    if y.a > _MAX_EXPONENT:
        return Value(_vast_power(x))
    if exponent == Fraction(1, 2):
        return Value(iv.sqrt(x))
    return exp(Value(iv.log(x) * y))


def _exact_root(base: Fraction, exponent: Fraction) -> Fraction | None:
    """`base ** exponent` when it is rational and of modest size."""
    if base < 0 or exponent.denominator > 64 or abs(exponent.numerator) > 1000:
        return None
    top, bottom = (
        _whole_root(base.numerator, exponent.denominator),
        _whole_root(base.denominator, exponent.denominator),
    )
    if top is None or bottom is None or (top == 0 and exponent < 0):
        return None
    root = Fraction(top, bottom)
    if max(top.bit_length(), bottom.bit_length()) * abs(exponent.numerator) > _MAX_BITS:
        return None
    return root**exponent.numerator


def _whole_root(number: int, degree: int) -> int | None:
    if degree == 1 or number in {0, 1}:
        return number
    if degree == 2:
        root = isqrt(number)
        return root if root * root == number else None
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < number else (low, middle)
    return low if low**degree == number else None


def root(radicand: Value, degree: Value) -> Value:
    """The real root; odd roots of negative numbers are negative."""
    if not (radicand.is_real and degree.is_real and isinstance(degree.re, Fraction)):
        raise NoValueError("root of a complex number")
    n = degree.re
    if n.denominator != 1 or n < 2:
        raise NoValueError("odd degree of a root")
    negative = radicand.re < 0 if isinstance(radicand.re, Fraction) else bool(radicand.re.b < 0)
    if negative and n % 2 == 1:
        return multiply(Value(Fraction(-1)), root(multiply(Value(Fraction(-1)), radicand), degree))
    return power(radicand, Value(1 / n))


def exp(x: Value) -> Value:
    """e to the power of x."""
    if x.is_real:
        if _is_zero(x.re):
            return Value(Fraction(1))
        exponent = interval(x.re)
        if exponent.a > _MAX_EXPONENT:
            return Value(_vast_power(iv.mpf(2)))
        if exponent.b < -_MAX_EXPONENT:
            raise NoValueError("exponent too small")
        return Value(iv.exp(exponent))
    size = exp(Value(x.re))
    angle = interval(x.im)
    return multiply(size, Value(iv.cos(angle), iv.sin(angle)))


def log(x: Value) -> Value:
    """The natural logarithm of a positive real."""
    if x.is_real and x.re == 1:
        return Value(Fraction(0))
    if not x.is_real or not interval(x.re).a > 0:
        raise NoValueError("logarithm of a number that is not positive")
    return Value(iv.log(interval(x.re)))


def real_function(name: str, x: Value) -> Value:
    """sin, cos, tan and their reciprocals, sinh, cosh, tanh, abs, factorial of a value."""
    if name == "abs":
        return _absolute(x)
    if not x.is_real:
        raise NoValueError(f"{name} of a complex number")
    if name == "factorial":
        return Value(Fraction(factorial(_small_whole(x))))
    if name == "double_factorial":
        return Value(Fraction(prod(range(_small_whole(x), 0, -2))))
    if name in {"sinh", "cosh", "tanh"}:
        return _hyperbolic(name, x)
    if name in {"arcsin", "arccos", "arctan"}:
        return _inverse(name, interval(x.re))
    angle = interval(x.re)
    if abs(angle).b > _MAX_EXPONENT:
        raise NoValueError("angle too large")
    sine, cosine = Value(iv.sin(angle)), Value(iv.cos(angle))
    one = Value(Fraction(1))
    parts = {"sin": (sine, one), "cos": (cosine, one), "tan": (sine, cosine), "cot": (cosine, sine),
             "sec": (one, cosine), "csc": (one, sine)}  # fmt: skip
    if name not in parts:
        raise NoValueError(f"no arithmetic for {name}")
    return divide(*parts[name])


def _inverse(name: str, x: Real) -> Value:
    """The principal angle: of a point on the half circle for arcsin and arccos."""
    if name == "arctan":
        return Value(iv.atan2(x, iv.mpf(1)))
    if not (x.a >= -1 and x.b <= 1):
        raise NoValueError(f"{name} of a number beyond 1")
    other = iv.sqrt(abs(1 - x * x))
    return Value(iv.atan2(x, other) if name == "arcsin" else iv.atan2(other, x))


def _hyperbolic(name: str, x: Value) -> Value:
    up, down = exp(x), exp(multiply(Value(Fraction(-1)), x))
    difference = add(up, multiply(Value(Fraction(-1)), down))
    total = add(up, down)
    two = Value(Fraction(2))
    return {"sinh": lambda: divide(difference, two), "cosh": lambda: divide(total, two)}.get(
        name, lambda: divide(difference, total)
    )()


def _absolute(x: Value) -> Value:
    if x.is_real:
        return Value(abs(x.re))
    return power(Value(_add(_times(x.re, x.re), _times(x.im, x.im))), Value(Fraction(1, 2)))


def _small_whole(x: Value) -> int:
    if isinstance(x.re, Fraction) and x.re.denominator == 1 and 0 <= x.re <= 10_000:
        return int(x.re)
    raise NoValueError("not a small whole number")


def binomial(top: Value, bottom: Value) -> Value:
    """The binomial coefficient of small whole numbers."""
    return Value(Fraction(comb(_small_whole(top), _small_whole(bottom))))


def apart(left: Value, right: Value) -> bool:
    """Whether the two are proven to be different numbers."""
    return _apart(left.re, right.re) or _apart(left.im, right.im)


def _apart(left: Real, right: Real) -> bool:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left != right
    difference = interval(left) - interval(right)
    return bool(difference.a > 0) or bool(difference.b < 0)


def together(left: Value, right: Value, digits: int) -> bool:
    """Whether the two agree to `digits` digits, relative to their size; absolute only where one may be 0."""
    return _together(left.re, right.re, digits) and _together(left.im, right.im, digits)


def _together(left: Real, right: Real, digits: int) -> bool:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    a, b = interval(left), interval(right)
    difference = abs(a - b).b
    smaller = min(abs(a).a, abs(b).a)
    tolerance = iv.mpf(10) ** -digits
    return bool(difference <= tolerance * (smaller if smaller > 0 else 1))
