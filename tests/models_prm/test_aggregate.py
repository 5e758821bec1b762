"""From step probabilities to scores."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.aggregate import REDUCTIONS, first_error, score_of, solution_score, step_score, step_scores
from models_prm.records import StepScores

STEPS = [0.9, 0.5, 0.8]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("product", 0.36),
        ("minimum", 0.5),
        ("last", 0.8),
        ("mean", 2.2 / 3),
        ("geometric_mean", 0.36 ** (1 / 3)),
        ("log_product", math.log(0.36)),
    ],
)
def test_every_reduction_has_its_value(method: str, expected: float) -> None:
    assert solution_score(STEPS, method) == pytest.approx(expected, abs=1e-12)


def test_the_default_is_the_product() -> None:
    assert solution_score(STEPS) == solution_score(STEPS, "product")


@pytest.mark.parametrize("method", list(REDUCTIONS))
def test_no_steps_are_no_score(method: str) -> None:
    assert solution_score([], method) is None


@pytest.mark.parametrize("method", ["product", "minimum", "geometric_mean"])
def test_an_impossible_step_makes_zero_and_no_error(method: str) -> None:
    assert solution_score([0.9, 0.0, 0.9], method) == 0.0


def test_long_products_keep_their_order_in_logarithms() -> None:
    long, longer = [0.01] * 400, [0.01] * 401
    assert solution_score(long) == solution_score(longer) == 0.0
    first, second = solution_score(long, "log_product"), solution_score(longer, "log_product")
    assert first is not None
    assert second is not None
    assert first > second > -math.inf


def test_an_unknown_method_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="choose one of product, minimum"):
        solution_score(STEPS, "median")


def test_neutral_counts_as_good_unless_told() -> None:
    probs = (0.1, 0.7, 0.2)
    assert step_score(probs) == pytest.approx(0.9)
    assert step_score(probs, "bad") == pytest.approx(0.2)


def test_a_result_with_dropped_steps_has_no_score() -> None:
    assert score_of(StepScores("k", ((0.1, 0.2, 0.7),), dropped=1)) is None
    assert score_of(StepScores("k", ((0.1, 0.2, 0.7),))) == pytest.approx(0.9)
    assert score_of(StepScores("k", ())) is None


def test_first_error_is_the_first_step_below_the_threshold() -> None:
    assert first_error([0.9, 0.5, 0.4, 0.1]) == 2
    assert first_error([0.9, 0.5]) is None
    assert first_error([0.9, 0.5], threshold=0.95) == 0
    assert first_error([]) is None


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_reductions_stay_between_product_and_maximum(scores: list[float]) -> None:
    low, high = solution_score(scores, "product"), max(scores)
    assert low is not None
    for method in ("minimum", "mean", "geometric_mean", "last"):
        value = solution_score(scores, method)
        assert value is not None
        assert low - 1e-9 <= value <= high + 1e-9


@pytest.mark.data
def test_the_papers_own_score_is_the_product_of_one_minus_bad(shared_data: Path) -> None:
    record = json.loads((shared_data / "prm800k" / "scored_sample_example.json").read_text(encoding="utf-8"))
    probs = [(p["-1"], p["0"], p["1"]) for p in record["rating_probs"]]
    assert solution_score(step_scores(probs)) == pytest.approx(record["prm_score"], rel=1e-14)
