"""Reports on scored pools: who may win, four strategies, quintiles, differences; and what they write."""

# ruff: noqa: S314 - what is parsed here is our own
from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models_prm.errors import DataError
from models_prm.evaluation.best_of_n import load_pool
from models_prm.evaluation.pool_report import best_of_n_report
from models_prm.evaluation.report import Report, curves_of

Line = dict[str, Any]


def probs(*good: float, okay: float = 0.0) -> list[dict[str, float]]:
    return [{"-1": 1 - g, "0": okay, "1": g - okay} for g in good]


def write(folder: Path, lines: list[Line]) -> Path:
    path = folder / "pool.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def report_of(folder: Path, lines: list[Line], **options: Any) -> dict[str, Any]:
    return best_of_n_report(load_pool(write(folder, lines)), **({"resamples": 50} | options))


def accuracies(points: list[dict[str, Any]]) -> list[float]:
    return [round(point["accuracy"], 6) for point in points]


def random_pool(problems: int = 20, samples: int = 8, seed: int = 0) -> list[Line]:
    """Samples whose steps tell, with noise, whether the answer is right; problems from easy to hard."""
    rng = np.random.default_rng(seed)
    lines = []
    for p in range(problems):
        for i in range(samples):
            right = bool(rng.random() < (p + 0.5) / problems)
            steps = np.clip(rng.normal(0.85 if right else 0.7, 0.1, 4), 0.05, 0.99)
            lines.append(
                {
                    "problem": f"problem {p}",
                    "answer": "7" if right else str(rng.integers(20, 23)),
                    "is_correct": right,
                    "rating_probs": probs(*map(float, steps), okay=0.02),
                    "orm_score": float(rng.random()),
                    "subject": "Algebra" if p % 2 else "Geometry",
                    "level": p % 5 + 1,
                    "sample_index": i,
                }
            )
    return lines


def b9_lines(**unfinished: Any) -> list[Line]:
    """B9: A has two good steps and no answer; B has six steps at 0.97 and the answer; the third is wrong."""
    common = {"problem": "p", "subject": ""}
    return [
        {**common, "is_correct": False, "answer": None, "rating_probs": probs(0.999, 0.999), **unfinished},
        {**common, "is_correct": True, "answer": "4", "rating_probs": probs(*[0.97] * 6)},
        {**common, "is_correct": False, "answer": "5", "rating_probs": probs(0.5, 0.98, 0.98)},
    ]


@pytest.mark.parametrize("unfinished", [{"answer": None}, {"answer": "9", "finish": "length"}])
def test_b9_an_unfinished_solution_is_not_eligible_and_both_aggregates_are_shown(
    tmp_path: Path, unfinished: Line
) -> None:
    report = report_of(tmp_path, b9_lines(**unfinished), counts=[3])
    assert accuracies(report["best_of_n"]["prm_product"]) == [1.0]
    assert accuracies(report["best_of_n"]["prm_minimum"]) == [1.0]
    assert report["unfinished"]["samples"] == 1
    would = report["unfinished"]["would_have_won"]
    assert (would["prm_product"], would["prm_minimum"]) == (1.0, 1.0), "why it must not be eligible"
    text = Report("best-of-n", report).markdown()
    assert "PRM, product" in text
    assert "PRM, minimum" in text
    assert "1 unfinished samples keep their slot and may not win" in text


def test_an_unfinished_sample_keeps_its_slot_votes_for_nothing_and_passes_nothing(tmp_path: Path) -> None:
    lines = b9_lines(answer="9", finish="length", is_correct=True)
    report = report_of(tmp_path, lines, counts=[1, 3])
    assert accuracies(report["best_of_n"]["prm_product"]) == [round(1 / 3, 6), 1.0]
    assert accuracies(report["pass_at_n"]) == [round(1 / 3, 6), 1.0]
    assert accuracies(report["majority"]) == [round(1 / 3, 6), 0.5]


