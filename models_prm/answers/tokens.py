"""Cut a tidied answer into tokens. Words, units and separators are told from variables here."""

from __future__ import annotations

import re
from typing import NamedTuple

from models_prm.answers.nodes import UnreadableError
from models_prm.answers.units import LETTER_UNITS, known_unit, unit_of


class Token(NamedTuple):
    """`kind` is one of number, letter, word, unit, money, function, command, and the operators themselves."""

    kind: str
    text: str


FUNCTIONS = frozenset(
    {"sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "sqrt", "arcsin", "arccos", "arctan",
     "sinh", "cosh", "tanh"}
)  # fmt: skip
_PLAIN_NAMES = {
    "pi": ("command", "pi"), "infinity": ("command", "infty"), "inf": ("command", "infty"),
    "oo": ("command", "infty"), "or": (",", "or"), "and": (",", "and"), "union": ("cup", "cup"),
    "percent": ("unit", "percent"), "degrees": ("unit", "degree"), "degree": ("unit", "degree"),
}  # fmt: skip
_COMMANDS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=",
    "geq": ">=", "geqslant": ">=", "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "pm": "pm", "mp": "mp",
    "cup": "cup", "cap": "cap", "setminus": "setminus", "in": "in", "approx": "approx", "mid": "|",
    "lvert": "|", "rvert": "|", "vert": "|", "{": "set{", "}": "}set", "lbrace": "set{", "rbrace": "}set",
    "equiv": "=", "colon": ":", "dots": "dots", "ldots": "dots", "cdots": "dots", "infin": "infty",
    "langle": "(", "rangle": ")",
}  # fmt: skip
_TOKEN = re.compile(
    r"""
      \s*(?:
        (?P<degree>\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degrees?(?![A-Za-z]))
      | (?P<money>\\?\$|\\?[€£])
      | (?P<percent>\\?%)
      | (?P<text>\\text\s*\{(?P<words>(?:[^{}]|\{[^{}]*\})*)\}
            (?:\s*\^\s*(?:(?P<exponent>[23])|\{(?P<braced>[23])\}))?)
      | \\(?P<matrix>begin|end)\s*\{(?P<environment>[a-z]*)\*?\}(?:\{[clr|]*\})?
      | (?P<row>\\\\(?:\[[^\]]*\])?)
      | \\(?P<command>[A-Za-z]+|[{}])
      | (?P<repeating>\d*\.\d*)\\overline\s*\{(?P<period>\d+)\}
      | (?P<scientific>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]\+?|E-)\d+|\d*\.\d+e-\d+)(?![\d.])
      | (?P<number>\d+(?:\.\d+)?|\.\d+)
      | (?P<name>[A-Za-z]+'*)
      | (?P<operator><=|>=|!=|==|\*\*|[-+*/^_=<>!|:;,()\[\]{}&])
      )""",
    re.VERBOSE,
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_MATH_WORDS = re.compile(r"[\d()+*/=<>\\^_-]")
_VALUE_ENDS = frozenset({"number", "letter", "unit", ")", "]", "}", "function", "!"})


def has_grouping_commas(text: str) -> bool:
    """Whether a comma may be either a thousands separator or one between two answers."""
    return _THOUSANDS.search(text) is not None and "(" not in text and "[" not in text


def tokenise(text: str, *, group_commas: bool = True) -> list[Token]:
    """Tokens of a tidied answer. With `group_commas`, 1,234 is one number; without, two."""
    if group_commas and has_grouping_commas(text):
        text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    tokens: list[Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise UnreadableError(f"cannot read {text[position : position + 12]!r}")
        tokens.extend(_tokens_of(match, tokens))
        position = match.end()
    return tokens


def _tokens_of(match: re.Match[str], before: list[Token]) -> list[Token]:
    if match["degree"]:
        return [Token("unit", "degree")]
    if match["money"]:
        return [Token("money", match["money"].lstrip("\\"))]
    if match["percent"]:
        return [Token("unit", "percent")]
    if match["text"]:
        return _text_tokens(match["words"], match["exponent"] or match["braced"], _ends_value(before))
    if match["matrix"]:
        return [Token(match["matrix"], match["environment"])]
    if match["row"]:
        return [Token("row", "")]
    if match["command"]:
        return [_command(match["command"])]
    if match["period"]:
        return [Token("repeating", f"{match['repeating']}|{match['period']}")]
    if match["scientific"] or match["number"]:
        return [Token("number", match["scientific"] or match["number"])]
    if match["name"]:
        return _name_tokens(match["name"], before)
    operator = {"**": "^", ";": ",", "==": "="}.get(match["operator"], match["operator"])
    return [Token(operator, match["operator"])]


def _command(name: str) -> Token:
    if name in FUNCTIONS:
        return Token("function", name)
    return Token(_COMMANDS.get(name, "command"), name)


def _text_tokens(words: str, exponent: str | None, after_value: bool) -> list[Token]:
    """`\\text{ or }` separates, `\\text{(A)}` is read as written, a lone letter is one, the rest words."""
    plain = words.strip()
    if plain.casefold().strip(", ") in {"or", "and", ""} and plain:
        return [Token(",", plain)]
    measures = after_value and unit_of(plain).dimension != ""
    if _MATH_WORDS.search(plain) and not measures and not re.search(r"[A-Za-z]{2}", plain):
        return tokenise(plain)
    if len(plain) == 1 and plain.isalpha() and not after_value:
        return [Token("letter", plain)]
    return [Token("word", plain + (f"^{exponent}" if exponent else ""))] if plain else []


def _name_tokens(name: str, before: list[Token]) -> list[Token]:
    """Letters without a backslash: a function, a unit after a value, a word, or a product of variables."""
    lowered = name.casefold()
    if name in FUNCTIONS:
        return [Token("function", name)]
    if lowered in _PLAIN_NAMES:
        kind, text = _PLAIN_NAMES[lowered]
        return [Token(kind, text)]
    if name[:2] == "pi" and len(name) == 3:
        return [Token("command", "pi"), Token("letter", name[2])]
    if _ends_value(before) and lowered not in LETTER_UNITS and known_unit(lowered) is not None:
        return [Token("word", name)]
    capitalised = len(name) > 1 and name[0].isupper() and name[1:].islower()
    if len(name) >= 4 or capitalised or (known_unit(lowered) is not None and len(name) > 2):
        return [Token("word", name)]
    letters = re.findall(r"[A-Za-z]'*", name)
    return [Token("letter", letter) for letter in letters]


def _ends_value(before: list[Token]) -> bool:
    return bool(before) and (before[-1].kind in _VALUE_ENDS or before[-1] == Token("command", "pi"))
