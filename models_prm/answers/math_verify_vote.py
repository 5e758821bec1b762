"""Math-Verify as one grader among others, with guards for the pairs it is known to misread.

Only LaTeX extraction is used (its plain-text path ends in `eval`), the answer stands in `$ $`, and its own
time limits are off: they need the main thread, and the pool's limit is the one that holds. Only the
grader's worker imports this module.
"""

from __future__ import annotations

import re
from typing import Any

import sympy
from math_verify import LatexExtractionConfig, parse, verify

from models_prm.answers.normalise import tidy
from models_prm.answers.verdict import Verdict

# What stands under a sum, a limit or an integral is no relation, and no base of digits.
_BOUNDS = re.compile(r"\\(?:sum|prod|lim|int|log)(?:\\limits)?\s*_\s*(?:\{[^{}]*\}|\w)")
_TINY = sympy.Rational(1, 10**4)


def math_verify_vote(answer: str, truth: str) -> Verdict:
    """Right or wrong as Math-Verify says; unknown where it read nothing, or only a shadow of the text."""
    given, true = _read(answer), _read(truth)
    if not given or not true or _shadow(given, answer) or _shadow(true, truth):
        return Verdict.UNKNOWN
    if not verify(true, given, timeout_seconds=None):
        return Verdict.WRONG
    # It rounds to six decimals, so that all tiny numbers look alike: leave those to exact arithmetic.
    return Verdict.UNKNOWN if _tiny(given) or _tiny(true) else Verdict.RIGHT


def _read(text: str) -> list[Any]:
    config = LatexExtractionConfig(boxed_match_priority=-1)
    return list(parse(f"${tidy(text)}$", [config], fallback_mode="no_fallback", parsing_timeout=None))


def _shadow(parsed: list[Any], text: str) -> bool:
    """A relation read as a bare number, or digits with a base read without it."""
    value = parsed[0]
    number = isinstance(value, sympy.Expr) and bool(value.is_number)
    text = _BOUNDS.sub("", text)
    return number and any(mark in text for mark in ("=", "<", ">", "\\le", "\\ge", "_", "\\ne"))


def _tiny(parsed: list[Any]) -> bool:
    value = parsed[0]
    return isinstance(value, sympy.Expr) and bool(value.is_number) and bool(abs(value) < _TINY)
