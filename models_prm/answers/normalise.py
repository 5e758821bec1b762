"""Surface cleaning of answers: what two writers of the same answer may write differently.

`tidy` changes notation only, never a value, so that every grader reads the same text. `normalise` goes on
to a key for comparing strings. `plain_number` reads numbers that need no algebra.
"""

from __future__ import annotations

import re
from fractions import Fraction

_UNICODE = str.maketrans(
    {
        "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "∕": "/", "⁄": "/",
        "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ", "∞": "\\infty ", "π": "\\pi ", "∪": "\\cup ", "∩": "\\cap ",
        "±": "\\pm ", "°": "^\\circ ", "²": "^{2}", "³": "^{3}", "½": "\\frac{1}{2}", "¼": "\\frac{1}{4}",
        "¾": "\\frac{3}{4}", "θ": "\\theta ", "∈": "\\in ", "’": "'", "′": "'", "“": '"', "”": '"',
        "\u00a0": " ", "\u2009": " ", "\u202f": " ",
    }
)  # fmt: skip
_FULL_WIDTH = {0xFF01 + k: 0x21 + k for k in range(94)}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SUPERSCRIPT_RUN = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SURD_SIGN = re.compile(r"√\s*(?:\(([^()]*)\)|(\d+|[A-Za-z]))")
_INVISIBLE = re.compile(
    r"\\(?:left|right|bigg?[lr]?|Bigg?[lr]?|displaystyle|textstyle|limits)(?![A-Za-z])(?:\.(?!\d))?"
    r"|\\phantom\s*(?:\{[^{}]*\}|.)"
)
# Not after a backslash: in "\\\\ 3" the two are a line break of a matrix.
_NO_SPACE = re.compile(r"(?<!\\)\\!")
_SPACE = re.compile(r"(?<!\\)\\[,;:> ]|\\(?:quad|qquad|hspace\{[^{}]*\}|space)(?![A-Za-z])|~")
_WRAPPER = re.compile(
    r"\\(?:mbox|textbf|textit|textrm|textsf|texttt|textnormal|emph|hbox|mathrm|mathbf|mathit|mathsf|mathtt"
    r"|operatorname|boldsymbol|bm|rm)(?![A-Za-z])\*?\s*(?=\{)"
)
_ONE_LETTER = re.compile(
    r"\\(?:mathrm|mathbf|mathit|boldsymbol|bm|vec)(?:\s*\{\s*([A-Za-z])\s*\}|\s+([A-Za-z])(?![A-Za-z]))"
)
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_GROUP_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,\\!|\\,|\{\\,\}|,\s*\\!)\s*(?=\d{3}(?!\d))")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_LEADING_RELATION = re.compile(r"^\s*(?:=|\\approx(?![A-Za-z]))\s*")
_MATH_QUOTES = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:([ap])\.?m\.?)?")
_INTEGER = r"\d{1,3}(?:,\d{3})+|\d+"
_DECIMAL = rf"(?:(?:{_INTEGER})(?:\.\d*)?|\.\d+)"
_RATIO = r"(?:\\frac\{(?P<num>-?\d{1,40})\}\{(?P<den>-?\d{1,40})\}|(?P<top>\d{1,40})/(?P<bottom>\d{1,40}))"
_PLAIN = re.compile(rf"(?P<sign>[+-]?)\s*(?:(?P<decimal>{_DECIMAL})|(?P<whole>\d{{1,40}}\s*)?{_RATIO})")
_MAX_DIGITS = 400


