"""Best of N in closed form: against all subsets, against drawing, for many problems at once."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.evaluation import exact

# Some of these leave the quick way of sorting no room (both signs, infinity), others do not.
SCORES = st.sampled_from(
    [[None, 0.0, -0.0, 1.0, 0.25], [None, -math.inf, -3.0, -0.5], [None, -2.0, 0.0, 7.5]]
)
samples = SCORES.flatmap(
    lambda scores: st.lists(st.tuples(st.sampled_from(scores), st.booleans()), min_size=1, max_size=6)
)
Sample = tuple[float | None, bool]


def over_all_subsets(pairs: Sequence[Sample], slots: int, n: int) -> float:
    """The definition: draw every subset, take the best known score, share ties."""
    values = []
    for subset in itertools.combinations(range(slots), n):
        known = [(s, right) for i in subset if i < len(pairs) for s, right in [pairs[i]] if s is not None]
        top = max((s for s, _ in known), default=None)
        winners = [right for s, right in known if s == top]
        values.append(float(np.mean(winners)) if winners else 0.0)
    return float(np.mean(values))


def table(rows: Sequence[Sequence[Sample]]) -> tuple[np.ndarray, np.ndarray]:
    width = max(map(len, rows))
    scores, correct = np.full((len(rows), width), np.nan), np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        scores[i, : len(row)] = [np.nan if s is None else s for s, _ in row]
        correct[i, : len(row)] = [right for _, right in row]
    return scores, correct


@settings(deadline=None)
@given(st.lists(st.tuples(samples, st.integers(0, 2)), min_size=1, max_size=4))
def test_every_problem_and_every_n_equals_the_mean_over_all_subsets(
    rows: list[tuple[list[Sample], int]],
) -> None:
    """Problems of different size, ties, lost samples, -inf and missing slots, in one call."""
    slots = [len(pairs) + lost for pairs, lost in rows]
    counts = list(range(1, min(slots) + 1))
    found = exact.best_of_n_curve(*table([pairs for pairs, _ in rows]), counts, slots)
    expected = [
        [over_all_subsets(pairs, m, n) for n in counts] for (pairs, _), m in zip(rows, slots, strict=True)
    ]
    assert found == pytest.approx(np.array(expected))


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=True, width=64), min_size=1, max_size=30), st.randoms())
def test_the_quick_way_of_sorting_keeps_every_order_and_tie(values: list[float], rng: random.Random) -> None:
    """Neighbouring floats too: they differ in the last bit only."""
    values += [np.nextafter(v, 1.0) for v in values[:5]] + values[:3]
    scores = np.array([values])
    correct = np.array([[float(rng.random() < 0.5) for _ in values]])
    found = exact._shares_by_rank(scores, correct)
    halved = exact._shares_by_rank(scores, correct / 2)  # no yes or no: the slow way
    assert found == pytest.approx(2 * halved)


def test_rank_weights_are_the_chances_of_the_formula() -> None:
    weights = exact.rank_weights(12, [1, 3, 12])
    for row, n in zip(weights, (1, 3, 12), strict=True):
        assert row == pytest.approx([math.comb(12 - r - 1, n - 1) / math.comb(12, n) for r in range(12)])
        assert row.sum() == pytest.approx(1.0)


def test_the_papers_size_stays_finite_and_sums_to_one() -> None:
    weights = exact.rank_weights(1860, [10, 1000, 1860])
    assert np.isfinite(weights).all()
    assert weights.sum(1) == pytest.approx(np.ones(3))


def test_pass_at_n_is_one_minus_the_chance_of_no_right_one() -> None:
    correct = np.array([[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0] * 6, [1] * 6, [1, 1, 0, 0, 0, 0]])
    slots = [6, 6, 6, 6, 4]
    found = exact.pass_at_n_curve(correct, [1, 2, 4], slots)
    rows = zip(correct.sum(1), slots, strict=True)
    chance = [[1 - math.comb(m - int(k), n) / math.comb(m, n) for n in (1, 2, 4)] for k, m in rows]
    assert found == pytest.approx(np.array(chance))
    with pytest.raises(ValueError, match="right samples <= slots"):
        exact.pass_at_n_curve([[1, 1]], [1], 1)


@pytest.mark.parametrize(
    ("counts", "slots"), [([0], None), ([4], None), ([], None), ([3], [3, 2]), ([1], [1, 3])]
)
def test_impossible_counts_and_slots_are_refused(counts: list[int], slots: list[int] | None) -> None:
    scores = np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 2.0]])
    with pytest.raises(ValueError, match=r"1 <= n <= slots|slots >= samples"):
        exact.best_of_n_curve(scores, np.zeros_like(scores), counts, slots)


def test_tables_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        exact.best_of_n_curve([[1.0, 2.0]], [[1.0]], [1])


def test_the_spread_is_that_of_drawn_trials() -> None:
    rng = np.random.default_rng(3)
    scores, correct = rng.random((40, 30)), (rng.random((40, 30)) < 0.4).astype(float)
    values = exact.best_of_n_curve(scores, correct, [5])
    trials = []
    for _ in range(3000):
        chosen = np.argsort(rng.random((40, 30)), axis=1)[:, :5]
        best = np.take_along_axis(scores, chosen, 1).argmax(1)
        trials.append(np.take_along_axis(correct, chosen[np.arange(40), best][:, None], 1).mean())
    assert np.mean(trials) == pytest.approx(values.mean(), abs=4 * exact.spread(values)[0] / 3000**0.5)
    assert np.std(trials) == pytest.approx(exact.spread(values)[0], rel=0.06)


def test_drawing_all_samples_has_no_spread_without_ties() -> None:
    values = exact.best_of_n_curve([[0.1, 0.9], [0.3, 0.2]], [[0, 1], [0, 1]], [1, 2])
    assert values.tolist() == [[0.5, 1.0], [0.5, 0.0]]
    assert exact.spread(values).tolist() == pytest.approx([(0.5**0.5) / 2, 0.0])


def test_the_bootstrap_covers_the_mean_and_compares_on_the_same_draws() -> None:
    rng = np.random.default_rng(0)
    hard = rng.random((200, 1))
    a, b = hard + 0.02, hard
    boot = exact.Bootstrap(200, 2000)
    ((low, high),) = boot.interval(a)
    assert low < a.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * a.std() / 200**0.5, rel=0.1)
    (row,) = boot.difference(a, b)
    assert row["difference"] == pytest.approx(0.02)
    assert row["interval"] == pytest.approx([0.02, 0.02]), "what both share is no noise of their difference"
    assert row["p_above"] == 1.0
    assert boot.difference(b, b)[0]["p_above"] == 0.5
