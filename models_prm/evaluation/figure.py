"""The paper's Figure 2 as SVG: a solution's steps, coloured by score, with every number in text.

    svg = solution_figure(steps, scores, ratings=[1, -1, None])

Green is likely fine, red likely wrong; the score stands beside each step, and people's ratings as a word. The
picture stands alone and follows the reader's light or dark setting. Nothing heavy is imported.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

_WIDTH, _LINE, _PAD, _CHARS = 760, 18, 9, 68
_RATINGS = {1: "+ good", 0: "○ neutral", -1: "− bad"}
_LIGHT = ("#f6c9c4", "#fbe0cb", "#fbf3da", "#e6f1dc", "#d3ede2")
_DARK = ("#5a2622", "#4f3320", "#40371c", "#2b3a22", "#17402f")


def solution_figure(
    steps: Sequence[str],
    scores: Sequence[float | None],
    ratings: Sequence[int | None] = (),
    *,
    title: str = "Steps by score",
) -> str:
    """An SVG text. `scores` in [0, 1], None (or a shorter list) where a step has none; `ratings` of people.

    Raises ValueError when there are more scores or ratings than steps, or a score beyond [0, 1].
    """
    if len(scores) > len(steps) or len(ratings) > len(steps):
        raise ValueError("more scores or ratings than steps")
    if any(s is not None and not 0 <= s <= 1 for s in scores):
        raise ValueError("a step's score lies between 0 and 1")
    parts: list[str] = []
    top = 30
    for index, step in enumerate(steps):
        score = scores[index] if index < len(scores) else None
        rating = ratings[index] if index < len(ratings) else None
        lines = [line for part in step.split("\n") for line in textwrap.wrap(part, _CHARS)] or [""]
        height = _LINE * len(lines) + 2 * _PAD
        parts.append(_row(top, height, lines, score, rating))
        top += height + 3
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" role="img"'
    heading = f'<text class="head" x="10" y="20">{escape(title)}</text>'
    body = "\n".join(
        [f"<style>{_style()}</style>", '<rect class="ground" width="100%" height="100%"/>', heading]
    )
    return "\n".join([f"{head} aria-label={quoteattr(title)}>{body}", *parts, "</svg>\n"])


def _row(top: int, height: int, lines: Sequence[str], score: float | None, rating: int | None) -> str:
    band = "none" if score is None else str(min(4, int(score * 5)))
    number = "–" if score is None else f"{score:.2f}"
    first = top + _PAD + 13
    texts = [f'<text class="number" x="16" y="{first}">{number}</text>']
    texts += [f'<text x="68" y="{first + _LINE * i}">{escape(line)}</text>' for i, line in enumerate(lines)]
    if rating is not None:
        said = (
            f'<text class="number" x="{_WIDTH - 16}" y="{first}" text-anchor="end">{_RATINGS[rating]}</text>'
        )
        texts.append(said)
    rect = f'<rect class="band-{band}" x="4" y="{top}" width="{_WIDTH - 8}" height="{height}" rx="4"/>'
    return "\n".join([rect, *texts])


def _style() -> str:
    def theme(ground: str, text: str, none: str, bands: Sequence[str]) -> str:
        fills = "".join(f".band-{i}{{fill:{colour}}}" for i, colour in enumerate(bands))
        return f".ground{{fill:{ground}}}text{{fill:{text}}}.band-none{{fill:{none}}}{fills}"

    shape = "text{font:14px ui-monospace,monospace}.number,.head{font-weight:700}"
    light, dark = (
        theme("#ffffff", "#1b201e", "#f0f1ef", _LIGHT),
        theme("#1d2225", "#e9ecea", "#262c30", _DARK),
    )
    return f"{shape}{light}@media (prefers-color-scheme:dark){{{dark}}}"
