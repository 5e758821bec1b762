"""Adapters: what is trained, what stays frozen, what is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from models_prm.config import Lora, Stage, TrainConfig
from models_prm.errors import Cancelled, ModelError
from models_prm.prm import load_base
from models_prm.records import ScoringItem
from models_prm.scoring import PrmScorer
from models_prm.train import train_prm
from tests.models_prm.prm_make import small_config, sums_file
from tests.models_prm.test_prm import foreign_base
from tests.models_prm.test_resume import assert_same

pytest.importorskip("peft")


def lora_config(folder: Path, architecture: str = "qwen2", **changes: Any) -> TrainConfig:
    base = folder / f"base-{architecture}"
    if not base.exists():
        foreign_base(base, architecture)
    settings: dict[str, Any] = {
        "base": str(base),
        "lora": Lora(rank=4),
        "pretrain": Stage(epochs=0),
        "train": Stage(steps=8, lr=1e-2, batch_tokens=512),
    }
    return small_config(folder, sums_file(folder, 16), **{**settings, **changes})


@pytest.mark.parametrize("architecture", ["qwen2", "llama"])
@pytest.mark.parametrize("design", ["label", "head"])
def test_only_adapters_marks_and_head_change(tmp_path: Path, architecture: str, design: str) -> None:
    """The saved model is a whole one without adapters; of its embeddings only the rows of our tokens are
    new."""
    config = lora_config(tmp_path, architecture, design=design)
    result = train_prm(config)
    torch.manual_seed(0)
    before = load_base(config.base)[0].state_dict()
    after = load_file(result.model_dir / "model.safetensors")
    assert not [name for name in after if "lora" in name]
    embedding = "model.embed_tokens.weight"
    old = len(before[embedding]) - 6
    assert torch.equal(after[embedding][:old], before[embedding][:old])
    assert torch.equal(after["model.norm.weight"], before["model.norm.weight"])
    query = "model.layers.0.self_attn.q_proj.weight"
    change = after[query] - before[query]
    assert 0 < torch.linalg.matrix_rank(change, atol=1e-6) <= 4
    (scores,) = PrmScorer.load(result.model_dir).score([ScoringItem("k", "How many?", ("3 + 4 = 7",))])
    assert len(scores.probs) == 1


def test_the_merged_model_has_the_numbers_of_the_adapted_one(tmp_path: Path) -> None:
    """The last watched loss is measured with adapters and loose rows, the final one after merging."""
    result = train_prm(lora_config(tmp_path, evaluate_every=8))
    import json

    lines = (result.model_dir / "train_log.jsonl").read_text(encoding="utf-8").splitlines()
    watched = [json.loads(line) for line in lines if '"held_out"' in line]
    assert watched[-1]["loss"] == pytest.approx(result.metrics["loss"], rel=1e-4)


def test_the_labels_are_learned_with_frozen_embeddings(tmp_path: Path) -> None:
    result = train_prm(lora_config(tmp_path, train=Stage(steps=30, lr=2e-2, batch_tokens=1024)))
    assert sum(result.losses[-5:]) / 5 < result.losses[0] * 0.8


def test_a_stopped_run_with_adapters_ends_like_an_unbroken_one(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"lora": Lora(rank=2, dropout=0.1), "evaluate_every": 2, "keep_best": True}
    whole = train_prm(lora_config(tmp_path, output_dir=tmp_path / "whole", **settings))
    broken = lora_config(tmp_path, output_dir=tmp_path / "broken", **settings)
    asked = iter(range(100))
    with pytest.raises(Cancelled):
        train_prm(broken, should_stop=lambda: next(asked) == 5)
    state = torch.load(tmp_path / "broken" / "checkpoint.pt", weights_only=True)
    assert not [name for name in state["model"] if "lora" not in name and not name.startswith("stepmark.")]
    result = train_prm(broken)
    assert result.resumed_at == 5
    assert_same(result, whole)


def test_layers_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="lora.targets 'wrong_proj'"):
        train_prm(lora_config(tmp_path, lora=Lora(rank=2, targets="wrong_proj")))
    assert Lora(rank=1, targets="q_proj, v_proj").target_modules == ["q_proj", "v_proj"]


def test_bfloat16_base_with_adapters_in_float32(tmp_path: Path) -> None:
    result = train_prm(lora_config(tmp_path, dtype="bfloat16"))
    assert load_file(result.model_dir / "model.safetensors")["model.norm.weight"].dtype is torch.bfloat16
    assert result.losses[-1] < result.losses[0]
