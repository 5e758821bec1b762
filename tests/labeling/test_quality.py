"""The rules of quality control, as tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling import quality

ACCEPTED = [[1], [1, 0], [-1]]  # the third step is the first error


@pytest.mark.parametrize(
    ("ratings", "agrees", "off_by", "missed"),
    [
        ([1, 1, -1], True, 0, False),
        ([1, 0, -1], True, 0, False),
        ([1, 0, -1, None, None], True, 0, False),
        ([0, 1, -1], False, 0, False),  # the first step accepts +1 only
        ([1, -1], False, -1, False),
        ([-1], False, -2, False),
        ([1, 1, 1, -1], False, 1, True),
        ([1, 1, 1, 1], False, None, True),
        ([1, 1, 0, 1], False, None, True),
    ],
)
def test_agreement_where_an_error_was_planted(
    ratings: list[int | None], agrees: bool, off_by: int | None, missed: bool
) -> None:
    result = quality.agreement(ratings, accepted=ACCEPTED, expected_error=2)
    assert result == quality.Agreement(agrees, off_by, missed)


@pytest.mark.parametrize(
    ("ratings", "agrees"), [([1, 1], True), ([1, 0], True), ([0, 1], False), ([1, -1], False)]
)
def test_agreement_where_there_is_no_error(ratings: list[int], agrees: bool) -> None:
    result = quality.agreement(ratings, accepted=[[1], [1, 0]], expected_error=None)
    assert result == quality.Agreement(agrees, None, False)


def test_steps_without_accepted_ratings_accept_any() -> None:
    """Full mode rates steps after the first error too; the gold says nothing about them."""
    assert quality.agreement([1, -1, 1, -1], accepted=[[], [-1]], expected_error=1).agrees


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(0, 0, 0.0, 1.0), (10, 10, 0.7225, 1.0), (0, 10, 0.0, 0.2775), (7, 10, 0.3968, 0.8922)],
)
def test_wilson_gives_the_published_interval(right: int, total: int, low: float, high: float) -> None:
    assert quality.wilson(right, total) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(0, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_inside_one(counts: tuple[int, int]) -> None:
    right, total = counts
    low, high = quality.wilson(right, total)
    assert 0 <= low <= high <= 1
    if total:
        assert low - 1e-9 <= right / total <= high + 1e-9


@pytest.mark.parametrize(
    ("right", "total", "mark", "ok"),
    [(23, 30, 0.75, True), (22, 30, 0.75, False), (7, 10, 0.7, True), (3, 4, 0.75, True), (0, 0, 0.75, True)],
)
def test_screening_passes_at_the_mark(right: int, total: int, mark: float, ok: bool) -> None:
    verdict = quality.screening_verdict(right, total, mark=mark)
    assert verdict.ok is ok
    assert bool(verdict.reason) is not ok


R, W = True, False


@pytest.mark.parametrize(
    ("checks", "ok"),
    [
        ([], True),
        ([W, W, W, W], True),  # too few to say
        ([W, W, W, W, W], False),  # the upper end of 0 of 5 is 0.43
        ([R, W, W, W, W], True),  # the upper end of 1 of 5 is 0.62, above a mark of 0.6
        ([R] * 5 + [W] * 5, False),  # a full window at 50%
        ([R] * 6 + [W] * 4, True),  # exactly at the mark
        ([W] * 10 + [R] * 10, True),  # old misses left the window
        ([R] * 10 + [W] * 5 + [R] * 5, False),
    ],
)
def test_the_window_pauses_when_it_is_low_or_surely_low(checks: list[bool], ok: bool) -> None:
    assert quality.window_verdict(checks, window=10, mark=0.6).ok is ok


def test_the_reason_says_how_many_of_the_last_gold_questions_agreed() -> None:
    verdict = quality.window_verdict([R, R, R, *[W] * 7], window=10, mark=0.7)
    assert verdict.reason == "3 of the last 10 gold questions agreed (30%), under the mark of 70%."


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 12), st.floats(0, 1))
def test_a_verdict_looks_at_the_last_window_only(checks: list[bool], window: int, mark: float) -> None:
    whole = quality.window_verdict(checks, window=window, mark=mark)
    assert whole == quality.window_verdict(checks[-window:], window=window, mark=mark)
    if all(checks):
        assert whole.ok