def tidy(text: str) -> str:
    """The same answer in one notation: no outer math delimiters, spacing or sizing commands, one fraction."""
    text = text.strip().translate(_FULL_WIDTH)
    text = _SUPERSCRIPT_RUN.sub(lambda run: f"^{{{run[0].translate(_SUPERSCRIPTS)}}}", text)
    text = _SURD_SIGN.sub(r"\\sqrt{\1\2}", text).translate(_UNICODE)
    text = strip_math_quotes(text)
    text = _GROUP_COMMA.sub("", text)
    text = _SPACE.sub(" ", _NO_SPACE.sub("", _INVISIBLE.sub("", text)))
    text = _ONE_LETTER.sub(r" \1\2", text)
    text = _FRACTION.sub(r"\\frac", _WRAPPER.sub(r"\\text", text))
    text = _LEADING_RELATION.sub("", text.replace("\n", " ")).strip()
    if text.endswith((".", ",", ";")) and not text.endswith("\\,"):
        text = text[:-1].rstrip()
    return strip_math_quotes(text)


def strip_math_quotes(text: str) -> str:
    """Take off `$ $`, `\\( \\)` and their like, when they embrace the whole text."""
    text = text.strip()
    for left, right in _MATH_QUOTES:
        inner = text[len(left) : -len(right)]
        embraces = text.startswith(left) and text.endswith(right) and len(text) > len(left) + len(right)
        if embraces and right not in inner.replace("\\$", "") and not inner.endswith("\\"):
            return inner.strip()
    return text


def normalise(text: str) -> str:
    """A key for comparing answers as strings: tidy, no spaces, braces and fractions in one style.

    Units, bases, signs and the order of elements stay; words are compared without regard to case.
    """
    text = tidy(text)
    text = re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\\frac\s*(\d)\s*\{", r"\\frac{\1}{", text)
    text = re.sub(r"(\\frac\{[^{}]*\})\s*(\d)", r"\1{\2}", text)
    text = re.sub(r"\\sqrt\s*(\w)", r"\\sqrt{\1}", text)
    text = re.sub(r"([\^_])\s*\{(\w|\\circ)\}", r"\1\2", text)
    text = re.sub(
        r"\\le(?:q|qslant)?(?![A-Za-z])", "<=", re.sub(r"\\ge(?:q|qslant)?(?![A-Za-z])", ">=", text)
    )
    text = re.sub(r"\\[lr]brace(?![A-Za-z])", lambda mark: "\\{" if "l" in mark[0] else "\\}", text)
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text) if "(" not in text else text
    # A space between two digits is kept: "1 2" is not 12.
    text = re.sub(r"\s+(?!\d)|(?<!\d)\s+", "", text)
    words = re.fullmatch(r"[A-Za-z'-]+(?:,[A-Za-z'-]+)*", text)
    return text.casefold() if words and len(text) > 1 else text


def clock_time(text: str) -> tuple[int, ...] | None:
    """Hours, minutes, seconds, and 0, 1 or 2 for nothing, a.m. or p.m.; None for all but a time of day."""
    match = _CLOCK.fullmatch(normalise(text).casefold())
    if match is None:
        return None
    return int(match[1]), int(match[2]), int(match[3] or 0), " ap".index(match[4] or " ")


def plain_number(text: str) -> Fraction | None:
    """The exact value of an integer, decimal, fraction or mixed number; None for anything else.

    `10{,}000`, `1,234.50`, `-\\frac{3}{4}`, `3/4`, `3\\frac{1}{2}`, `\\$5` and `$5` are plain; a number with
    a unit, a percent sign, a base or a formula is not.
    """
    if len(text) > _MAX_DIGITS:
        return None
    text = normalise(text).removeprefix("\\$").removeprefix("$")
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    sign = -1 if match["sign"] == "-" else 1
    if match["decimal"] is not None:
        return sign * Fraction(match["decimal"].replace(",", ""))
    top, bottom = int(match["num"] or match["top"]), int(match["den"] or match["bottom"])
    if bottom == 0:
        return None
    if match["whole"] is None:
        return sign * Fraction(top, bottom)
    # 3\frac{1}{2} is a mixed number; 3\frac{4}{2} is a product, left to the graders that read formulas.
    mixed = 0 < top < bottom and (match["num"] is not None or match["whole"].endswith(" "))
    return sign * (int(match["whole"]) + Fraction(top, bottom)) if mixed else None
