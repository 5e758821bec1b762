"""Natural wrong results of single calculations: pure functions from operands to wrong values.

Each function returns the possible slips as ``(mistake, wrong values)``; no wrong value equals the
right one, and every list is empty where no natural slip exists.
"""

from __future__ import annotations

from fractions import Fraction

from models_prm.practice.latex import Number

Slips = list[tuple[str, list[Fraction]]]


def sum_slips(a: Number, b: Number) -> Slips:
    """Slips of a + b: a dropped carry, a miscount, or a sign slip where an operand is negative."""
    a, b = Fraction(a), Fraction(b)
    right = a + b
    if a < 0 or b < 0:
        return _kept("sign_arithmetic", right, [-right, abs(a) + abs(b), -abs(a) - abs(b)])
    scale = _scale(a, b)
    if not scale:
        return []
    whole_a, whole_b = int(a * scale), int(b * scale)
    wrong = [Fraction(whole_a + whole_b - 10 ** (k + 1), scale) for k in _carries(whole_a, whole_b)]
    if wrong:
        return _kept("dropped_carry", right, wrong)
    return _kept("counting_slip", right, _near(right, scale, whole_a, whole_b))


def difference_slips(a: Number, b: Number) -> Slips:
    """Slips of a - b: a forgotten borrow, a miscount, or a sign slip."""
    a, b = Fraction(a), Fraction(b)
    right = a - b
    if a < 0 or b < 0 or right < 0:
        return _kept("sign_arithmetic", right, [-right, a + b])
    scale = _scale(a, b)
    if not scale or b == 0:
        return []
    whole_a, whole_b = int(a * scale), int(b * scale)
    wrong = [Fraction(whole_a - whole_b + 10 ** (k + 1), scale) for k in _borrows(whole_a, whole_b)]
    wrong.append(Fraction(_digitwise(whole_a, whole_b), scale))
    wrong = [value for value in wrong if value not in (right, a) and 0 < value < a]
    if wrong and whole_a >= 20:
        return _kept("borrow_slip", right, wrong)
    return _kept("counting_slip", right, _near(right, scale, whole_a, whole_b))


def product_slips(a: Number, b: Number) -> Slips:
    """Slips of a * b: times table, carry, lost zero, decimal point or sign."""
    a, b = Fraction(a), Fraction(b)
    right = a * b
    if right == 0 or 1 in (abs(a), abs(b)):
        return []
    if a < 0 or b < 0:
        return _kept("sign_arithmetic", right, [-right])
    if a.denominator > 1 or b.denominator > 1:
        return _kept("decimal_point", right, [right * 10, right / 10]) if _scale(a, b) else []
    small, large = sorted((int(a), int(b)))
    if large <= 12:
        return _kept("times_table", right, [right + small, right - small, right + large, right - large])
    found: Slips = []
    if (small % 10 == 0 or large % 10 == 0) and large >= 20:
        found += _kept("zero_lost", right, [right / 10])
    carry = (small % 10) * (large % 10) // 10
    if carry and small < 10:
        found += _kept("dropped_carry", right, [right - 10 * carry])
    elif right >= 100:
        found += _kept("dropped_carry", right, [right - 10, right - 100] if right > 300 else [right - 10])
    return found


def quotient_slips(a: Number, b: Number) -> Slips:
    """Slips of a / b: off by one, lost zero, decimal point or sign."""
    a, b = Fraction(a), Fraction(b)
    right = a / b
    if abs(b) == 1 or right == 0:
        return []
    if a < 0 or b < 0:
        return _kept("sign_arithmetic", right, [-right])
    if right.denominator > 1:
        return _kept("decimal_point", right, [right * 10]) if _scale(right) and _scale(a, b) else []
    found: Slips = []
    if right % 10 == 0 and right >= 20:
        found += _kept("zero_lost", right, [right / 10, right * 10])
    if right >= 3:
        found += _kept("off_by_one_division", right, [right + 1, right - 1])
    return found


def _kept(mistake: str, right: Fraction, wrong: list[Fraction]) -> Slips:
    values = [value for value in dict.fromkeys(wrong) if value != right]
    return [(mistake, values)] if values else []


def _scale(*values: Fraction) -> int:
    """The power of ten up to 1000 that makes all values whole, or 0."""
    return next((s for s in (1, 10, 100, 1000) if all((v * s).denominator == 1 for v in values)), 0)


def _near(right: Fraction, scale: int, a: int, b: int) -> list[Fraction]:
    unit = 10 if a % 10 == 0 and b % 10 == 0 else 1
    near = [right + Fraction(unit, scale), right - Fraction(unit, scale)]
    return [value for value in near if value > 0]


def _carries(a: int, b: int) -> list[int]:
    """Places whose carry goes onto an existing digit (a lost leading digit would look absurd)."""
    length = len(str(max(a, b)))
    return [k for k in range(length - 1) if a % 10 ** (k + 1) + b % 10 ** (k + 1) >= 10 ** (k + 1)]


def _borrows(a: int, b: int) -> list[int]:
    return [k for k in range(len(str(a)) - 1) if a % 10 ** (k + 1) < b % 10 ** (k + 1)]


def _digitwise(a: int, b: int) -> int:
    """The smaller digit taken from the larger one in every place."""
    width = len(str(a))
    return int("".join(str(abs(int(x) - int(y))) for x, y in zip(str(a), str(b).zfill(width), strict=True)))
