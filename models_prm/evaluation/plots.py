"""Charts as SVG text: lines with bands, grouped bars, reliability. No dependency, no script, no inline style.

    svg = lines([Line("PRM", [(1, 0.6), (64, 0.78)])], Words("Best of N", "N", "accuracy"), log_x=True)

A file stands alone: its colours follow the reader's light or dark setting. With `standalone=False` the
chart carries classes only (`plot-line plot-1` and so on), for a page whose own style sheet colours them.
Series differ by dash and marker as well as by colour, and are named where they end. Every text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

HEIGHT, LEFT, TOP, FOOT = 380.0, 54.0, 32.0, 50.0
PLOT_WIDTH = 440.0  # of the axes; the names beside them take the room they need
LETTER = 7.3  # mean width of a letter at 13 px
SERIES = 6
_LIGHT = ("#1d54d8", "#b3261e", "#0b7456", "#7c5f00", "#6b3fa0", "#4b5551")
_DARK = ("#8aabff", "#ff8f86", "#4ec9a2", "#e2bf4f", "#c7a6ff", "#b3bcb8")
_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "4 2")


@dataclass(frozen=True)
class Words:
    """The texts of a chart; `about` is what a screen reader hears after the title."""

    title: str
    x: str
    y: str
    about: str = ""


@dataclass(frozen=True)
class Line:
    """A named line through (x, y) points; `band` holds (low, high) at each point."""

    name: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] | None = None


@dataclass(frozen=True)
class Bars:
    """A named series of bars: one value in each group; None leaves a gap."""

    name: str
    values: Sequence[float | None]


def lines(
    series: Sequence[Line],
    words: Words,
    *,
    log_x: bool = False,
    percent: bool = True,
    y_range: tuple[float, float] | None = None,
    standalone: bool = True,
) -> str:
    """A line chart. Series without points are left out; `percent` shows 0.5 as 50%."""
    series = [s for s in series if s.points]
    values = [y for s in series for _, y in s.points] + [v for s in series for b in s.band or () for v in b]
    xs = sorted({x for s in series for x, _ in s.points})
    canvas = _Canvas(words, _axis_range(values, y_range), percent, [s.name for s in series])
    canvas.x_range = (_place(xs[0], log_x), _place(xs[-1], log_x)) if xs else (0.0, 1.0)
    canvas.y_axis()
    canvas.x_ticks([(_place(x, log_x), _short(x)) for x in (xs if log_x else _ticks(*canvas.x_range))])
    for number, one in enumerate(series):
        points = [(canvas.x(_place(x, log_x)), canvas.y(y)) for x, y in one.points]
        if one.band is not None:
            edge = [(px, canvas.y(high)) for (px, _), (_, high) in zip(points, one.band, strict=True)]
            edge += [
                (px, canvas.y(low))
                for (px, _), (low, _) in reversed(list(zip(points, one.band, strict=True)))
            ]
            canvas.add(f'<polygon class="plot-band plot-{number % SERIES}" points="{_path(edge)}"/>')
    for number, one in enumerate(series):
        points = [(canvas.x(_place(x, log_x)), canvas.y(y)) for x, y in one.points]
        canvas.line(points, number)
    canvas.names([(one.name, canvas.y(one.points[-1][1])) for one in series])
    return canvas.svg(standalone)


def bars(groups: Sequence[str], series: Sequence[Bars], words: Words, *, standalone: bool = True) -> str:
    """Grouped bars from 0 to 1, their values as text on top, their names beside."""
    canvas = _Canvas(words, (0.0, 1.0), True, [f"0. {one.name}" for one in series])
    canvas.y_axis()
    slot = PLOT_WIDTH / max(1, len(groups))
    width = slot * 0.8 / max(1, len(series))
    for place, group in enumerate(groups):
        left = LEFT + place * slot + slot * 0.1
        canvas.text(left + slot * 0.4, HEIGHT - FOOT + 17, group, "middle")
        for number, one in enumerate(series):
            value = one.values[place]
            if value is not None:
                x, y = left + number * width, canvas.y(value)
                canvas.add(
                    f'<rect class="plot-bar plot-{number % SERIES}" x="{x:.1f}" y="{y:.1f}" '
                    f'width="{max(1.0, width - 2):.1f}" height="{HEIGHT - FOOT - y:.1f}"/>'
                )
                if width >= 18:
                    canvas.text(x + width / 2 - 1, y - 4, f"{100 * value:.0f}", "middle", "plot-value")
    step = (HEIGHT - TOP - FOOT) / (len(series) + 1)
    for number, one in enumerate(series):
        y = TOP + step * (number + 0.6)
        x = LEFT + PLOT_WIDTH + 14
        canvas.add(
            f'<rect class="plot-bar plot-{number % SERIES}" x="{x}" y="{y - 9:.1f}" width="11" height="11"/>'
        )
        canvas.text(x + 17, y + 1, f"{number + 1}. {one.name}")
    return canvas.svg(standalone)


def reliability(
    curves: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    words: Words,
    *,
    perfect: str = "perfect",
    standalone: bool = True,
) -> str:
    """Observed share against predicted probability; the dotted diagonal is a perfect forecast."""
    canvas = _Canvas(words, (0.0, 1.0), True, [*[name for name, _ in curves], perfect])
    canvas.y_axis()
    canvas.x_ticks([(x, f"{100 * x:.0f}%") for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)])
    corners = [canvas.x(0.0), canvas.y(0.0), canvas.x(1.0), canvas.y(1.0)]
    canvas.add('<line class="plot-ideal" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'.format(*corners))
    shown = [(name, sorted(points)) for name, points in curves if points]
    for number, (_, points) in enumerate(shown):
        canvas.line([(canvas.x(x), canvas.y(y)) for x, y in points], number)
    ends = [(name, canvas.y(points[-1][1])) for name, points in shown]
    canvas.names([*ends, (perfect, canvas.y(1.0))], marked=len(ends))
    return canvas.svg(standalone)


def key(number: int) -> str:
    """A small picture of how series `number` is drawn, for a legend in a page: its dash and its marker."""
    kind = number % SERIES
    dash = f' stroke-dasharray="{_DASHES[kind]}"' if _DASHES[kind] else ""
    line = f'<polyline class="plot-line plot-{kind}"{dash} points="0,7 30,7"/>'
    return f'<svg class="plot-key" viewBox="0 0 30 14" aria-hidden="true">{line}{_marker(15, 7, kind)}</svg>'


class _Canvas:
    """The frame of a chart: scales, axes, and the elements drawn so far."""

    def __init__(
        self, words: Words, y_range: tuple[float, float], percent: bool, names: Sequence[str]
    ) -> None:
        self.words, self.y_range, self.percent = words, y_range, percent
        self.x_range = (0.0, 1.0)
        self.width = LEFT + PLOT_WIDTH + 34 + LETTER * max(map(len, names), default=0)
        self.parts: list[str] = []

    def x(self, value: float) -> float:
        low, high = self.x_range
        share = (value - low) / (high - low) if high > low else 0.5
        return LEFT + share * PLOT_WIDTH

    def y(self, value: float) -> float:
        low, high = self.y_range
        share = (min(max(value, low), high) - low) / (high - low)
        return HEIGHT - FOOT - share * (HEIGHT - TOP - FOOT)

    def add(self, element: str) -> None:
        self.parts.append(element)

    def text(self, x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> None:
        kinds = f' class="{kind}"' if kind else ""
        self.add(f'<text{kinds} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>')

    def y_axis(self) -> None:
        """Grid lines with their values, and the names of both axes."""
        right = LEFT + PLOT_WIDTH
        for value in _ticks(*self.y_range):
            y = self.y(value)
            self.add(f'<line class="plot-grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            self.text(LEFT - 7, y + 4, f"{100 * value:.4g}%" if self.percent else _short(value), "end")
        base = HEIGHT - FOOT
        self.add(f'<line class="plot-axis" x1="{LEFT}" x2="{right}" y1="{base}" y2="{base}"/>')
        self.text((LEFT + right) / 2, HEIGHT - 8, self.words.x, "middle")
        self.text(6, TOP - 16, self.words.y)

    def x_ticks(self, ticks: Sequence[tuple[float, str]]) -> None:
        """Values under the axis, those that would run into each other left out (the last one stays)."""
        shown: list[tuple[float, str]] = []
        for value, words in sorted(ticks, reverse=True):
            room = 4 + 4 * (len(words) + (len(shown[-1][1]) if shown else 0))
            if not shown or self.x(shown[-1][0]) - self.x(value) >= room:
                shown.append((value, words))
        for value, words in shown:
            self.text(self.x(value), HEIGHT - FOOT + 17, words, "middle")

    def line(self, points: Sequence[tuple[float, float]], number: int) -> None:
        """A line and its markers; the marker's shape and the dash go with the series' number."""
        kind = number % SERIES
        dash = f' stroke-dasharray="{_DASHES[kind]}"' if _DASHES[kind] else ""
        self.add(f'<polyline class="plot-line plot-{kind}"{dash} points="{_path(points)}"/>')
        for x, y in points:
            self.add(_marker(x, y, kind))

    def names(self, ends: Sequence[tuple[str, float]], marked: int = SERIES) -> None:
        """Names beside the ends of the lines, moved apart where they overlap; markers for the first ones."""
        order = sorted(range(len(ends)), key=lambda i: ends[i][1])
        places = [ends[i][1] for i in order]
        for i in range(1, len(places)):
            places[i] = max(places[i], places[i - 1] + 17)
        over = max(0.0, places[-1] - (HEIGHT - FOOT)) if places else 0.0
        for i in range(len(places) - 1, -1, -1):
            limit = places[i + 1] - 17 if i + 1 < len(places) else places[i] - over
            places[i] = min(places[i], limit)
        for i, y in zip(order, places, strict=True):
            if i < marked:
                self.add(_marker(LEFT + PLOT_WIDTH + 15, y, i % SERIES))
            self.text(LEFT + PLOT_WIDTH + 25, y + 4, ends[i][0])

    def svg(self, standalone: bool) -> str:
        """The whole chart."""
        label = quoteattr(". ".join(filter(None, (self.words.title, self.words.about))))
        box = f'class="plot" viewBox="0 0 {self.width:.0f} {HEIGHT:g}" role="img"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}'
        style = f"<style>{_style()}</style>" if standalone else ""
        ground = '<rect class="plot-ground" width="100%" height="100%"/>' if standalone else ""
        return "\n".join([f"{head} aria-label={label}>{style}{ground}", *self.parts, "</svg>\n"])


def _style() -> str:
    """Colours of a chart that stands alone, for light and dark."""

    def theme(ground: str, text: str, grid: str, colours: Sequence[str]) -> str:
        series = "".join(f".plot-{i}{{--c:{c}}}" for i, c in enumerate(colours))
        return (
            f".plot-ground{{fill:{ground}}}text{{fill:{text}}}.plot-grid{{stroke:{grid}}}"
            f".plot-axis,.plot-ideal{{stroke:{text}}}{series}"
        )

    shape = (
        "text{font:13px system-ui,sans-serif}.plot-value{font-size:11px}.plot-line{fill:none;stroke:var(--c);"
        "stroke-width:2}.plot-mark,.plot-bar{fill:var(--c)}.plot-band{fill:var(--c);opacity:.13}"
        ".plot-ideal{stroke-dasharray:1 4}"
    )
    dark = theme("#1d2225", "#e9ecea", "#343b40", _DARK)
    light = theme("#ffffff", "#1b201e", "#dfe2df", _LIGHT)
    return f"{shape}{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _marker(x: float, y: float, kind: int) -> str:
    shapes = {
        1: [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        2: [(0, -5), (5, 4), (-5, 4)],
        3: [(0, -5), (5, 0), (0, 5), (-5, 0)],
        4: [(0, 5), (5, -4), (-5, -4)],
        5: [(-5, -2), (5, -2), (5, 2), (-5, 2)],
    }
    if kind not in shapes:
        return f'<circle class="plot-mark plot-{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>'
    corners = _path([(x + dx, y + dy) for dx, dy in shapes[kind]])
    return f'<polygon class="plot-mark plot-{kind}" points="{corners}"/>'


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _place(x: float, log_x: bool) -> float:
    return math.log(x) if log_x else x


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def _axis_range(values: Sequence[float], wanted: tuple[float, float] | None) -> tuple[float, float]:
    """Whole ticks around all values; never a range of no width."""
    if wanted is not None:
        return wanted
    low, high = min(values, default=0.0), max(values, default=1.0)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    step = _step(high - low)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def _step(width: float) -> float:
    """A round step that gives about five ticks."""
    raw = width / 5
    size = 10.0 ** math.floor(math.log10(raw))
    return size * next(f for f in (1, 2, 2.5, 5, 10) if f * size >= raw * (1 - 1e-9))


def _ticks(low: float, high: float) -> list[float]:
    if high <= low:
        return [low]
    step = _step(high - low)
    return [
        round(k * step, 10) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]
