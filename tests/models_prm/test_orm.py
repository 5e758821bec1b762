"""The outcome reward model: trained on graded solutions, read at the last step, not fooled by their shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models_prm.config import ModelShape, Stage, TrainConfig
from models_prm.errors import Cancelled, DataError, LeakError, ModelError
from models_prm.fakes import FakeScorer
from models_prm.orm import OrmScorer
from models_prm.records import ScoringItem, problem_key
from models_prm.scoring import PrmScorer
from models_prm.train import train_prm
from tests.models_prm.prm_make import small_config, sums_file, write_lines
from tests.models_prm.test_resume import assert_same


def sample(number: int, right: bool | None, text: str) -> dict[str, Any]:
    return {
        "problem": f"Problem {number} with {number * 7 % 13} pens.",
        "steps": [f"We count {number % 9} pens.", text],
        "is_correct": right,
        "answer": "1",
        "ground_truth_answer": "1",
    }


def pool(folder: Path, count: int = 24) -> Path:
    """Five samples a problem: one right, three wrong, one that nobody could grade."""
    lines = []
    for i in range(count):
        lines.append(sample(i, True, f"So {i} pens rightly."))
        lines += [sample(i, False, f"So {i + k} pens wrongly.") for k in range(3)]
        lines.append(sample(i, None, "So perhaps."))
    return write_lines(folder / "pool.jsonl", lines)


def orm_config(folder: Path, data: Path, **changes: Any) -> TrainConfig:
    settings: dict[str, Any] = {
        "kind": "orm",
        "pretrain": Stage(steps=2, lr=3e-3, batch_tokens=512),
        "train": Stage(steps=6, lr=3e-3, batch_tokens=512),
    }
    return small_config(folder, data, **{**settings, **changes})


@pytest.mark.parametrize("outcome", ["all", "last"])
@pytest.mark.parametrize("design", ["label", "head"])
def test_a_pool_makes_a_model_with_one_score_per_solution(tmp_path: Path, outcome: str, design: str) -> None:
    result = train_prm(orm_config(tmp_path, pool(tmp_path), outcome=outcome, design=design))
    card = result.card
    assert card["kind"] == "orm"
    assert card["classes"] == [-1, 1]
    assert card["recipe"]["outcome"] == outcome
    assert card["labels"] == {
        "rows": 76,
        "problems": 19,
        "labels": 76,
        "bad": 0.75,
        "okay": 0.0,
        "good": 0.25,
    }
    assert result.metrics["ratings"] == 20
    assert result.metrics["pairs"] == 15
    scorer = OrmScorer.load(result.model_dir)
    items = [
        ScoringItem("whole", "Problem 3.", ("We count.", "So 3.")),
        ScoringItem("empty", "Problem 3.", ()),
        ScoringItem("long", "Problem 3.", ("We count.", "7 " * 300)),
    ]
    found = {score.key: score.score for score in scorer.score(items)}
    assert found["empty"] is None
    assert found["long"] is None
    (steps,) = PrmScorer.load(result.model_dir).score(items[:1])
    assert found["whole"] == pytest.approx(steps.probs[-1][2], abs=1e-6)
    assert scorer.name == "small"


def test_a_process_model_is_not_an_outcome_model(tmp_path: Path) -> None:
    result = train_prm(small_config(tmp_path, sums_file(tmp_path, 12)))
    with pytest.raises(ModelError, match="not an outcome reward model"):
        OrmScorer.load(result.model_dir)


def test_any_step_scorer_can_be_read_at_its_last_step() -> None:
    scorer = OrmScorer(FakeScorer(judge=lambda problem, steps, index: 0.9 if index == 0 else 0.25))
    (found,) = scorer.score([ScoringItem("k", "p", ("a", "b"))])
    assert found.score == pytest.approx(0.8 * 0.75)


@pytest.mark.parametrize("outcome", ["all", "last"])
def test_a_stopped_run_ends_like_an_unbroken_one(tmp_path: Path, outcome: str) -> None:
    data = pool(tmp_path)
    whole = train_prm(orm_config(tmp_path, data, output_dir=tmp_path / "whole", outcome=outcome))
    broken = orm_config(tmp_path, data, output_dir=tmp_path / "broken", outcome=outcome)
    asked = iter(range(100))
    with pytest.raises(Cancelled):
        train_prm(broken, should_stop=lambda: next(asked) == 5)
    assert_same(train_prm(broken), whole)


def test_the_test_split_is_refused_here_too(tmp_path: Path) -> None:
    refused = frozenset({problem_key(sample(3, True, "")["problem"])})
    with pytest.raises(LeakError, match="1 problem"):
        train_prm(orm_config(tmp_path, pool(tmp_path), refuse_problems=refused))


def test_a_pool_without_verdicts_is_refused(tmp_path: Path) -> None:
    data = write_lines(tmp_path / "p.jsonl", [sample(1, None, "x")])
    with pytest.raises(DataError, match="no graded solutions to train on"):
        train_prm(orm_config(tmp_path, data))


def learned(folder: Path, lines: list[dict[str, Any]]) -> dict[str, Any]:
    config = orm_config(
        folder,
        write_lines(folder / "pool.jsonl", lines),
        model=ModelShape(vocab_size=400, layers=2, width=64, heads=2, feed_forward=128),
        pretrain=Stage(epochs=0),
        train=Stage(steps=60, lr=3e-3, batch_tokens=1024),
        held_out_fraction=0.3,
    )
    return train_prm(config).metrics


@pytest.mark.slow
def test_on_samples_of_one_shape_it_learns_what_they_say(tmp_path: Path) -> None:
    lines = [
        sample(i, word == "rightly", f"So {i % 9} pens are {word} counted.")
        for i in range(80)
        for word in ("rightly", "wrongly", "weirdly")
    ]
    report = learned(tmp_path, lines)
    assert report["format_matched_pairs"] == report["pairs"] > 40
    assert report["format_matched_accuracy"] > 0.95


@pytest.mark.slow
def test_a_model_that_learned_the_shape_of_wrong_samples_is_found_out(tmp_path: Path) -> None:
    """Nine in ten wrong samples end with a sentence more, and nothing else tells right from wrong (format
    leakage): over all pairs the model looks good, over pairs of one shape it is a coin."""
    lines = []
    for i in range(100):
        lines.append(sample(i, True, f"So {i * 37 % 90 + 10} pens."))
        for k in range(4):
            tail = "" if (i + k) % 4 == 0 else " I hope that this is what was asked for."
            lines.append(sample(i, False, f"So {(i * 53 + k * 29) % 90 + 10} pens.{tail}"))
    report = learned(tmp_path, lines)
    assert report["pair_accuracy"] > 0.8
    assert report["format_matched_pairs"] >= 20
    assert report["format_matched_accuracy"] < 0.75


def test_the_command_trains_an_orm_from_any_recipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from models_prm.cli.train import main

    recipe = Path(__file__).resolve().parents[2] / "recipes" / "smoke.toml"
    arguments = ["--kind", "orm", "--recipe", str(recipe), "--data", str(pool(tmp_path))]
    assert main([*arguments, "--output", str(tmp_path / "m")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["held_out"]["pairs"] > 0
    assert OrmScorer.load(tmp_path / "m").name == "smoke"
