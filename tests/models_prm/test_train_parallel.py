"""A step that is cut into parts, over time or over processes, is the step that one large batch would have
been."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from models_prm.config import Stage
from models_prm.train import LOG, train_prm
from models_prm.training.distributed import Group, current
from tests.models_prm.prm_make import small_config, sums_file
from tests.models_prm.test_resume import CHECKOUT

RECIPE = """
max_length = 128
pack_tokens = 128
held_out_fraction = 0.2
threads = 1
{more}
[model]
vocab_size = 300
layers = 2
width = 32
heads = 2
feed_forward = 64
[pretrain]
steps = 2
lr = 3e-3
batch_tokens = 512
[train]
steps = 5
lr = 3e-3
batch_tokens = 512
lm_weight = 0.1
"""


def assert_close(one: Path, two: Path, tolerance: float) -> None:
    """Losses of every step, and weights at the end."""
    logs = [
        [json.loads(line) for line in (folder / LOG).read_text(encoding="utf-8").splitlines()]
        for folder in (one, two)
    ]
    assert len(logs[0]) == len(logs[1]) >= 5
    for first, second in zip(*logs, strict=True):
        assert first.pop("stage") == second.pop("stage")
        assert first == pytest.approx(second, rel=tolerance)
    weights = [load_file(folder / "model.safetensors") for folder in (one, two)]
    for key, value in weights[0].items():
        torch.testing.assert_close(value, weights[1][key], atol=30 * tolerance, rtol=0.0)


@pytest.mark.parametrize("options", [{}, {"average": "solution", "design": "head", "loss": "focal"}])
def test_accumulated_gradients_are_those_of_the_whole_step(tmp_path: Path, options: dict[str, Any]) -> None:
    """Parts have different numbers of labels: averaging their means would be wrong."""
    data = sums_file(tmp_path, 20)
    for parts in (1, 4):
        stage = Stage(steps=5, lr=3e-3, batch_tokens=512, lm_weight=0.1, accumulate=parts)
        train_prm(small_config(tmp_path, data, output_dir=tmp_path / str(parts), train=stage, **options))
    assert_close(tmp_path / "1", tmp_path / "4", 1e-5)


def command(folder: Path, recipe: Path, data: Path, *more: str) -> list[str]:
    train = [sys.executable, "-m", "models_prm", "train", "--recipe", str(recipe), "--data", str(data)]
    return [*train, "--output", str(folder), *more]


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", ["", 'design = "head"\naverage = "solution"\nevaluate_every = 2\nkeep_best = true']
)
def test_two_processes_have_the_loss_of_one(tmp_path: Path, more: str) -> None:
    data, recipe = sums_file(tmp_path, 20), tmp_path / "r.toml"
    recipe.write_text(RECIPE.format(more=more), encoding="utf-8")
    for count in (1, 2):
        done = subprocess.run(
            command(tmp_path / str(count), recipe, data, "--processes", str(count)),
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["held_out"]["ratings"] == 24
    assert_close(tmp_path / "1", tmp_path / "2", 1e-5)
    assert json.loads((tmp_path / "2" / "stepmark_prm.json").read_text(encoding="utf-8"))["processes"] == 2


def test_a_process_alone_needs_no_group() -> None:
    group = current()
    assert group == Group(0, 1)
    assert group.main
    assert group.share([1, 2, 3]) == [1, 2, 3]
    assert group.sums([1.5, 2.0]) == [1.5, 2.0]
    assert group.agree(True)
    group.wait()
    weight = torch.zeros(2, requires_grad=True)
    group.sum_gradients([weight])
    assert weight.grad is None


def test_every_item_is_in_one_share() -> None:
    shares = [Group(rank, 3).share(range(10)) for rank in range(3)]
    assert sorted(i for share in shares for i in share) == list(range(10))
