"""Figure 2: every step with its number in text, its colour's band, and what people said."""

# ruff: noqa: S314 - what is parsed here is our own
from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from models_prm.evaluation.figure import solution_figure

SVG = "{http://www.w3.org/2000/svg}"


def test_steps_have_number_band_and_rating_in_text() -> None:
    root = ET.fromstring(solution_figure(["One <b>", "Two", "Three"], [0.97, 0.05], [1, -1]))
    texts = [node.text for node in root.iter(f"{SVG}text")]
    for words in ("0.97", "0.05", "–", "One <b>", "+ good", "− bad"):
        assert words in texts
    bands = [node.get("class") for node in root.iter(f"{SVG}rect")]
    assert bands == ["ground", "band-4", "band-0", "band-none"]


def test_long_steps_are_wrapped_and_all_words_stay() -> None:
    step = "word " * 60 + "\nlast line"
    root = ET.fromstring(solution_figure([step], [0.5]))
    shown = " ".join(node.text or "" for node in root.iter(f"{SVG}text"))
    assert shown.count("word") == 60
    assert "last line" in shown
    height = float((root.get("viewBox") or "").split()[3])
    lowest = max(float(node.get("y") or 0) for node in root.iter(f"{SVG}text"))
    assert lowest < height


def test_both_themes_are_in_the_file() -> None:
    assert "prefers-color-scheme:dark" in solution_figure(["a"], [0.5])


@pytest.mark.parametrize(("scores", "ratings"), [([0.5, 0.5], []), ([1.2], []), ([0.5], [1, 1])])
def test_what_does_not_fit_is_refused(scores: list[float], ratings: list[int]) -> None:
    with pytest.raises(ValueError, match="more scores|between 0 and 1"):
        solution_figure(["a"], scores, ratings)
