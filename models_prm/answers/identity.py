"""Whether two formulas are the same function: exact evaluation at fixed points, with proofs of difference.

Polynomials and rational functions are compared in rationals, so that agreement at several points that are
special to nothing is as good as an identity; everything else in intervals at rising precision.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, cast

from mpmath import iv  # type: ignore[import-untyped]

from models_prm.answers import nodes as n
from models_prm.answers.evaluate import evaluate, free_names
from models_prm.answers.formulas import negated
from models_prm.answers.nodes import Node
from models_prm.answers.units import Unit
from models_prm.answers.values import NoValueError, Value, apart, together
from models_prm.answers.verdict import Verdict

RIGHT, WRONG, UNKNOWN = Verdict.RIGHT, Verdict.WRONG, Verdict.UNKNOWN
# Values of the variables: small and large, none of them special to school formulas.
_VALUES = [Fraction(p, q) for p, q in ((17, 7), (5, 13), (211, 10), (3, 11), (29, 6))]
LOG_BASES: tuple[Node, ...] = (n.Num(Fraction(10)), n.Const("e"), n.Num(Fraction(2)))
_WORKING_DIGITS = (40, 160)


def same_values(left: Node, right: Node) -> Verdict:
    """Evaluate both at each point: apart anywhere is wrong, together at three points or more is right.

    Apart only where a variable is negative is unknown: school problems often mean positive variables.
    """
    left, right = without_opposites(left), without_opposites(right)
    difference = without_opposites(n.Sum((left, negated(right))))
    if isinstance(difference, n.Num):
        # What is too large to compute cancels: the rest says whether they are equal.
        return RIGHT if difference.value == 0 else WRONG
    names = sorted(free_names(left) | free_names(right))
    verdicts = [_at_point(left, right, point) for point in _positive_points(names)]
    if WRONG in verdicts:
        return WRONG
    agreed = verdicts.count(RIGHT) >= min(3, len(verdicts))
    mixed = [_at_point(left, right, point) for point in _mixed_points(names)]
    if WRONG in mixed:
        return UNKNOWN if agreed else WRONG
    return RIGHT if agreed else UNKNOWN


def without_opposites(node: Node) -> Node:
    """A sum without the terms that stand in it once with each sign: they vanish whatever their size."""
    if not isinstance(node, n.Sum):
        return node
    counts: Counter[Node] = Counter()
    for term in _terms(node):
        opposite = _opposite(term)
        if counts[opposite] > 0:
            counts[opposite] -= 1
        else:
            counts[term] += 1
    kept = tuple(counts.elements())
    if len(kept) < 2:
        return kept[0] if kept else n.Num(Fraction(0))
    return n.Sum(kept)


def _terms(node: Node) -> list[Node]:
    """The terms of nested sums, side by side; -(-x) is x, so that opposites meet as equals."""
    if isinstance(node, n.Sum):
        return [inner for term in node.terms for inner in _terms(term)]
    minus = n.Num(Fraction(-1))
    if isinstance(node, n.Product) and len(node.factors) == 2 and node.factors[0] == minus:
        inner = _terms(node.factors[1])
        return [_opposite(term) for term in inner] if len(inner) > 1 else [node]
    return [node]


def _opposite(node: Node) -> Node:
    minus = n.Num(Fraction(-1))
    if isinstance(node, n.Product) and len(node.factors) == 2 and node.factors[0] == minus:
        return node.factors[1]
    return negated(node)


def _positive_points(names: list[str]) -> list[dict[str, Value]]:
    """Points with positive coordinates; one, empty, for formulas without variables."""
    shifts = range(len(_VALUES) if names else 1)
    return [{name: Value(_value(shift + k)) for k, name in enumerate(names)} for shift in shifts]


def _mixed_points(names: list[str]) -> list[dict[str, Value]]:
    """Points at which one half of the variables is negative, then the other."""
    shifts = range(2 if names else 0)
    return [
        {name: Value(_value(2 * k + shift) * (-1) ** (k + shift + 1)) for k, name in enumerate(names)}
        for shift in shifts
    ]


def _all_points(node: Node) -> list[dict[str, Value]]:
    names = sorted(free_names(node))
    return _positive_points(names) + _mixed_points(names)


def _value(place: int) -> Fraction:
    return _VALUES[place % len(_VALUES)] + place // len(_VALUES)


def _at_point(left: Node, right: Node, point: dict[str, Value]) -> Verdict:
    before = iv.dps
    try:
        for digits in _WORKING_DIGITS:
            iv.dps = digits
            a, b = evaluate(left, point), evaluate(right, point)
            if apart(a, b):
                return WRONG
            if digits == _WORKING_DIGITS[-1] and together(a, b, digits=100):
                return RIGHT
    except (NoValueError, OverflowError, ValueError):
        return UNKNOWN
    finally:
        iv.dps = before
    return UNKNOWN


def with_log_base(node: Node, base: Node) -> Node:
    """The node with this base put under every logarithm that has none."""
    if isinstance(node, n.Call) and node.name == "log" and len(node.arguments) == 1:
        return n.Call("log", (with_log_base(node.arguments[0], base), base))
    kind: Any = type(node)
    return cast(Node, kind(*(_part_with_base(getattr(node, name), base) for name in kind.__slots__)))


def _part_with_base(part: Any, base: Node) -> Any:
    if isinstance(part, tuple) and not isinstance(part, Unit):
        return tuple(_part_with_base(element, base) for element in part)
    return with_log_base(part, base) if isinstance(part, Node) else part


def has_bare_log(node: object) -> bool:
    """Whether a logarithm without a base occurs: writers mean base 10, e or 2 by it."""
    if isinstance(node, n.Call) and node.name == "log" and len(node.arguments) == 1:
        return True
    if isinstance(node, tuple):
        return any(map(has_bare_log, node))
    return any(has_bare_log(getattr(node, field)) for field in getattr(type(node), "__slots__", ()))


def proportional(a: Node, b: Node, *, sign: int) -> Verdict:
    """Compare a(p) b(q) with a(q) b(p) over points p, q; and the sign of the factor when it matters."""
    try:
        values = [(evaluate(a, point), evaluate(b, point)) for point in _all_points(a)]
    except (NoValueError, OverflowError, ValueError):
        return UNKNOWN
    pairs = [(x.re, y.re) for x, y in values if x.is_real and y.is_real]
    if len(pairs) < 3 or not all(isinstance(x, Fraction) and isinstance(y, Fraction) for x, y in pairs):
        return UNKNOWN
    (x0, y0), *rest = [(x, y) for x, y in pairs if x and y] or [(Fraction(0), Fraction(0))]
    if not x0 or any(x0 * y != x * y0 for x, y in pairs):
        # Not a multiple, but x = 1 and x^3 = 1 may still have the same solutions: only lines are sure.
        return WRONG if _is_linear(a) and _is_linear(b) else UNKNOWN
    return RIGHT if sign == 0 or (x0 * y0 > 0) == (sign > 0) else WRONG


def _is_linear(node: Node) -> bool:
    """Second differences vanish along one exact line in the space of the variables."""
    names = sorted(free_names(node))
    try:
        line = [
            evaluate(node, {name: Value(Fraction(t * (k + 2) + k)) for k, name in enumerate(names)}).re
            for t in range(1, 6)
        ]
    except (NoValueError, OverflowError, ValueError):
        return False
    return all(isinstance(y, Fraction) for y in line) and all(
        line[t] - 2 * line[t + 1] + line[t + 2] == 0 for t in range(3)
    )
