"""From step probabilities to scores."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.aggregate import (
    REDUCTIONS,
    first_error,
    is_finished,
    log_score,
    minima_on_last_step,
    score_of,
    solution_score,
    step_score,
)
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
        ("logit_sum", math.log(9) + 0.0 + math.log(4)),
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


@pytest.mark.parametrize("method", list(REDUCTIONS))
def test_the_logarithm_orders_solutions_as_the_score_does(method: str) -> None:
    first, second = [0.9, 0.5, 0.8], [0.7, 0.6, 0.2]
    scores = [solution_score(s, method) for s in (first, second)]
    logs = [log_score(s, method) for s in (first, second)]
    assert (scores[0] > scores[1]) == (logs[0] > logs[1])  # type: ignore[operator]
    if method not in {"log_product", "logit_sum"}:
        assert [math.exp(value) for value in logs if value is not None] == pytest.approx(scores)
    assert log_score([], method) is None


def test_impossible_and_certain_steps_have_infinite_logarithms() -> None:
    for method in ("product", "minimum", "geometric_mean", "logit_sum"):
        assert log_score([0.9, 0.0], method) == -math.inf
    assert log_score([0.01] * 400, "product") == pytest.approx(400 * math.log(0.01))
    assert solution_score([1.0, 0.5], "logit_sum") == math.inf
    assert solution_score([1.0, 0.0], "logit_sum") == -math.inf, "an impossible step decides"


def test_minima_on_the_last_step_are_counted_with_ties_shared() -> None:
    report = minima_on_last_step([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5], [0.3], []])
    assert report == {"solutions": 3, "share": pytest.approx(0.5), "by_chance": pytest.approx(0.5)}
    assert minima_on_last_step([]) == {"solutions": 0, "share": None, "by_chance": None}


@pytest.mark.parametrize(
    ("finish", "answer", "known", "finished"),
    [
        ("stop", "4", True, True),
        (None, "4", True, True),
        ("length", "4", True, False),
        ("stop", None, True, False),
        ("stop", " ", True, False),
        ("stop", None, False, True),
        ("length", None, False, False),
    ],
)
def test_cut_off_texts_and_texts_without_an_answer_may_not_win(
    finish: str | None, answer: str | None, known: bool, finished: bool
) -> None:
    assert is_finished(finish, answer, answers_known=known) is finished


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