def test_a_pool_that_never_recorded_answers_is_not_all_unfinished(tmp_path: Path) -> None:
    lines = [{"problem": "p", "is_correct": i == 0, "prm_score": 1 - i / 10} for i in range(3)]
    report = report_of(tmp_path, lines, counts=[3])
    assert accuracies(report["best_of_n"]["prm_score"]) == [1.0]
    assert report["unfinished"]["samples"] == 0


def test_scores_without_a_value_lose_and_never_raise(tmp_path: Path) -> None:
    lines = [
        {"problem": "p", "is_correct": True, "answer": "1", "rating_probs": []},
        {"problem": "p", "is_correct": False, "answer": "2", "rating_probs": probs(0.0)},
        {"problem": "p", "is_correct": False, "answer": "3", "rating_probs": probs(0.4), "steps_too_long": 2},
    ]
    report = report_of(tmp_path, lines, counts=[3])
    assert accuracies(report["best_of_n"]["prm_product"]) == [0.0], "a score of 0 beats none at all"


def test_products_that_underflow_keep_their_order(tmp_path: Path) -> None:
    lines = [
        {"problem": "p", "is_correct": i == 0, "answer": str(i), "rating_probs": probs(*[0.01] * (400 + i))}
        for i in range(3)
    ]
    report = report_of(tmp_path, lines, counts=[3])
    assert accuracies(report["best_of_n"]["prm_product"]) == [1.0]
    assert accuracies(report["weighted_vote"]["prm_product"]) == [1.0]
    assert report["tied_problems"]["prm_product"] == 0


def test_the_grid_of_table_4_has_four_cells_that_equal_their_curves(tmp_path: Path) -> None:
    lines = [
        # Neutral as good prefers the first, as bad the second.
        {
            "problem": "p",
            "is_correct": True,
            "answer": "1",
            "rating_probs": [{"-1": 0.05, "0": 0.8, "1": 0.15}],
        },
        {
            "problem": "p",
            "is_correct": False,
            "answer": "2",
            "rating_probs": [{"-1": 0.3, "0": 0.0, "1": 0.7}],
        },
    ]
    report = report_of(tmp_path, lines, counts=[2])
    cells = {(c["reduction"], c["neutral"]): c["accuracy"] for c in report["grid"]["cells"]}
    assert cells == {
        ("product", "good"): 1.0,
        ("minimum", "good"): 1.0,
        ("product", "bad"): 0.0,
        ("minimum", "bad"): 0.0,
    }
    text = Report("best-of-n", report).markdown()
    assert re.search(r"neutral is good \| 100\.0 .*\| 100\.0", text)
    assert re.search(r"neutral is bad \| 0\.0 .*\| 0\.0", text)


def test_quintiles_are_equal_groups_by_pass_rate_hardest_first(tmp_path: Path) -> None:
    report = report_of(tmp_path, random_pool())
    rows = report["quintiles"]
    assert [row["problems"] for row in rows] == [4] * 5
    rates = [rate for row in rows for rate in row["pass_rate"]]
    assert rates == sorted(rates)
    lead = report["lead"]
    for i, point in enumerate(report["best_of_n"][lead]):
        assert np.mean([row["accuracy"][lead][i] for row in rows]) == pytest.approx(point["accuracy"])
    few = report_of(tmp_path, random_pool(problems=4))
    assert few["quintiles"] == []


def test_subjects_and_levels_divide_the_problems(tmp_path: Path) -> None:
    report = report_of(tmp_path, random_pool())
    assert [(row["name"], row["problems"]) for row in report["subjects"]] == [
        ("Algebra", 10),
        ("Geometry", 10),
    ]
    assert [row["name"] for row in report["levels"]] == ["1", "2", "3", "4", "5"]
    mean = np.mean([row["accuracy"]["majority"] for row in report["subjects"]])
    assert mean == pytest.approx(report["majority"][-1]["accuracy"])


