"""Measures against hand-made cases and against slow definitions."""

from __future__ import annotations

import itertools
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.errors import DataError
from models_prm.evaluation import metrics
from models_prm.evaluation.best_of_n import load_pool
from models_prm.evaluation.pool_report import best_of_n_report

cases = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=40)


@settings(deadline=None)
@given(cases)
def test_auroc_is_the_share_of_ordered_pairs(pairs: list[tuple[int, bool]]) -> None:
    scores, truth = [float(s) for s, _ in pairs], [t for _, t in pairs]
    good = [s for s, t in zip(scores, truth, strict=True) if t]
    bad = [s for s, t in zip(scores, truth, strict=True) if not t]
    found = metrics.auroc(scores, truth)
    if not good or not bad:
        assert found is None
    else:
        share = np.mean([(g > b) + 0.5 * (g == b) for g in good for b in bad])
        assert found == pytest.approx(share)


@settings(deadline=None)
@given(cases)
def test_ranking_measures_agree_with_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    sk: Any = import_module("sklearn.metrics")

    scores, truth = [float(s) for s, _ in pairs], [t for _, t in pairs]
    found = metrics.average_precision(scores, truth)
    if not any(truth):
        assert found is None
    else:
        assert found == pytest.approx(sk.average_precision_score(truth, scores))


def test_a_constant_score_has_the_prior_as_average_precision() -> None:
    assert metrics.average_precision([0.3] * 10, [True] * 3 + [False] * 7) == pytest.approx(0.3)
    assert metrics.auroc([0.3] * 10, [True] * 3 + [False] * 7) == 0.5


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        metrics.auroc([float("nan"), 1.0], [True, False])
    with pytest.raises(ValueError, match="equally long"):
        metrics.brier([0.1], [True, False])


def test_brier_and_calibration_of_a_perfect_and_a_biased_forecast() -> None:
    truth = [True] * 30 + [False] * 70
    assert metrics.brier([1.0] * 30 + [0.0] * 70, truth) == 0.0
    assert metrics.brier([0.3] * 100, truth) == pytest.approx(0.21)
    assert metrics.calibration_error([0.3] * 100, truth) == pytest.approx(0.0)
    assert metrics.calibration_error([0.5] * 100, truth) == pytest.approx(0.2)
    assert metrics.calibration_error([], []) is None


def test_bins_have_equal_mass_and_do_not_split_ties() -> None:
    table = metrics.reliability(np.linspace(0, 1, 100), np.linspace(0, 1, 100) > 0.5, bins=10)
    assert [row["count"] for row in table] == [10] * 10
    tied = metrics.reliability([0.1] * 50 + [0.9] * 50, [False] * 50 + [True] * 50, bins=15)
    assert [row["predicted"] for row in tied] == pytest.approx([0.1, 0.9])
    assert [(row["observed"], row["count"]) for row in tied] == [(0.0, 50), (1.0, 50)]


def test_processbench_f1_is_the_harmonic_mean_of_two_accuracies() -> None:
    report = metrics.processbench_f1([1, None, 0, None], [1, None, 2, 0])
    assert report == {"error_accuracy": 0.5, "correct_accuracy": 0.5, "f1": 0.5}


def test_processbench_f1_of_never_an_error_is_zero_and_not_nan() -> None:
    report = metrics.processbench_f1([1, None, 0, None], [None] * 4)
    assert report == {"error_accuracy": 0.0, "correct_accuracy": 1.0, "f1": 0.0}
    assert metrics.processbench_f1([1], [None]) == {
        "error_accuracy": 0.0,
        "correct_accuracy": None,
        "f1": None,
    }
    assert metrics.processbench_f1([1, None], [0, 0])["f1"] == 0.0


def test_first_error_measures_count_exact_positions() -> None:
    report = metrics.first_error_report([2, 2, None, None, 1], [2, 1, None, 0, None])
    assert report == {
        "solutions": 5,
        "with_error": 3,
        "accuracy": 2 / 5,
        "precision": 1 / 3,
        "recall": 1 / 3,
        "f1": pytest.approx(1 / 3),
    }
    assert metrics.first_error_report([None], [None])["f1"] is None


samples = st.lists(st.tuples(st.none() | st.integers(0, 3), st.booleans()), min_size=1, max_size=6)


@settings(deadline=None)
@given(samples, st.integers(0, 2), st.data())
def test_best_of_n_equals_the_mean_over_all_subsets(
    pairs: list[tuple[int | None, bool]], lost: int, data: st.DataObject
) -> None:
    slots = len(pairs) + lost
    n = data.draw(st.integers(1, slots))
    scores = [None if s is None else float(s) for s, _ in pairs]
    total = []
    for subset in itertools.combinations(range(slots), n):
        known = [(scores[i], pairs[i][1]) for i in subset if i < len(pairs) and scores[i] is not None]
        top = max((s for s, _ in known if s is not None), default=None)
        winners = [right for s, right in known if s == top]
        total.append(float(np.mean(winners)) if winners else 0.0)
    found = metrics.best_of_n(scores, [right for _, right in pairs], n, slots)
    assert found == pytest.approx(float(np.mean(total)))


def test_best_of_n_of_the_papers_size_stays_finite() -> None:
    scores = [float(i % 50) for i in range(1800)]
    right = [i % 3 == 0 for i in range(1800)]
    values = [metrics.best_of_n(scores, right, n, 1860) for n in (1, 10, 1000, 1860)]
    assert values[0] == pytest.approx(600 / 1860)
    assert values[-1] == pytest.approx(np.mean([r for s, r in zip(scores, right, strict=True) if s == 49]))


def test_best_of_n_refuses_impossible_counts() -> None:
    for n, slots in ((0, None), (3, None), (1, 1)):
        with pytest.raises(ValueError, match="1 <= n <= slots"):
            metrics.best_of_n([1.0, 2.0], [True, False], n, slots)


def pool_lines(folder: Path) -> Path:
    lines = [
        {
            "problem": "p",
            "is_correct": i == 0,
            "answer": str(i),
            "prm_score": 1.0 - i / 10,
            "orm_score": i / 10,
        }
        for i in range(4)
    ]
    path = folder / "pool.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_scored_pool_gives_a_curve_for_every_score(tmp_path: Path) -> None:
    report = best_of_n_report(load_pool(pool_lines(tmp_path)))
    assert report["n"] == [1, 2, 4]
    assert [p["accuracy"] for p in report["best_of_n"]["prm_score"]] == pytest.approx([0.25, 0.5, 1.0])
    assert [p["accuracy"] for p in report["best_of_n"]["orm_score"]] == pytest.approx([0.25, 0.0, 0.0])
    assert [p["accuracy"] for p in report["pass_at_n"]] == pytest.approx([0.25, 0.5, 1.0])
    assert [p["accuracy"] for p in report["majority"]] == pytest.approx([0.25, 0.25, 0.25])


def test_missing_slots_count_as_wrong(tmp_path: Path) -> None:
    report = best_of_n_report(load_pool(pool_lines(tmp_path)), [1, 8], slots=8)
    assert [p["accuracy"] for p in report["best_of_n"]["prm_score"]] == pytest.approx([0.125, 1.0])


def test_a_pool_line_without_a_problem_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"is_correct": true}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 1.*problem must be a text"):
        load_pool(path)
