"""Other spellings of an answer, brought to the one that the parser reads. Text in, text out; pure.

`respell` looks at one answer, `aligned` at both: what one side leaves out (an overline, the text beside a
choice's letter) is taken off the other. Nothing here changes what an answer means.
"""

from __future__ import annotations

import re

from models_prm.answers.units import known_unit

_BELOW_TWENTY = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: value for value, word in enumerate(_BELOW_TWENTY)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_PLAIN_TEXT = re.compile(r"\\text\s*\{\s*([^{}\\$]*?)\s*\}|([A-Za-z][A-Za-z ,'’.-]*)")
_NO_SOLUTION = re.compile(
    r"(?:there (?:is|are) )?(?:none|no (?:(?:real|such|integer|positive) )?(?:solutions?|roots?|values?))"
    r"(?: exists?)?\.?"
)
_NO_LIMIT = re.compile(r"d\.?n\.?e\.?|(?:the limit )?does not exist\.?")
_ALL_REALS = re.compile(r"all (?:the )?real(?: number)?s?(?: numbers)?\.?")
_REALS = re.compile(r"\\mathbb\s*(?:\{\s*R\s*\}|R)")
_HEDGE = re.compile(r"^(?:about|approximately|approx\.?|roughly|exactly)\s+(?=[\d\\$.-])", re.IGNORECASE)
_SET_BUILDER = re.compile(
    r"\\?\{\s*([A-Za-z])\s*(?:\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*)?(?:\\mid|\||:|\\colon)\s*(.+?)\s*\\?\}"
)
_BASE_WORD = re.compile(r"(?<=\d)_\s*\{?\s*\\text\s*\{\s*([a-z]+)\s*\}\s*\}?")
_REPEATS = re.compile(r"(?<![\d.])(\d*\.\d*?)(\d)\2{2,}\s*(?:\.{2,3}|\\[lc]?dots|…)")
_PERIOD = re.compile(r"(?<![\d.])(\d*\.\d*)\((\d+)\)(?!\d)")
_VALUE_AND_UNIT = re.compile(r"([+-]?[\d.,]*\d)\s+([A-Za-z]+)\s*(\^\s*\{?[23]\}?)?\s*(?:/\s*([A-Za-z]+))?")
_DECORATED = re.compile(
    r"\\(overline|angle|triangle|overrightarrow|overleftrightarrow|vec|widehat|hat|bar)"
    r"\s*(?:\{\s*([A-Za-z]{1,4})\s*\}|\s([A-Za-z]{1,4}))"
)
_CHOICE = re.compile(r"(?:\\text\s*\{\s*)?\(?([A-Ja-j])(?:\)\s*\}?\s*|[.:]\s+)\S.*")
_LETTER = re.compile(r"(?:\\text\s*\{\s*)?\(?([A-Ja-j])\)?\s*\}?\.?")


def respell(text: str) -> str:
    """One tidied answer in the spelling that the parser reads."""
    text = _HEDGE.sub("", text)
    plain = _PLAIN_TEXT.fullmatch(text)
    if plain is not None:
        phrase = _phrase((plain[1] or plain[2] or "").casefold())
        if phrase is not None:
            return phrase
    if _REALS.fullmatch(text):
        return r"(-\infty,\infty)"
    builder = _SET_BUILDER.fullmatch(text)
    if builder is not None and builder[1] in builder[2]:
        text = builder[2]
    text = re.sub(r"\\not\s*=", r"\\ne ", text)
    text = re.sub(r"\\lg(?![A-Za-z])", r"\\log_{10}", text)
    text = _BASE_WORD.sub(lambda m: f"_{{{_SMALL[m[1]]}}}" if m[1] in _SMALL else m[0], text)
    text = _REPEATS.sub(r"\1\\overline{\2}", text)
    text = _PERIOD.sub(r"\1\\overline{\2}", text)
    measure = _VALUE_AND_UNIT.fullmatch(text)
    if measure is not None and (measure[3] or measure[4]) and _are_units(measure[2], measure[4]):
        per = f"/{measure[4]}" if measure[4] else ""
        return rf"{measure[1]}\text{{ {measure[2]}{re.sub(r'[{}^ ]', '', measure[3] or '')}{per}}}"
    return text


def _phrase(words: str) -> str | None:
    """A whole answer in words that has another spelling: nothing, no limit, all reals, a number."""
    if _NO_SOLUTION.fullmatch(words):
        return r"\text{none}"
    if _NO_LIMIT.fullmatch(words):
        return r"\text{does not exist}"
    if _ALL_REALS.fullmatch(words):
        return r"(-\infty,\infty)"
    number = number_in_words(words)
    return None if number is None else str(number)


def number_in_words(words: str) -> int | None:
    """forty-two, one hundred and five, two thousand: the number, or None for other words."""
    total = part = 0
    parts = [word for word in re.split(r"[\s-]+", words.strip(" .")) if word != "and"]
    if not parts or not all(word in _SMALL or word in _LARGE or word == "hundred" for word in parts):
        return None
    last_small = 0
    for place, word in enumerate(parts):
        if word in _SMALL:
            # "twenty one" adds up, "one two" is a list.
            if last_small and not (last_small >= 20 and 0 < _SMALL[word] < 10):
                return None
            part, last_small = part + _SMALL[word], _SMALL[word]
            if last_small == 0 and len(parts) > 1:
                return None
        elif place == 0 or part == 0:
            return None
        elif word == "hundred":
            part, last_small = part * 100, 0
        else:
            total, part, last_small = total + part * _LARGE[word], 0, 0
    return total + part


def _are_units(*words: str | None) -> bool:
    return all(word is None or known_unit(word) is not None for word in words)


def aligned(answer: str, truth: str) -> tuple[str, str]:
    """Both answers without what only one of them writes: decorations of points, the text of a choice."""
    marks = _DECORATED.fullmatch(answer), _DECORATED.fullmatch(truth)
    if (marks[0] is None) != (marks[1] is None):
        answer, truth = (m[2] or m[3] if m else t for m, t in zip(marks, (answer, truth), strict=True))
    for chosen, other in ((answer, truth), (truth, answer)):
        letter, choice = _LETTER.fullmatch(other), _CHOICE.fullmatch(chosen)
        if letter is not None and choice is not None:
            return choice[1].upper(), letter[1].upper()
    return answer, truth
