"""Charts as plain numbers for an SVG in a template: no drawing library, no script. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from selection.queries import Bin

WIDTH, HEIGHT, TOP, FOOT = 500.0, 170.0, 8.0, 22.0


@dataclass(frozen=True)
class Bar:
    """A rectangle in the chart's units; `kind` is a CSS class."""

    x: float
    y: float
    width: float
    height: float
    kind: str


def _bar(x: float, y: float, width: float, height: float, kind: str) -> Bar:
    return Bar(round(x, 2), round(y, 2), round(width, 2), round(height, 2), kind)


@dataclass(frozen=True)
class Histogram:
    width: float
    height: float
    base: float  # y of the axis
    bars: list[Bar]
    right: int
    wrong: int
    unknown: int
    picked: int
    columns: list[tuple[str, Bin]]  # the same numbers as a table, by range of scores


def histogram(bins: Sequence[Bin]) -> Histogram | None:
    """Side by side in every bin: wrong (picked ones filled in its foot) and right; None without scores."""
    if not bins:
        return None
    tallest = max(1, *(max(b.right, b.wrong) for b in bins))
    base, room = HEIGHT - FOOT, HEIGHT - FOOT - TOP
    slot = WIDTH / len(bins)
    bar = slot * 0.4
    bars = []
    for index, column in enumerate(bins):
        left = index * slot + slot * 0.1
        for offset, kind, n in (
            (0.0, "chart-wrong", column.wrong),
            (0.0, "chart-picked", column.picked),
            (bar, "chart-right", column.right),
        ):
            if n:
                # A single solution stays visible beside thousands.
                height = max(1.5, room * n / tallest)
                bars.append(_bar(left + offset, base - height, bar, height, kind))
    ranges = [f"{i / len(bins):.2f}–{(i + 1) / len(bins):.2f}" for i in range(len(bins))]
    return Histogram(
        WIDTH,
        HEIGHT,
        base,
        bars,
        right=sum(b.right for b in bins),
        wrong=sum(b.wrong for b in bins),
        unknown=sum(b.unknown for b in bins),
        picked=sum(b.picked for b in bins),
        columns=[(name, b) for name, b in zip(ranges, bins, strict=True) if b.right + b.wrong + b.unknown],
    )
