"""Published and recomputed numbers of real data, to all their digits (data beside the checkout)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models_prm.aggregate import first_error, solution_score, step_scores
from models_prm.evaluation import exact, metrics
from models_prm.evaluation.best_of_n import load_pool
from models_prm.evaluation.pool_report import best_of_n_report

pytestmark = pytest.mark.data


def curve(points: list[dict[str, float]]) -> list[float]:
    return [round(point["accuracy"], 4) for point in points]


@pytest.fixture(scope="module")
def eight(shared_data: Path) -> dict[str, Any]:
    """100 MATH problems x 8 samples with a 72B ORM's scores, ties inside 59 problems."""
    problems = load_pool(shared_data / "qwen-math-rm8" / "math_cot_100.jsonl")
    return best_of_n_report(problems, [1, 2, 4, 8])


def test_best_of_eight(eight: dict[str, Any]) -> None:
    assert curve(eight["best_of_n"]["score"]) == [0.9100, 0.9279, 0.9361, 0.9400]
    assert eight["tied_problems"] == {"score": 59}


def test_pass_at_eight(eight: dict[str, Any]) -> None:
    assert curve(eight["pass_at_n"]) == [0.9100, 0.9329, 0.9510, 0.9600]


def test_votes_of_eight(eight: dict[str, Any]) -> None:
    assert curve(eight["majority"]) == [0.9100, 0.9100, 0.9201, 0.9250]
    assert eight["vote_weights"] == {"score": "sigmoid"}
    assert curve(eight["weighted_vote"]["score"])[-1] == 0.9400


def test_the_first_low_score_of_math_shepherd_is_the_human_first_error_in_330_of_590(
    shared_data: Path,
) -> None:
    """MR-GSM8K's wrong solutions with ReasonEval's released scores; human steps count from 1."""
    path = shared_data / "mr-gsm8k" / "wrong_solutions_with_prm_scores.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    (name,) = [key for key in records[0]["prm_scores"] if "shepherd" in key]
    truth = [int(r["model_output_solution_first_error_step"]) - 1 for r in records]
    found = [first_error([float(s) for s in r["prm_scores"][name]]) for r in records]
    assert len(records) == 590
    assert sum(t == p for t, p in zip(truth, found, strict=True)) == 330
    assert metrics.first_error_report(truth, found)["recall"] == pytest.approx(330 / 590)


def test_chain_of_thought_on_the_game_of_24_by_number_of_samples(shared_data: Path) -> None:
    """Tree-of-Thoughts' 100 samples of 100 puzzles: 4.0, 21.5 and 49.0 at 1, 10 and 100."""
    tasks = json.loads((shared_data / "game24-tot" / "cot_sample_100.json").read_text(encoding="utf-8"))
    correct = np.array([[info["r"] for info in task["infos"]] for task in tasks])
    rates = 100 * exact.pass_at_n_curve(correct, [1, 10, 100], 100).mean(0)
    assert correct.shape == (100, 100)
    assert [round(float(rate), 1) for rate in rates] == [4.0, 21.5, 49.0]


def test_breadth_first_search_on_the_game_of_24(shared_data: Path) -> None:
    """Any of the five final states in 69 of 100 puzzles, the first of them in 62."""
    tasks = json.loads((shared_data / "game24-tot" / "bfs_propose_value.json").read_text(encoding="utf-8"))
    assert sum(any(info["r"] for info in task["infos"]) for task in tasks) == 69
    assert sum(task["infos"][0]["r"] for task in tasks) == 62


def test_the_papers_own_record_has_the_product_of_one_minus_bad_to_16_digits(shared_data: Path) -> None:
    path = shared_data / "prm800k" / "scored_sample_example.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    probs = [(p["-1"], p["0"], p["1"]) for p in record["rating_probs"]]
    found = solution_score(step_scores(probs))
    assert found is not None
    assert abs(found - record["prm_score"]) <= 1e-16 + 2 * np.spacing(record["prm_score"])


def test_processbench_has_the_composition_that_was_published(shared_data: Path) -> None:
    from models_prm.evaluation.processbench import label_of, processbench_records, protocol

    subsets = {}
    for name in ("gsm8k", "math", "olympiadbench", "omnimath"):
        records = processbench_records(shared_data / "processbench" / f"{name}.json")
        subsets[name] = [(label_of(r), [1.0] * len(r["steps"])) for r in records]
    report = protocol(subsets)
    assert [row["erroneous"] for row in report["subsets"].values()] == [207, 594, 661, 759]
    assert [row["solutions"] for row in report["subsets"].values()] == [400, 1000, 1000, 1000]
    assert report["mean_f1"] == 0.0, "to say -1 always is worth nothing"