def test_the_lead_is_compared_with_every_other_curve_on_the_same_draws(tmp_path: Path) -> None:
    report = report_of(tmp_path, random_pool(), resamples=400)
    assert report["lead"] == "prm_product"
    others = {pair["second"] for pair in report["differences"]}
    assert {"orm_score", "majority", "vote_prm_product", "prm_minimum"} <= others
    assert "oracle" not in others
    pair = next(p for p in report["differences"] if p["second"] == "orm_score")
    for point, a, b in zip(
        pair["points"], report["best_of_n"]["prm_product"], report["best_of_n"]["orm_score"], strict=True
    ):
        assert point["difference"] == pytest.approx(a["accuracy"] - b["accuracy"])
        assert point["interval"][0] <= point["difference"] <= point["interval"][1]
        assert 0 <= point["p_above"] <= 1
    assert pair["points"][-1]["p_above"] > 0.9


def test_votes_of_a_large_pool_are_drawn_and_say_their_error(tmp_path: Path) -> None:
    report = report_of(tmp_path, random_pool(problems=6, samples=24), counts=[1, 8, 24], draws=200)
    errors = ["draw_error" in point for point in report["majority"]]
    assert errors == [False, True, False]
    assert "standard error at most" in Report("best-of-n", report).markdown()


def test_minima_on_the_last_step_are_reported_beside_chance(tmp_path: Path) -> None:
    lines = [
        {"problem": "p", "is_correct": True, "answer": "1", "rating_probs": probs(0.9, 0.2)},
        {"problem": "p", "is_correct": True, "answer": "1", "rating_probs": probs(0.1, 0.8, 0.9, 0.9)},
    ]
    report = report_of(tmp_path, lines)
    assert report["minima_on_last_step"] == {"solutions": 2, "share": 0.5, "by_chance": 0.375}


def test_problems_may_have_different_numbers_of_samples(tmp_path: Path) -> None:
    lines = [
        {"problem": p, "is_correct": i % 2 == 0, "answer": str(i % 2), "prm_score": 0.9 - i / 20}
        for p, n in (("a", 2), ("b", 4), ("c", 7))
        for i in range(n)
    ]
    report = report_of(tmp_path, lines)
    assert report["n"] == [1, 2]
    assert accuracies(report["pass_at_n"]) == [
        round((1 / 2 + 1 / 2 + 4 / 7) / 3, 6),
        round((1 + 5 / 6 + 6 / 7) / 3, 6),
    ]
    assert accuracies(report["best_of_n"]["prm_score"])[0] == accuracies(report["pass_at_n"])[0]


def test_too_few_slots_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="slots 2 is fewer"):
        report_of(tmp_path, b9_lines(), slots=2)


def test_a_report_is_written_as_json_markdown_and_pictures(tmp_path: Path) -> None:
    data = report_of(tmp_path, random_pool())
    paths = Report("best-of-n", data, title="Pool <A>", facts={"model": "prm-1"}).write(tmp_path / "out")
    assert [path.name for path in paths] == ["report.json", "report.md", "curve.svg", "quintiles.svg"]
    again = json.loads(paths[0].read_text(encoding="utf-8"))
    assert {key: again.pop(key) for key in ("kind", "title", "facts")} == {
        "kind": "best-of-n",
        "title": "Pool <A>",
        "facts": {"model": "prm-1"},
    }
    assert again == data, "plain numbers only: they survive JSON"
    text = paths[1].read_text(encoding="utf-8")
    images = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert images == ["curve.svg", "quintiles.svg"]
    for line in curves_of(data).values():
        assert f"{100 * line[-1]['accuracy']:.1f} (" in text
    for path in paths[2:]:
        ET.fromstring(path.read_text(encoding="utf-8"))


def test_a_report_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="choose one of best-of-n, steps, processbench"):
        Report("poem", {})
