"""Find the final answer in a solution. It is taken from the text as written; nothing is simplified here.

Order, most explicit first: the last balanced `\\boxed{}` or `\\fbox{}`; the text after "# Answer"
(PRM800K); after "####" (GSM8K references); after "The answer is"; on a line "A:" (GSM8K's samples) or
"Answer:"; else none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
_BARE_BOXED = re.compile(r"[^\s${}\\]+")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_ANSWER_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]*(?:final )?answer\b[ \t]*:?", re.IGNORECASE | re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_HASHES = re.compile(r"####(?!#)[ \t]*")
_ANSWER_IS = re.compile(r"\bthe (?:final |correct )?answer is(?: that)?[ \t]*:?[ \t]*", re.IGNORECASE)
_ANSWER_LINE = re.compile(
    r"^[ \t]*(?:A|(?:\*\*)?(?i:(?:final )?answer)(?:\*\*)?)[ \t]*:(?:\*\*)?[ \t]*", re.MULTILINE
)
_SENTENCE_END = re.compile(r"\.(?=\s|$)")


def extract_answer(text: str) -> str | None:
    """The final answer of a solution as written, or None when it states none."""
    for find in (_boxed, _after_heading, _after_hashes, _after_answer_is, _answer_line):
        answer = find(text)
        if answer:
            return answer
    return None


def split_final_answer(steps: Sequence[str]) -> tuple[list[str], str | None]:
    """The reasoning steps without the block that only states the answer, and the answer.

    A boxed answer stays in its step, since it is part of the sentence; "# Answer", "####" and "A:" blocks
    are taken off the last step, and a step left empty by that is dropped.
    """
    kept = list(steps)
    answer = extract_answer(kept[-1]) if kept else None
    if answer is None:
        # A model may go on talking after it has stated its answer.
        return kept, extract_answer("\n".join(kept))
    body = _without_answer_block(kept.pop())
    return (kept + [body] if body else kept), answer


def _without_answer_block(step: str) -> str:
    starts = [
        match.start()
        for mark in (_ANSWER_HEADING, _HASHES, _ANSWER_LINE)
        if (match := _last(mark, step)) is not None
    ]
    return step[: min(starts)].rstrip() if starts else step


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    match = None
    for match in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return match


def _boxed(text: str) -> str | None:
    """The content of the last balanced box that holds something; `\\boxed 7` without braces counts too."""
    boxes = list(_BOX.finditer(text))
    closers = _closing_braces(text) if boxes else {}
    for match in reversed(boxes):
        start = match.end()
        if text[start : start + 1] == "{":
            content = text[start + 1 : closers[start]].strip() if start in closers else ""
        else:
            bare = _BARE_BOXED.match(text, start) if start > match.start() + 6 else None
            content = bare[0].rstrip(".,;") if bare else ""
        if content:
            return content
    return None


def _closing_braces(text: str) -> dict[int, int]:
    """For each brace that is closed, where; in one pass. Escaped braces do not count."""
    opened: list[int] = []
    closers: dict[int, int] = {}
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            closers[opened.pop()] = match.start()
    return closers


def _after_heading(text: str) -> str | None:
    match = _last(_ANSWER_HEADING, text)
    # The first block: a model may go on after it, and a matrix may take several lines.
    return _BLANK_LINE.split(text[match.end() :].strip(), maxsplit=1)[0].strip() if match else None


def _after_hashes(text: str) -> str | None:
    return _rest_of_line(text, _last(_HASHES, text))


def _answer_line(text: str) -> str | None:
    return _rest_of_line(text, _last(_ANSWER_LINE, text))


def _after_answer_is(text: str) -> str | None:
    line = _rest_of_line(text, _last(_ANSWER_IS, text))
    if line is None:
        return None
    for end in _SENTENCE_END.finditer(line):
        # A full stop inside $...$ does not end the sentence.
        if line[: end.start()].count("$") % 2 == 0:
            return line[: end.start()].strip()
    return line


def _rest_of_line(text: str, match: re.Match[str] | None) -> str | None:
    if match is None:
        return None
    return text[match.end() :].split("\n", 1)[0].strip()
