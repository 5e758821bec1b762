"""Training from a recipe: what it writes, what it refuses, what it learns."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

from models_prm.config import ModelShape, Stage, TrainConfig, load_recipe
from models_prm.errors import Cancelled, DataError, LeakError, RecipeError
from models_prm.evaluation.evaluate import evaluate_prm
from models_prm.prm import CARD, read_card
from models_prm.records import Progress, ScoringItem, problem_key
from models_prm.scoring import PrmScorer
from models_prm.train import LOG, train_prm
from models_prm.training.checkpoint import FILE
from models_prm.training.material import gather
from models_prm.training.stages import learning_rate, plan
from tests.models_prm.prm_make import (
    completion,
    record,
    small_config,
    step,
    sum_record,
    sums_file,
    write_lines,
)
from tests.models_prm.test_prm import foreign_base

RECIPES = Path(__file__).resolve().parents[2] / "recipes"


def test_a_run_leaves_an_ordinary_model_directory_with_a_card(tmp_path: Path) -> None:
    told: list[Progress] = []
    config = small_config(tmp_path, sums_file(tmp_path))
    result = train_prm(config, on_progress=told.append)
    names = {path.name for path in result.model_dir.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", CARD, LOG} <= names
    assert not [name for name in names if name.startswith(".") or name == FILE]
    card = read_card(result.model_dir)
    assert card["train"] == {"problems": 32, "ratings": {"-1": 96, "0": 32, "1": 64}, "ratings_too_long": 0}
    assert card["recipe"]["train"]["steps"] == 12
    assert card["seed"] == 0
    assert [len(digest) for digest in card["files_sha256"].values()] == [64]
    assert card["held_out"]["ratings"] == 8 * 6
    assert len(result.losses) == 12
    assert all(math.isfinite(loss) for loss in result.losses)
    assert [p.done for p in told if p.stage == "train"] == list(range(1, 13))
    assert all(p.total == 12 and "loss" in p.metrics for p in told if p.stage == "train")
    assert str(tmp_path) not in (result.model_dir / CARD).read_text(encoding="utf-8")


def test_the_same_seed_gives_the_same_losses_and_another_seed_others(tmp_path: Path) -> None:
    data = sums_file(tmp_path)
    runs = [
        train_prm(small_config(tmp_path, data, output_dir=tmp_path / name, seed=seed)).losses
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    config = small_config(tmp_path, sums_file(tmp_path))
    first = train_prm(config)
    told: list[Progress] = []
    again = train_prm(config, on_progress=told.append)
    assert told == []
    assert (again.losses, again.metrics, again.card) == (first.losses, first.metrics, first.card)


def test_a_directory_with_another_model_is_not_overwritten(tmp_path: Path) -> None:
    config = small_config(tmp_path, sums_file(tmp_path))
    train_prm(config)
    with pytest.raises(RecipeError, match="already holds the model 'small' of other settings"):
        train_prm(dataclasses.replace(config, seed=5))


@pytest.mark.slow
def test_it_learns_what_makes_a_step_bad(tmp_path: Path) -> None:
    """Steps that hold the word "wrongly" are bad, whatever the problem: held-out AUROC must be near 1."""
    records = [
        record(
            f"Problem {i} with {i * 7 % 13} pens.",
            step(
                completion(f"We count {i % 9} pens rightly.", 1),
                completion(f"We count {i % 9} pens wrongly.", -1),
                completion(f"Now {i % 5} are wrongly put away.", -1),
                chosen=0,
            ),
        )
        for i in range(150)
    ]
    config = small_config(
        tmp_path,
        write_lines(tmp_path / "d.jsonl", records),
        model=ModelShape(vocab_size=400, layers=2, width=64, heads=2, feed_forward=128),
        pretrain=Stage(epochs=0),
        train=Stage(steps=60, lr=3e-3, batch_tokens=1024),
    )
    result = train_prm(config)
    assert result.metrics["auroc_bad"] > 0.95
    assert result.losses[-1] < result.losses[0] / 2
    (scores,) = PrmScorer.load(result.model_dir).score(
        [
            ScoringItem(
                "k", "Problem 3 with 8 pens.", ("We count 3 pens rightly.", "Now 2 are wrongly put away.")
            )
        ]
    )
    assert scores.probs[0][2] > 0.5 > scores.probs[0][0]
    assert scores.probs[1][0] > 0.5


def test_the_test_split_is_refused_by_name(tmp_path: Path) -> None:
    problem = sum_record(3)["question"]["problem"]
    refused = frozenset({problem_key(problem.upper()), problem_key("something else")})
    config = small_config(tmp_path, sums_file(tmp_path), refuse_problems=refused)
    with pytest.raises(LeakError, match=f"1 problem.*{problem[:30]}"):
        train_prm(config)


def test_a_held_out_file_that_shares_a_problem_is_refused(tmp_path: Path) -> None:
    held = write_lines(tmp_path / "held.jsonl", [sum_record(3)])
    config = small_config(tmp_path, sums_file(tmp_path), held_out=(held,))
    with pytest.raises(LeakError, match="1 problem"):
        train_prm(config)


def test_a_held_out_file_is_measured_and_not_trained_on(tmp_path: Path) -> None:
    held = write_lines(tmp_path / "held.jsonl", [sum_record(i) for i in range(100, 110)])
    result = train_prm(small_config(tmp_path, sums_file(tmp_path), held_out=(held,)))
    assert result.card["train"]["problems"] == 40
    assert result.metrics["ratings"] == 60


def test_held_out_problems_do_not_enter_by_the_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "pool.jsonl"
    lines = [{"problem": sum_record(i)["question"]["problem"], "steps": [f"zqx{i}"]} for i in range(40)]
    corpus.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    config = small_config(tmp_path, sums_file(tmp_path), corpus=(corpus,))
    kept = {text.steps[0] for text in gather(config).corpus}
    assert len(kept) == 32
    assert train_prm(config).losses


def test_ratings_that_do_not_fit_are_counted_and_the_loss_stays_finite(tmp_path: Path) -> None:
    long = record("17" * 250, step(completion("a", 1), chosen=0))
    data = write_lines(tmp_path / "d.jsonl", [sum_record(i) for i in range(20)] + [long])
    result = train_prm(small_config(tmp_path, data, held_out_fraction=0.0))
    assert result.card["train"]["ratings_too_long"] == 1
    assert all(math.isfinite(loss) for loss in result.losses)


def test_data_without_a_usable_rating_is_refused_before_training(tmp_path: Path) -> None:
    empty = write_lines(tmp_path / "e.jsonl", [record("q", step(completion("a", None), chosen=0))])
    with pytest.raises(DataError, match="no rated steps"):
        train_prm(small_config(tmp_path, empty))
    long = write_lines(tmp_path / "l.jsonl", [record("17" * 2500, step(completion("a", 1), chosen=0))])
    with pytest.raises(DataError, match="no rated step fits"):
        train_prm(small_config(tmp_path, long, output_dir=tmp_path / "other"))


def test_stopping_raises_after_a_checkpoint_was_written(tmp_path: Path) -> None:
    config = small_config(tmp_path, sums_file(tmp_path), checkpoint_steps=1000, checkpoint_seconds=1e6)
    asked = iter([False] * 7 + [True])
    with pytest.raises(Cancelled, match="stopped in train at step 3 of 12"):
        train_prm(config, should_stop=lambda: next(asked))
    assert (config.output_dir / FILE).exists()
    assert not (config.output_dir / CARD).exists()


def test_a_base_directory_takes_the_place_of_the_shape(tmp_path: Path) -> None:
    base = foreign_base(tmp_path / "base", "qwen2")
    result = train_prm(small_config(tmp_path, sums_file(tmp_path), base=str(base), pretrain=Stage(epochs=0)))
    assert result.card["base"] == "base"
    (scores,) = PrmScorer.load(result.model_dir).score([ScoringItem("k", "How many?", ("3 + 4 = 7",))])
    assert len(scores.probs) == 1


def test_balanced_weights_and_keep_best_run(tmp_path: Path) -> None:
    config = small_config(
        tmp_path, sums_file(tmp_path), class_weights="balanced", evaluate_every=3, keep_best=True
    )
    result = train_prm(config)
    log = [json.loads(line) for line in (result.model_dir / LOG).read_text(encoding="utf-8").splitlines()]
    held = {entry["step"]: entry["loss"] for entry in log if entry["stage"] == "held_out"}
    assert sorted(held) == [3, 6, 9, 12]
    assert result.card["kept_step"] == min(held, key=lambda s: held[s])
    assert result.metrics["loss"] == pytest.approx(min(held.values()), rel=1e-5)


def test_the_report_compares_with_length_alone(tmp_path: Path) -> None:
    """Bad steps here are longer than good ones: the baseline must find that without a model."""
    records = [
        record(
            f"Problem {i}.",
            step(completion("ok " * (2 + i % 3), 1), completion("no " * (9 + i % 4), -1), chosen=0),
        )
        for i in range(60)
    ]
    result = train_prm(small_config(tmp_path, write_lines(tmp_path / "d.jsonl", records[:40])))
    report = evaluate_prm(result.model_dir, [write_lines(tmp_path / "t.jsonl", records[40:])], resamples=50)
    assert report["length_only"]["auroc_bad"] == 1.0
    assert report["steps"]["prior_bad"] == 0.5
    assert report["steps"]["ratings"] == 40
    assert report["same_prefix_pairs"]["pairs"] == 20
    assert report["first_error"]["solutions"] == 40
    assert report["first_error"]["with_error"] == 20
    assert report["intervals"]["length_only"] == [1.0, 1.0]
    json.dumps(report)


@pytest.mark.parametrize("name", sorted(path.name for path in RECIPES.glob("*.toml")))
def test_every_shipped_recipe_loads(tmp_path: Path, name: str) -> None:
    config = load_recipe(RECIPES / name, data=["x.jsonl"], output_dir=tmp_path)
    assert config.data == (Path("x.jsonl"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed = 1", "unknown key sed"),
        ("[train]\nepoch = 1", r"unknown key train\.epoch"),
        ("[model]\nwidth = '64'", r"model\.width must be a int"),
        ("seed = true", "seed must be a int"),
        ("[train]\nlr = -1.0", "lr, batch_tokens and clip must be positive"),
        ("class_weights = 'heavy'", "class_weights must be"),
        ("class_weights = [1, 2]", "three positive numbers"),
        ("packing = 'zip'", "use tree or none"),
        ("keep_best = true", "needs evaluate_every"),
        ("[model]\nwidth = 50\nheads = 4", "width must be heads times"),
        ("seed = ", "not a TOML file"),
    ],
)
def test_a_wrong_recipe_is_refused_by_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match=message) as caught:
        load_recipe(path, data=["x"], output_dir="o")
    assert str(path) in str(caught.value)


def test_recipe_paths_are_relative_to_the_recipe_and_overrides_win(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('data = "a.jsonl"\nseed = 1\n[train]\nlr = 1\n', encoding="utf-8")
    config = load_recipe(path, output_dir="o", seed=2, name=None)
    assert config.data == (tmp_path / "a.jsonl",)
    assert config.seed == 2
    assert config.name == "prm"
    assert config.train.lr == 1.0


def test_the_fingerprint_ignores_places_and_checkpoint_habits(tmp_path: Path) -> None:
    one = TrainConfig(data=(Path("a"),), output_dir=Path("o"))
    same = dataclasses.replace(one, data=(Path("b"),), output_dir=Path("p"), checkpoint_steps=3)
    assert one.fingerprint() == same.fingerprint()
    assert one.fingerprint() != dataclasses.replace(one, seed=1).fingerprint()


def test_the_rate_rises_and_falls() -> None:
    stage = Stage(lr=1.0, warmup=0.1)
    rates = [learning_rate(stage, s, 100) for s in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[10] == 1.0
    assert rates[-1] == pytest.approx(0.1, abs=0.01)
    assert bool(np.all(np.diff(rates[10:]) <= 0))


def test_a_plan_takes_everything_once_per_epoch() -> None:
    lengths = [10] * 30
    batches = plan(Stage(epochs=2.0, batch_tokens=50), lengths, [0, 1])
    assert len(batches) == 12
    assert sorted(i for b in batches[:6] for i in b) == list(range(30))
    assert sorted(i for b in batches[6:] for i in b) == list(range(30))
    assert batches[:6] != batches[6:]
    assert len(plan(Stage(steps=7, batch_tokens=50), lengths, [0, 1])) == 7
    assert plan(Stage(epochs=0), lengths, [0, 1]) == []
    assert plan(Stage(steps=3), [], [0, 1]) == []
