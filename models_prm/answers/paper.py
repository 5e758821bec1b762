"""The conservative rules of the paper's grader (openai/prm800k), over our own parser instead of `eval`.

Equal strings after Hendrycks' normaliser, or after a freer one that drops units, percent signs and case; or
element by element (tuples keep order and brackets) with sympy, where: two fractions must be written alike,
an integer needs an integer, and expressions with more than two unknown letters or with exponents that might
explode are not tried. "Wrong" here means "not shown equal". Only the grader's worker imports this module.
"""

from __future__ import annotations

import re

import sympy

from models_prm.answers import nodes as n
from models_prm.answers.nodes import Node, UnreadableError
from models_prm.answers.normalise import normalise, tidy
from models_prm.answers.parse import read_answer
from models_prm.answers.verdict import Verdict

_UNITS = re.compile(
    r"(?:degree|centimeter|cm|meter|mile|second|minute|hour|day|week|month|year|foot|feet|inch|yard)"
    r"(?:es)?s?\s*(?:\^\s*\{?\d+\}?)?"
)
_DEGREE = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ)")
_RIGHT_UNIT = re.compile(r"\\text\s*\{\s.*$")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_EXPONENT_RISK = re.compile(r"\^\(|\^\d+\^|\^\d\d+|\^\{")
_FRACTION = re.compile(r"-?(?:\d+/0*[1-9]\d*|\\frac\{-?\d+\}\{\d+\})")
_FUNCTION_NAMES = re.compile(r"\\[A-Za-z]+|sqrt|frac")
_NEARLY_WHOLE = 1e-7


def paper_vote(answer: str, truth: str) -> Verdict:
    """Right when the paper's rules show equality, else wrong. May be slow: sympy simplifies."""
    if _hendrycks(answer) == _hendrycks(truth):
        return Verdict.RIGHT
    given, true = _free(answer), _free(truth)
    if given == true:
        return Verdict.RIGHT
    if not given:
        return Verdict.WRONG
    return Verdict.RIGHT if _elements_equal(given, true) else Verdict.WRONG


def _hendrycks(text: str) -> str:
    """The MATH data set's string normaliser: units, percent and a short `x=` off."""
    text = _RIGHT_UNIT.sub("", tidy(text))
    text = re.sub(r"\\?%|\\\$", "", _DEGREE.sub("", text))
    left, equals, right = text.partition("=")
    if equals and len(left.strip()) <= 2 and "=" not in right:
        text = right
    text = normalise(text)
    text = re.sub(r"(?<!\d)\.(?=\d)", "0.", text)
    whole = re.fullmatch(r"(-?\d+)/(-?\d+)", "1/2" if text == "0.5" else text)
    return f"\\frac{{{whole[1]}}}{{{whole[2]}}}" if whole else text


def _free(text: str) -> str:
    """The freer normaliser: words for millions are factors, units and percent signs and case are dropped."""
    text = re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", tidy(text))
    text = re.sub(r"\\?[%$]", "", text)
    text = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    text = re.sub(r"\s(?:or|and)\s", " , ", text)
    for word, exponent in (("trillion", 12), ("billion", 9), ("million", 6)):
        text = text.replace(word, f"*10^{exponent}")
    text = _DEGREE.sub("", _UNITS.sub("", text))
    text = re.sub(r"(?<=\d)\s+(?=\d)", "+", text)
    text = re.sub(r"\^\s*\{(\w+)\}", r"^\1", re.sub(r"\s+", "", text))
    text = text.lower() if "\\" not in text else text
    text = re.sub(r"^\\frac\{-", r"-\\frac{", text)
    number = _as_float(text)
    if number is not None and abs(number) < 1e15 and abs(number - round(number)) <= _NEARLY_WHOLE:
        return str(round(number))
    return text


def _as_float(text: str) -> float | None:
    try:
        return float(_THOUSANDS.sub("", text))
    except ValueError:
        return None


def _elements_equal(given: str, true: str) -> bool:
    left, right = _elements(given), _elements(true)
    if len(right) > 1 and (given[0], given[-1]) != (true[0], true[-1]):
        return False
    return len(left) == len(right) and all(map(_element_equal, left, right))


def _elements(text: str) -> list[str]:
    text = _THOUSANDS.sub("", text)
    inner = text[1:-1]
    if len(text) > 2 and text[0] in "([" and text[-1] in ")]" and not set(inner) & set("()[]"):
        return [element.strip() for element in inner.split(",")]
    return [text]


def _element_equal(given: str, true: str) -> bool:
    if _FRACTION.fullmatch(given) and _FRACTION.fullmatch(true):
        return normalise(given) == normalise(true)
    if _is_whole(given) != _is_whole(true):
        return False
    return given == true or _difference_vanishes(given, true)


def _is_whole(text: str) -> bool:
    number = _as_float(text)
    return number is not None and abs(number) < 1e15 and abs(number - round(number)) <= _NEARLY_WHOLE


def _difference_vanishes(given: str, true: str) -> bool:
    both = f"({true})-({given})"
    letters = set(filter(str.isalpha, _FUNCTION_NAMES.sub("", both)))
    if len(letters) > 2 or _EXPONENT_RISK.search(both):
        return False
    try:
        difference = to_sympy(read_answer(true)) - to_sympy(read_answer(given))
    except UnreadableError:
        return False
    return bool(sympy.simplify(difference) == 0)


def to_sympy(node: Node) -> sympy.Expr:
    """The sympy expression of a formula; UnreadableError for anything that is not one."""
    match node:
        case n.Num(value):
            return sympy.Rational(value.numerator, value.denominator)
        case n.Sym(name):
            return sympy.Symbol(name)
        case n.Const(name):
            return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I}[name]
        case n.Sum(terms):
            return sympy.Add(*map(to_sympy, terms))
        case n.Product(factors):
            return sympy.Mul(*map(to_sympy, factors))
        case n.Quotient(top, bottom):
            return to_sympy(top) / to_sympy(bottom)
        case n.Power(base, exponent):
            return to_sympy(base) ** to_sympy(exponent)
        case n.Call("sqrt", (radicand,)):
            return sympy.sqrt(to_sympy(radicand))
        case n.Call(name, (argument,)) if name in {"sin", "cos", "tan", "cot", "sec", "csc", "log", "exp"}:
            return getattr(sympy, name)(to_sympy(argument))
    raise UnreadableError(f"{type(node).__name__} is not a formula")
