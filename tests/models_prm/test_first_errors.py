"""First errors: ProcessBench's protocol, thresholds, agreement with people, calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.errors import DataError, LeakError
from models_prm.evaluation import metrics
from models_prm.evaluation.agreement import cohen_kappa, first_error_agreement, step_agreement
from models_prm.evaluation.calibration import calibration_report, fit_temperature, log_loss, with_temperature
from models_prm.evaluation.evaluate import evaluate_processbench
from models_prm.evaluation.processbench import (
    best_threshold,
    predictions,
    processbench_records,
    protocol,
    subset_report,
)
from models_prm.evaluation.rated import load_rated, rated_report, rated_solution, scored_bench
from models_prm.evaluation.report import Report
from models_prm.fakes import FakeScorer


def found_at(place: int | None, steps: int = 3) -> list[float]:
    """Scores whose first one below a half is at `place`."""
    return [0.1 if place is not None and i == place else 0.9 for i in range(steps)]


def test_b15_the_f1_of_processbench_is_the_harmonic_mean_of_two_accuracies() -> None:
    """QwenLM/ProcessBench issues 6 and 3; labels [1, -1, 0, -1], predictions [1, -1, 2, 0]: 50 / 50 / 50."""
    labels, guesses = [1, None, 0, None], [1, None, 2, 0]
    report = subset_report([(t, found_at(p)) for t, p in zip(labels, guesses, strict=True)], 0.5)
    assert report["error_accuracy"] == report["correct_accuracy"] == report["f1"] == 0.5
    never = subset_report([(t, found_at(None)) for t in labels], 0.5)
    assert (never["error_accuracy"], never["correct_accuracy"], never["f1"]) == (0.0, 1.0, 0.0)
    wrong = subset_report([(1, found_at(0)), (None, found_at(0))], 0.5)
    assert wrong["f1"] == 0.0, "two accuracies of 0 divide by nothing"


def test_the_mean_over_subsets_is_not_weighted_by_size() -> None:
    good, bad = [(1, found_at(1)), (None, found_at(None))], [(1, found_at(0)), (None, found_at(None))]
    report = protocol({"small": good, "large": bad * 50})
    assert report["subsets"]["large"]["solutions"] == 100
    assert report["mean_f1"] == pytest.approx(0.5)


def test_a_threshold_is_chosen_on_one_subset_and_kept_for_the_others() -> None:
    """Scores of this model are bad below 0.8, as Skywork's were chosen on gsm8k."""
    fit = [(1, [0.95, 0.7, 0.2]), (None, [0.9, 0.95, 0.85]), (0, [0.75, 0.9]), (None, [0.82, 0.9])]
    other = [(0, [0.78, 0.9]), (None, [0.81, 0.9])]
    assert protocol({"gsm8k": fit, "math": other})["subsets"]["math"]["f1"] == 0.0
    report = protocol({"gsm8k": fit, "math": other}, fit_on="gsm8k")
    assert 0.75 < report["threshold"] < 0.82
    assert (report["mean_f1"], report["mean_f1_elsewhere"], report["fitted_on"]) == (1.0, 1.0, "gsm8k")
    with pytest.raises(DataError, match="choose one of gsm8k, math"):
        protocol({"gsm8k": fit, "math": other}, fit_on="omni")


scored = st.lists(
    st.tuples(
        st.integers(-1, 2), st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), min_size=3, max_size=4)
    ),
    min_size=1,
    max_size=8,
)


@settings(deadline=None)
@given(scored)
def test_no_threshold_between_scores_does_better_than_the_fitted_one(
    rows: list[tuple[int, list[float]]],
) -> None:
    solutions = [(None if label < 0 else label, scores) for label, scores in rows]
    best = best_threshold(solutions)
    labels = [label for label, _ in solutions]

    def f1(threshold: float) -> float:
        return metrics.processbench_f1(labels, predictions(solutions, threshold))["f1"] or 0.0

    assert f1(best) == pytest.approx(max(map(f1, (0.2, 0.4, 0.5, 0.6, 0.8))))


def test_one_kind_of_solution_only_keeps_the_usual_threshold() -> None:
    assert best_threshold([(0, [0.9]), (0, [0.1])]) == 0.5
    assert protocol({"a": [(0, [0.9])]})["mean_f1"] is None


def bench_file(folder: Path, name: str, **extra: Any) -> Path:
    records = [
        {"id": f"{name}-{i}", "problem": "q", "steps": ["right", "wrong", "more"], "label": label, **extra}
        for i, label in enumerate((1, -1, 0))
    ]
    path = folder / f"{name}.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_equal_problems_stay_apart_and_every_file_is_a_subset(tmp_path: Path) -> None:
    """olympiadbench repeats problems: nothing may be keyed by the problem's text."""
    scorer = FakeScorer(judge=lambda problem, steps, i: 0.9 if steps[i] == "wrong" else 0.1)
    paths = [bench_file(tmp_path, name) for name in ("gsm8k", "math")]
    report = evaluate_processbench(scorer, paths)
    assert list(report["subsets"]) == ["gsm8k", "math"]
    row = report["subsets"]["gsm8k"]
    assert (row["error_accuracy"], row["correct_accuracy"], row["cut_short"]) == (0.5, 0.0, 0)
    assert len(row["sha256"]) == 64
    assert "| gsm8k | 3 | 50.0 | 0.0 | 0.0 |" in Report("processbench", report).markdown()
    given = scored_bench([bench_file(tmp_path, "omni", step_scores=[0.9, 0.1, 0.9])])
    assert given["subsets"]["omni"]["error_accuracy"] == 0.5


