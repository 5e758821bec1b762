"""Charts: well-formed, named in text, escaped, readable in both themes, and drawn where the numbers are."""

# ruff: noqa: S314 - what is parsed here is our own
from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from models_prm.evaluation.plots import Bars, Line, Words, bars, key, lines, reliability

SVG = "{http://www.w3.org/2000/svg}"
WORDS = Words("Best <of> N", "N & more", "solved", "about")
SERIES = [
    Line("PRM <b>", [(1, 0.5), (4, 0.6), (16, 0.7)], [(0.45, 0.55), (0.5, 0.7), (0.6, 0.8)]),
    Line("vote & co", [(1, 0.5), (4, 0.55), (16, 0.69)]),
]


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    "svg",
    [
        lines(SERIES, WORDS, log_x=True),
        bars(["1", "2"], [Bars("PRM <b>", [0.5, None]), Bars("vote & co", [0.1, 1.0])], WORDS),
        reliability([("PRM <b>", [(0.1, 0.2), (0.9, 0.8)]), ("vote & co", [])], WORDS),
    ],
)
def test_every_chart_is_well_formed_and_says_its_names_as_text(svg: str) -> None:
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Best <of> N. about"
    assert any("PRM <b>" in text for text in texts(svg))
    assert "N & more" in texts(svg)
    assert "<b>" not in svg.replace("&lt;b&gt;", "")


def test_points_stand_where_their_numbers_are() -> None:
    root = ET.fromstring(lines(SERIES, WORDS, log_x=True))
    line = next(node for node in root.iter(f"{SVG}polyline"))
    points = [tuple(map(float, pair.split(","))) for pair in (line.get("points") or "").split()]
    gaps = [b[0] - a[0] for a, b in zip(points, points[1:], strict=False)]
    assert gaps[0] == pytest.approx(gaps[1]), "4 times as many samples is one step of a logarithmic axis"
    drops = [a[1] - b[1] for a, b in zip(points, points[1:], strict=False)]
    assert drops[0] == pytest.approx(drops[1], abs=0.2)
    assert drops[0] > 0, "more is higher"


def test_series_differ_by_dash_and_marker_not_only_by_colour() -> None:
    root = ET.fromstring(lines(SERIES, WORDS))
    dashes = [node.get("stroke-dasharray") for node in root.iter(f"{SVG}polyline")]
    assert len(set(dashes)) == 2
    marks = {node.tag for node in root.iter() if "plot-mark" in (node.get("class") or "")}
    assert len(marks) == 2


def test_a_file_brings_its_colours_for_light_and_dark_and_a_page_brings_its_own() -> None:
    alone, inside = lines(SERIES, WORDS), lines(SERIES, WORDS, standalone=False)
    assert "prefers-color-scheme:dark" in alone
    assert "<style" not in inside
    assert 'style="' not in inside + alone, "a strict content security policy forbids inline styles"


def test_names_at_the_ends_of_lines_never_overlap() -> None:
    many = [Line(f"line {i}", [(1, 0.7), (2, 0.7 + i / 10000)]) for i in range(6)]
    root = ET.fromstring(lines(many, WORDS))
    places = sorted(
        float(node.get("y") or 0) for node in root.iter(f"{SVG}text") if (node.text or "").startswith("line ")
    )
    assert all(b - a >= 16.9 for a, b in zip(places, places[1:], strict=False))
    assert places[-1] < 380


def test_names_have_the_room_they_need() -> None:
    long = "a vote weighted by the product of all steps"
    root = ET.fromstring(lines([Line(long, [(1, 0.5), (2, 0.6)])], WORDS))
    width = float((root.get("viewBox") or "").split()[2])
    (place,) = [float(n.get("x") or 0) for n in root.iter(f"{SVG}text") if n.text == long]
    assert width - place > 7 * len(long)


def test_a_legend_shows_dash_and_marker() -> None:
    keys = [key(number) for number in range(6)]
    assert len(set(keys)) == 6
    for svg in keys:
        ET.fromstring(svg)


def test_ticks_are_round_and_do_not_run_into_each_other() -> None:
    counts = [10, 25, 50, 75, 100, 200, 300, 400, 500, 750, 1000, 1250, 1500, 1860]
    svg = lines([Line("PRM", [(n, 0.6 + n / 20000) for n in counts])], WORDS, log_x=True)
    shown = [t for t in texts(svg) if t.replace(",", "").isdigit()]
    assert {"1,860", "10", "100"} <= set(shown)
    assert len(shown) < len(counts)
    percents = [float(t[:-1]) for t in texts(svg) if re.fullmatch(r"[\d.]+%", t)]
    assert percents[0] <= 60
    assert percents[-1] >= 69.3
    assert len({b - a for a, b in zip(percents, percents[1:], strict=False)}) == 1


@pytest.mark.parametrize("points", [[], [(1, 0.5)], [(1, 0.5), (2, 0.5)], [(3, 0.0), (4, 1.0)]])
def test_no_point_one_point_and_flat_lines_are_drawn(points: list[tuple[float, float]]) -> None:
    ET.fromstring(lines([Line("x", points)], WORDS, log_x=True))
    ET.fromstring(reliability([("x", [(y, y) for _, y in points])], WORDS))
    ET.fromstring(bars([], [], WORDS))
