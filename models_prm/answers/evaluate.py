"""Numbers for nodes: put values for the variables in, get an exact or enclosed value out."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from mpmath import iv  # type: ignore[import-untyped]

from models_prm.answers import nodes as n
from models_prm.answers import values as v
from models_prm.answers.nodes import Node
from models_prm.answers.values import NoValueError, Value

Point = Mapping[str, Value]
_ONE = Value(Fraction(1))
_SLICES = 256


def evaluate(node: Node, point: Point) -> Value:
    """The value of a formula where its variables have the values of `point`; NoValueError if it has none."""
    match node:
        case n.Num(value):
            return Value(value)
        case n.Sym(name):
            return point[name]
        case n.Const(name):
            return _constant(name)
        case n.Sum(terms):
            return _fold(v.add, terms, point)
        case n.Product(factors):
            return _fold(v.multiply, factors, point)
        case n.Quotient(top, bottom):
            return v.divide(evaluate(top, point), evaluate(bottom, point))
        case n.Power(base, exponent):
            return _power(base, exponent, point)
        case n.Call(name, arguments):
            return _call(name, [evaluate(argument, point) for argument in arguments])
        case n.Based(digits, base):
            return Value(Fraction(_in_base(digits, base)))
        case n.Integral():
            return _integral(node, point)
    raise NoValueError(f"{type(node).__name__} is not a number")


def free_names(node: object) -> set[str]:
    """The names of all variables in a node."""
    if isinstance(node, n.Sym):
        return {node.name}
    if isinstance(node, tuple):
        return set().union(*map(free_names, node)) if node else set()
    fields = getattr(type(node), "__slots__", ())
    return set().union(*(free_names(getattr(node, field)) for field in fields)) if fields else set()


def _fold(operation: v.Operation, parts: tuple[Node, ...], point: Point) -> Value:
    result = evaluate(parts[0], point)
    for part in parts[1:]:
        result = operation(result, evaluate(part, point))
    return result


def _constant(name: str) -> Value:
    if name == "i":
        return Value(Fraction(0), Fraction(1))
    return Value(iv.pi + 0) if name == "pi" else Value(iv.exp(iv.mpf(1)))


def _power(base: Node, exponent: Node, point: Point) -> Value:
    if base == n.Const("e"):
        return v.exp(evaluate(exponent, point))
    return v.power(evaluate(base, point), evaluate(exponent, point))


def _call(name: str, arguments: list[Value]) -> Value:
    first, *rest = arguments
    if name == "sqrt":
        return v.power(first, Value(Fraction(1, 2)))
    if name == "root":
        return v.root(first, rest[0])
    if name == "exp":
        return v.exp(first)
    if name in {"ln", "log"}:
        # A bare log has base 10 in school problems; the comparer does not call it wrong on that alone.
        base = v.log(rest[0]) if rest else _ONE if name == "ln" else v.log(Value(Fraction(10)))
        return v.divide(v.log(first), base)
    if name == "binomial":
        return v.binomial(first, rest[0])
    return v.real_function(name, first)


def _in_base(digits: str, base: int) -> int:
    try:
        return int(digits, base)
    except ValueError:
        raise NoValueError(f"{digits} is not a number in base {base}") from None


def _integral(node: n.Integral, point: Point) -> Value:
    """An enclosure by slices: too coarse to prove equality, enough to prove that two values differ."""
    low, high = evaluate(node.low, point), evaluate(node.high, point)
    if not (low.is_real and high.is_real and isinstance(low.re, Fraction) and isinstance(high.re, Fraction)):
        raise NoValueError("an integral with bounds that are not rational")
    width = (high.re - low.re) / _SLICES
    total = Value(Fraction(0))
    for k in range(_SLICES):
        left, right = v.interval(low.re + k * width), v.interval(low.re + (k + 1) * width)
        slice_ = Value(iv.mpf([left.a, right.b]))
        total = v.add(total, evaluate(node.body, {**point, node.variable: slice_}))
    return v.multiply(total, Value(width))