@pytest.mark.parametrize("label", [3, -2, None, "1"])
def test_a_label_that_is_no_step_is_refused(tmp_path: Path, label: Any) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"problem": "q", "steps": ["a"] * 3, "label": label}]), encoding="utf-8")
    with pytest.raises(DataError, match="record 1: needs problem, steps"):
        processbench_records(path)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=30))
def test_kappa_agrees_with_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    from importlib import import_module

    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    found = cohen_kappa(a, b)
    if found is None:
        assert len({*a, *b}) == 1
    else:
        sk: Any = import_module("sklearn.metrics")
        assert found == pytest.approx(sk.cohen_kappa_score(a, b))


def test_agreement_counts_neighbours_but_no_error_is_nobodys_neighbour() -> None:
    report = first_error_agreement([2, 2, None, None, 0], [2, 3, None, 0, None])
    assert report["exact"] == pytest.approx(2 / 5)
    assert report["within_one"] == pytest.approx(3 / 5)
    assert (report["both"], report["exact_of_both"], report["within_one_of_both"]) == (2, 0.5, 1.0)
    assert first_error_agreement([], [])["exact"] is None
    steps = step_agreement([1, 0, -1, -1], [1, 1, -1, 0])
    assert (steps["same"], steps["same_bad"]) == (0.5, 0.75)


def over_sure(n: int, seed: int, factor: float = 3.0) -> tuple[Any, Any]:
    """Classes drawn from probabilities, and those probabilities with logits that are too large."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1, (n, 3))
    true = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    classes = np.array([rng.choice(3, p=p) for p in true])
    told = np.exp(factor * logits)
    return told / told.sum(1, keepdims=True), classes


def test_the_temperature_finds_how_much_too_sure_a_model_is() -> None:
    probs, classes = over_sure(4000, 0)
    temperature = fit_temperature(probs, classes)
    assert temperature == pytest.approx(3.0, rel=0.08)
    for other in (temperature * 0.8, temperature * 1.25):
        assert log_loss(with_temperature(probs, other), classes) > log_loss(
            with_temperature(probs, temperature), classes
        )
    test_probs, test_classes = over_sure(4000, 1)
    report = calibration_report(test_probs, test_classes, temperature=temperature)
    assert report["scaled"]["error"] < report["error"] / 3
    assert report["scaled"]["brier"] < report["brier"]
    assert (with_temperature(probs, 2.0).argmax(1) == probs.argmax(1)).all(), "the order of classes stays"


def test_extreme_probabilities_stay_finite() -> None:
    probs = with_temperature([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], 0.05)
    assert np.isfinite(probs).all()
    assert probs.sum(1) == pytest.approx([1.0, 1.0])
    with pytest.raises(ValueError, match="no validation steps"):
        fit_temperature(np.zeros((0, 3)), [])


def line(problem: str, scores: list[float], ratings: list[int | None]) -> dict[str, Any]:
    return {"problem": problem, "step_scores": scores, "ratings": ratings}


def test_ratings_up_to_the_first_error_say_where_it_is() -> None:
    row = rated_solution(line("p", [0.9, 0.4, 0.5], [1, -1]))
    assert (row.first_error, row.judged) == (1, True)
    assert not rated_solution(line("p", [0.9, 0.4, 0.5], [1, 1])).judged, "nobody looked at the last step"
    assert not rated_solution(line("p", [0.9, 0.4], [None, -1])).judged
    assert rated_solution(line("p", [0.9, 0.4], [1, 0])).first_error is None
    bench = rated_solution({"step_scores": [0.9, 0.4, 0.5], "label": 1})
    assert (bench.ratings, bench.first_error) == ((1, -1), 1)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"ratings": [1]}, "rating_probs or step_scores is missing"),
        ({"step_scores": [0.5]}, "give ratings"),
        ({"step_scores": [1.5], "ratings": [1]}, "probabilities in"),
        ({"step_scores": [0.5], "ratings": [1, 1]}, "2 ratings but 1 scored steps"),
        ({"step_scores": [0.5], "ratings": [2]}, "-1, 0, 1 or null"),
        ({"step_scores": [0.5], "label": 1}, "points past the last"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, record: dict[str, Any], words: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"line 1.*{words}"):
        load_rated(path)


def test_the_report_on_rated_steps_holds_every_measure() -> None:
    rows = [
        rated_solution(line("a", [0.9, 0.3], [1, -1])),
        rated_solution(line("b", [0.8, 0.9], [1, 1])),
        rated_solution(line("c", [0.4, 0.9], [0, -1])),
    ]
    report = rated_report(rows)
    first = report["first_error"]
    assert (first["solutions"], first["with_error"], first["recall"], first["precision"]) == (3, 2, 0.5, 0.5)
    assert first["exact"] == pytest.approx(2 / 3)
    assert first["within_one"] == 1.0
    assert report["steps"]["ratings"] == 6
    assert report["agreement"]["steps"] == 6
    assert report["minima_on_last_step"]["share"] == pytest.approx(1 / 3)
    text = Report("steps", report).markdown()
    for words in ("Cohen's kappa", "calibration error (ECE)", "AUROC", "![Calibration](reliability.svg)"):
        assert words in text


def test_a_temperature_never_sees_the_problems_it_is_judged_on() -> None:
    rows = [rated_solution(line("a", [0.9, 0.3], [1, -1])), rated_solution(line("b", [0.8], [1]))]
    other = [rated_solution(line("c", [0.9, 0.6], [1, -1])), rated_solution(line("d", [0.7, 0.2], [1, -1]))]
    report = rated_report(rows, validation=other)
    assert report["calibration"]["temperature"] > 0
    assert report["calibration"]["scaled"]["loss"] is not None
    assert "validation solutions only" in Report("steps", report).markdown()
    with pytest.raises(LeakError, match="share 1 problems"):
        rated_report(rows, validation=rows[:1])
