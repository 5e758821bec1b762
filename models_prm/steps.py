"""The step splitter: one definition of "a step" for sampling, training, search and the labeling page.

Every model fixes a separator by its training, so the splitter's name is stored with each solution and the
steps are kept as a list. Splitting never happens inside display math, an environment, an Asymptote figure
or a code fence. `segment` loses nothing: `join_segments(segment(text, name)) == text` for every text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a solution and the exact characters that stood between it and the next piece."""

    text: str
    separator: str


@dataclass(frozen=True, slots=True)
class Splitter:
    """How a solution falls into steps: where a separator may stand, and what joins steps again."""

    boundaries: Callable[[str], Iterable[Span]]
    joint: str


class UnknownSplitterError(ValueError):
    """There is no splitter of this name; the message lists those there are."""


# Order matters: a doubled backslash is a line break, so that `\\[2pt]` does not open display math.
_MARKS = re.compile(
    r"\\\\|(?P<open>\\\[)|(?P<close>\\\])|\\begin\{(?P<begin>[^{}\n]{1,40})\}|\\end\{(?P<end>[^{}\n]{1,40})\}"
    r"|\\.|(?P<dollars>\$\$)|(?P<asy>\[asy\])|(?P<asy_end>\[/asy\])",
    re.DOTALL,
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
# The look-behind keeps a long run of blanks from being tried at each of its characters.
_NEWLINE = re.compile(r"(?<![ \t])[ \t]*\r?\n")
_BLANK_LINE = re.compile(r"(?<![ \t])[ \t]*\r?\n(?:[ \t]*\r?\n)+")
_NUMBERED_LINE = re.compile(
    r"^[ \t]*(?:(?P<word>[Ss]tep)[ \t]+)?(?P<number>\d{1,4})[ \t]*[:.)](?=\s)", re.MULTILINE
)


def segment(text: str, splitter: str = "newline") -> list[Segment]:
    """Cut `text` into pieces that keep their separators; empty pieces are kept, nothing is lost."""
    protected = protected_spans(text)
    starts = [start for start, _ in protected]
    segments: list[Segment] = []
    position = 0
    for start, end in _splitter(splitter).boundaries(text):
        if start < position or _inside(start, end, protected, starts):
            continue
        segments.append(Segment(text[position:start], text[start:end]))
        position = end
    if position < len(text):
        segments.append(Segment(text[position:], ""))
    return segments


def join_segments(segments: Iterable[Segment]) -> str:
    """Undo `segment` exactly."""
    return "".join(piece.text + piece.separator for piece in segments)


def split_steps(text: str, splitter: str = "newline") -> list[str]:
    """The steps of a solution as people and models see them: empty ones dropped, outer blanks trimmed."""
    return [step for piece in segment(text, splitter) if (step := piece.text.strip())]


def join_steps(steps: Sequence[str], splitter: str = "newline") -> str:
    """One text from steps, with the splitter's own separator; splitting it again gives the steps back."""
    return _splitter(splitter).joint.join(steps)


def protected_spans(text: str) -> list[Span]:
    """Sorted, merged half-open ranges no split may touch; an opener that never closes protects nothing."""
    fences = _pairs_of_fences(text)
    return _merged(fences + list(_paired_marks(text, fences)))


def _splitter(name: str) -> Splitter:
    try:
        return SPLITTERS[name]
    except KeyError:
        raise UnknownSplitterError(f"no splitter {name!r}: choose one of {', '.join(SPLITTERS)}") from None


def _pairs_of_fences(text: str) -> list[Span]:
    """A fence closes with the mark that opened it; the other mark inside it is text."""
    pairs: list[Span] = []
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opened is None:
            opened = mark
        elif mark[1] == opened[1]:
            pairs.append((opened.start(), mark.end()))
            opened = None
    return pairs


def _paired_marks(text: str, fences: list[Span]) -> Iterator[Span]:
    """Match openers with closers, one stack for each kind, so that one stray opener harms no other kind."""
    opened: dict[str, list[int]] = {}
    fence_starts = [start for start, _ in fences]
    for mark in _MARKS.finditer(text):
        if _inside(mark.start(), mark.end(), fences, fence_starts):
            continue
        kind, opens = _kind(mark, opened)
        if kind and opens:
            opened.setdefault(kind, []).append(mark.start())
        elif kind and opened.get(kind):
            yield opened[kind].pop(), mark.end()


def _kind(mark: re.Match[str], opened: dict[str, list[int]]) -> tuple[str, bool]:
    """Which pair a mark belongs to ("" for none), and whether it opens it."""
    name = mark.lastgroup
    if name in {"begin", "end"}:
        return "begin " + mark[name], name == "begin"
    if name == "dollars":
        return "dollars", not opened.get("dollars")
    pair = {"open": "bracket", "close": "bracket", "asy": "asy", "asy_end": "asy"}.get(name or "", "")
    return pair, name in {"open", "asy"}


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _inside(start: int, end: int, spans: list[Span], starts: list[int]) -> bool:
    """Whether the range touches a protected one. An empty range touches only what it is strictly within."""
    before = bisect_right(starts, start) - 1
    if before >= 0 and start < spans[before][1] and not (start == end == spans[before][0]):
        return True
    return before + 1 < len(spans) and spans[before + 1][0] < end


def _numbered(text: str) -> Iterator[Span]:
    """A line that opens with `Step k:`, or with the next number of a list that began at 1, opens a step."""
    expected = 1
    for match in _NUMBERED_LINE.finditer(text):
        if match["word"] is None and int(match["number"]) != expected:
            continue
        expected = int(match["number"]) + 1
        gap = match.start()
        while gap and text[gap - 1].isspace():
            gap -= 1
        if gap:
            yield gap, match.start()


SPLITTERS: dict[str, Splitter] = {
    "newline": Splitter(lambda text: (match.span() for match in _NEWLINE.finditer(text)), "\n"),
    "blank_line": Splitter(lambda text: (match.span() for match in _BLANK_LINE.finditer(text)), "\n\n"),
    "numbered": Splitter(_numbered, "\n"),
    # The source gave a list of steps; its text is never cut again.
    "given": Splitter(lambda text: (), "\n"),
}
