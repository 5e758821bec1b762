"""The step splitter loses nothing, and never cuts what must stay whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models_prm.steps import (
    SPLITTERS,
    UnknownSplitterError,
    join_segments,
    join_steps,
    protected_spans,
    segment,
    split_steps,
)

PIECES = (
    [
        "a",
        "Step 1: x",
        "Step 2. y",
        "1. one",
        "2) two",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\n\n",
        "é",
        "\u2028",
        "\x0b",
    ]
    + ["$$", "$", "\\[", "\\]", "\\\\[2pt]", "\\$", "\\", "[asy]", "[/asy]", "```", "\n```\n", "\n~~~\n"]
    + ["\\begin{align*}", "\\end{align*}", "\\begin{pmatrix}", "\\end{pmatrix}"]
)
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
splitters = st.sampled_from(sorted(SPLITTERS))


@given(text=texts, splitter=splitters)
def test_joining_the_segments_gives_the_text_back(text: str, splitter: str) -> None:
    assert join_segments(segment(text, splitter)) == text


@given(text=texts, splitter=splitters)
def test_a_step_is_never_empty_and_keeps_every_visible_character(text: str, splitter: str) -> None:
    steps = split_steps(text, splitter)
    assert all(step and step == step.strip() for step in steps)
    assert "".join("".join(steps).split()) == "".join(text.split())


@given(text=texts, splitter=splitters)
def test_no_separator_touches_a_protected_range(text: str, splitter: str) -> None:
    position = 0
    for piece in segment(text, splitter):
        position += len(piece.text)
        end = position + len(piece.separator)
        if piece.separator:
            assert not any(start < end and position < stop for start, stop in protected_spans(text))
        position = end


@given(steps=st.lists(st.text("ab= 0x", min_size=1).map(str.strip).filter(bool), max_size=8))
@pytest.mark.parametrize("splitter", ["newline", "blank_line"])
def test_splitting_joined_plain_steps_gives_them_back(splitter: str, steps: list[str]) -> None:
    assert split_steps(join_steps(steps, splitter), splitter) == steps


@given(steps=st.lists(st.text("ab= x\n", min_size=1).map(str.strip).filter(bool), max_size=8))
def test_splitting_joined_numbered_steps_gives_them_back(steps: list[str]) -> None:
    numbered = [f"Step {place}: {step}" for place, step in enumerate(steps, 1)]
    assert split_steps(join_steps(numbered, "numbered"), "numbered") == numbered


@pytest.mark.parametrize(
    ("text", "splitter", "steps"),
    [
        ("one\ntwo\n", "newline", ["one", "two"]),
        ("one\n\n \n two", "newline", ["one", "two"]),
        ("one\ntwo\n\nthree\n", "blank_line", ["one\ntwo", "three"]),
        ("one\r\n\r\ntwo", "blank_line", ["one", "two"]),
        ("\n\none", "blank_line", ["one"]),
        ("Step 1: add\n4 + 4 = 8\nStep 2: stop", "numbered", ["Step 1: add\n4 + 4 = 8", "Step 2: stop"]),
        ("First:\n1. add\n2. stop", "numbered", ["First:", "1. add", "2. stop"]),
        ("We get\n7. That is 7.\n1. is no 7", "numbered", ["We get\n7. That is 7.", "1. is no 7"]),
        ("a\nb", "given", ["a\nb"]),
        ("", "newline", []),
        (" \n ", "blank_line", []),
    ],
)
def test_text_falls_into_these_steps(text: str, splitter: str, steps: list[str]) -> None:
    assert split_steps(text, splitter) == steps


@pytest.mark.parametrize(
    "whole",
    [
        "$$\n\nx = 1\n\n$$",
        "\\[\nx\n\n= 1\n\\]",
        "\\begin{align*}\nx &= 1 \\\\\n\ny &= 2\n\\end{align*}",
        "\\begin{cases}\n\\begin{cases}\n1\n\\end{cases}\n\n2\n\\end{cases}",
        "[asy]\ndraw((0,0)--(1,1));\n\ndot((1,1));\n[/asy]",
        "```python\nx = 1\n\ny = 2\n```",
        "~~~\nx = 1\n\n```\ny = 2\n~~~",
        "\\begin{verbatim}\na\n\nb\n\\end{verbatim}",
    ],
)
@pytest.mark.parametrize("splitter", ["newline", "blank_line"])
def test_a_protected_block_stays_in_one_step(whole: str, splitter: str) -> None:
    assert split_steps(f"Before\n\n{whole}\n\nAfter", splitter) == ["Before", whole, "After"]


@pytest.mark.parametrize(
    "stray", ["$$ is lost", "\\[ stays open", "\\begin{align} alone", "[asy] alone", "```"]
)
def test_an_opener_that_never_closes_protects_nothing(stray: str) -> None:
    assert split_steps(f"{stray}\nsecond\nthird") == [stray, "second", "third"]


def test_a_line_break_with_spacing_does_not_open_display_math() -> None:
    assert split_steps("a \\\\[2pt]\nb\n\\]") == ["a \\\\[2pt]", "b", "\\]"]


def test_an_escaped_dollar_does_not_open_display_math() -> None:
    assert split_steps("It costs \\$$5$.\nIt costs \\$$6$.") == ["It costs \\$$5$.", "It costs \\$$6$."]


def test_marks_inside_a_code_fence_do_not_count() -> None:
    assert split_steps("```\n$$\n```\nb\n$$ c") == ["```\n$$\n```", "b", "$$ c"]


@pytest.mark.parametrize("unit", ["\\[", "\\begin{a}", "[asy]", "$$", " ", "\\", "```\n", "\n", "1. a\n"])
@pytest.mark.parametrize("splitter", sorted(SPLITTERS))
def test_a_hostile_long_text_is_split_in_linear_time(unit: str, splitter: str) -> None:
    started = time.process_time()
    segment(unit * 100_000 + "x", splitter)
    assert time.process_time() - started < 5


def test_an_unknown_splitter_is_refused_with_the_choices() -> None:
    with pytest.raises(UnknownSplitterError, match=r"'lines'.*newline, blank_line"):
        split_steps("a", "lines")
