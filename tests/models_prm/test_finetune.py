"""Fine-tuning a generator: what it learns from, what it writes, and going on after a stop."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from models_prm.__main__ import main
from models_prm.config import ModelShape, Stage
from models_prm.errors import Cancelled, DataError, LeakError, RecipeError
from models_prm.records import problem_key
from models_prm.sampling.finetune import CARD, FinetuneConfig, _Text, finetune, load_solutions, solution_loss
from models_prm.sampling.local import LocalSampler
from models_prm.sampling.prompts import build_prompt
from models_prm.sampling.records import SampleRequest
from models_prm.sampling.weights import encode_prompts, encode_texts, load_generator
from tests.models_prm.prm_make import write_lines
from tests.models_prm.sampling_make import save_model

TINY = ModelShape(vocab_size=300, layers=1, width=32, heads=2, feed_forward=64)


def line(number: int, **changes: Any) -> dict[str, Any]:
    steps = [f"{number} + 1", f"So {number + 1}"]
    return {"problem": f"Add one to {number}.", "steps": steps, "is_correct": True, **changes}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "pool.jsonl", [line(i) for i in range(24)])


def config_of(tmp_path: Path, pool: Path, **changes: Any) -> FinetuneConfig:
    values: dict[str, Any] = {
        "data": (pool,),
        "output_dir": tmp_path / "generator",
        "shape": TINY,
        "max_length": 128,
        "train": Stage(epochs=1, lr=3e-3, batch_tokens=256),
    }
    return FinetuneConfig(**{**values, **changes})


def test_only_right_finished_distinct_solutions_are_learnt_from(tmp_path: Path) -> None:
    lines = [
        line(1),
        line(1),
        line(2, is_correct=False),
        line(3, is_correct=None),
        line(4, finish="length"),
        line(5, steps=[]),
        {"problem": "p", "steps": ["no grade"]},
    ]
    path = write_lines(tmp_path / "pool.jsonl", lines)
    counts: Counter[str] = Counter()
    right = load_solutions(config_of(tmp_path, path), counts)
    assert [s.problem for s in right] == ["Add one to 1."]
    assert counts == {"repeated": 1, "not right": 3, "unfinished": 1, "no steps": 1}
    every = load_solutions(config_of(tmp_path, path, keep="all"), Counter())
    assert len(every) == 4
    wrong = write_lines(tmp_path / "wrong.jsonl", [line(2, is_correct=False)])
    with pytest.raises(DataError, match="grade them"):
        finetune(config_of(tmp_path, wrong))


def test_the_loss_is_on_the_solution_and_its_end_alone(tmp_path: Path) -> None:
    lm, tokenizer = load_generator(str(save_model(tmp_path / "m")))
    [prompt] = encode_prompts(tokenizer, [build_prompt("Add one to 3.")])
    [body] = encode_texts(tokenizer, ["3 + 1\nSo 4"])
    text = _Text(prompt, [*body, tokenizer.eos_token_id])
    short = _Text(prompt, text.solution[:3])
    with torch.no_grad():
        logits = lm(torch.tensor([[*text.prompt, *text.solution]])).logits[0].log_softmax(-1)
        start = len(prompt) - 1
        own = [-logits[start + i, t].item() for i, t in enumerate(text.solution)]
        together = solution_loss(lm, [text, short], 0).item()
    assert together == pytest.approx((sum(own) + sum(own[:3])) / (len(own) + 3), abs=1e-4)


def test_a_generator_is_learnt_from_scratch_and_samples_stop(tmp_path: Path, pool: Path) -> None:
    """It learns the format: steps one a line, then the end; prompts are those that the sampler uses."""
    train = Stage(epochs=60, lr=1e-2, batch_tokens=384)
    result = finetune(config_of(tmp_path, pool, train=train, shape=replace(TINY, layers=2)))
    assert result.losses[-1] < 0.5 < result.losses[0]
    sampler = LocalSampler.load(result.model_dir)
    requests = [SampleRequest(str(i), build_prompt(f"Add one to {i}."), 0, i) for i in range(10)]
    samples = list(sampler.sample(requests, max_tokens=40, temperature=0.5))
    good = [s for s in samples if s.finish == "stop" and s.text.count("\n") == 1 and "So" in s.text]
    assert len(good) >= 8
    assert result.card["counts"]["used"] == 24
    assert result.card["prompt"] == build_prompt("{problem}")


def test_any_base_directory_is_tuned_and_gets_an_end(tmp_path: Path, pool: Path) -> None:
    base = save_model(tmp_path / "base")
    result = finetune(config_of(tmp_path, pool, base=str(base)))
    lm, tokenizer = load_generator(str(result.model_dir))
    assert lm.generation_config.eos_token_id == tokenizer.eos_token_id
    assert result.card["base"] == "base"
    assert json.loads((result.model_dir / CARD).read_text())["losses"] == list(result.losses)


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path: Path, pool: Path) -> None:
    whole = finetune(config_of(tmp_path, pool, output_dir=tmp_path / "whole"))
    config = config_of(tmp_path, pool)
    asked = 0

    def third() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    with pytest.raises(Cancelled, match="step 2"):
        finetune(config, should_stop=third)
    assert not (config.output_dir / CARD).exists()
    result = finetune(config)
    assert result.losses == whole.losses
    one, two = (load_generator(str(r.model_dir))[0].state_dict() for r in (whole, result))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert finetune(config).losses == whole.losses  # only read


def test_a_directory_of_other_settings_is_refused(tmp_path: Path, pool: Path) -> None:
    finetune(config_of(tmp_path, pool))
    with pytest.raises(RecipeError, match="another output directory"):
        finetune(config_of(tmp_path, pool, seed=1))


def test_problems_of_the_test_split_are_refused(tmp_path: Path, pool: Path) -> None:
    with pytest.raises(LeakError):
        finetune(config_of(tmp_path, pool, refuse_problems=frozenset({problem_key("Add one to 3.")})))


def test_long_solutions_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "pool.jsonl", [line(1), line(2, steps=["very long"] * 90)])
    assert finetune(config_of(tmp_path, path)).card["counts"] == {"too long": 1, "used": 1}
    with pytest.raises(DataError, match="max_length"):
        finetune(config_of(tmp_path, path, max_length=16, output_dir=tmp_path / "o"))


@pytest.mark.parametrize("values", [{"data": ()}, {"keep": "some"}, {"splitter": "none"}, {"max_length": 2}])
def test_settings_check_themselves(tmp_path: Path, pool: Path, values: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        config_of(tmp_path, pool, **values)


def test_the_command_tunes(tmp_path: Path, pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["finetune", str(pool), "--output", str(tmp_path / "g"), "--max-length", "128"]
    sizes = ["--vocab-size", "300", "--layers", "1", "--width", "32", "--heads", "2", "--feed-forward", "64"]
    assert main([*command, *sizes]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["counts"]["used"] == 24
    assert (tmp_path / "g" / CARD).exists()
    assert main([*command, *sizes, "--keep", "all"]) == 1
    assert "another output directory" in capsys.readouterr().err
