"""The `rounded` grader: a decimal that is the true value rounded to the digits it writes. Lenient only.

Only the grader's worker imports this module.
"""

from __future__ import annotations

import re
from fractions import Fraction

from models_prm.answers import nodes as n
from models_prm.answers.evaluate import evaluate, free_names
from models_prm.answers.nodes import Node, UnreadableError
from models_prm.answers.normalise import tidy
from models_prm.answers.parse import read_answer
from models_prm.answers.values import NoValueError, Value, interval
from models_prm.answers.verdict import Verdict

_DECIMAL = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d*)\.(\d+)")
_FEWEST_DIGITS = 3


def rounded_vote(answer: str, truth: str) -> Verdict:
    """Right where one side is a decimal of three or more digits and the other a value that rounds to it.

    The value is enclosed in an interval, which must lie within half a unit of the last digit written. Else
    unknown: rounding never proves two answers different.
    """
    for decimal, other in ((tidy(answer), tidy(truth)), (tidy(truth), tidy(answer))):
        match = _DECIMAL.fullmatch(decimal)
        if match is not None and _rounds_to(other, decimal.replace(",", ""), len(match[1])):
            return Verdict.RIGHT
    return Verdict.UNKNOWN


def _rounds_to(other: str, decimal: str, places: int) -> bool:
    if len(decimal.lstrip("+-0.").replace(".", "")) < _FEWEST_DIGITS:
        return False
    value = _value(other)
    if value is None or not value.is_real:
        return False
    apart = abs(interval(value.re) - interval(Fraction(decimal)))
    return bool(apart.b <= interval(Fraction(1, 2 * 10**places)).a * (1 + 1e-12))


def _value(text: str) -> Value | None:
    """The number that a text writes, without its unit; None for anything else."""
    try:
        node: Node = read_answer(text)
        if isinstance(node, n.Quantity):
            node = node.value
        if isinstance(node, n.Relation) and node.operators in {("=",), ("approx",)}:
            node = node.sides[-1]
        return None if free_names(node) else evaluate(node, {})
    except (UnreadableError, NoValueError, OverflowError, ValueError):
        return None
