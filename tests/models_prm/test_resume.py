"""A run that was cancelled, crashed or killed ends as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from models_prm.config import Stage, TrainConfig
from models_prm.errors import Cancelled, RecipeError
from models_prm.prm import Prm
from models_prm.records import Progress
from models_prm.train import TrainResult, train_prm
from models_prm.training.checkpoint import FILE, load_checkpoint, save_checkpoint, write_atomic
from tests.models_prm.prm_make import small_config, sums_file

CHECKOUT = Path(__file__).resolve().parents[2]


def weights(result: TrainResult) -> dict[str, torch.Tensor]:
    return load_file(result.model_dir / "model.safetensors")


def assert_same(one: TrainResult, two: TrainResult) -> None:
    assert one.losses == two.losses
    assert one.metrics == two.metrics
    first, second = weights(one), weights(two)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[key], second[key]) for key in first)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainConfig, TrainResult]:
    folder = tmp_path_factory.mktemp("unbroken")
    config = small_config(folder, sums_file(folder), evaluate_every=5, keep_best=True)
    return config, train_prm(config)


@pytest.mark.parametrize("stop_at", [0, 2, 4, 9, 15])
def test_a_cancelled_run_goes_on_to_the_same_weights(
    tmp_path: Path, unbroken: tuple[TrainConfig, TrainResult], stop_at: int
) -> None:
    """Steps 0 to 3 are the warm-up stage, 4 to 15 the training stage."""
    config = small_config(tmp_path, unbroken[0].data[0], evaluate_every=5, keep_best=True)
    asked = iter(range(1000))
    with pytest.raises(Cancelled):
        train_prm(config, should_stop=lambda: next(asked) == stop_at)
    result = train_prm(config)
    assert result.resumed_at == (stop_at if stop_at < 4 else stop_at - 4)
    assert_same(result, unbroken[1])


def test_many_crashes_in_a_row_change_nothing(
    tmp_path: Path, unbroken: tuple[TrainConfig, TrainResult]
) -> None:
    config = small_config(tmp_path, unbroken[0].data[0], evaluate_every=5, keep_best=True, checkpoint_steps=1)
    crashes = 0

    def crash(progress: Progress) -> None:
        nonlocal crashes
        if progress.stage in ("pretrain", "train") and progress.done % 3 == 2 and crashes < progress.done:
            crashes = progress.done
            raise KeyboardInterrupt

    for _ in range(30):
        try:
            result = train_prm(config, on_progress=crash)
            break
        except KeyboardInterrupt:
            continue
    assert crashes == 11
    assert_same(result, unbroken[1])


def save_half(prm: Prm, directory: Path) -> None:
    prm.lm.save_pretrained(directory)
    raise OSError("disk full")


def test_a_crash_while_saving_the_model_is_repaired(
    tmp_path: Path, unbroken: tuple[TrainConfig, TrainResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small_config(tmp_path, unbroken[0].data[0], evaluate_every=5, keep_best=True)
    with monkeypatch.context() as patch:
        patch.setattr(Prm, "save", save_half)
        with pytest.raises(OSError, match="disk full"):
            train_prm(config)
    assert (config.output_dir / FILE).exists()
    assert_same(train_prm(config), unbroken[1])


def test_a_checkpoint_of_other_settings_is_refused(tmp_path: Path) -> None:
    config = small_config(tmp_path, sums_file(tmp_path))
    with pytest.raises(Cancelled):
        train_prm(config, should_stop=lambda: True)
    with pytest.raises(RecipeError, match="unfinished run with other settings"):
        train_prm(small_config(tmp_path, config.data[0], seed=9))
    config.data[0].write_text(
        config.data[0].read_text(encoding="utf-8").replace("pens", "pins"), encoding="utf-8"
    )
    with pytest.raises(RecipeError, match="unfinished run with other settings or data"):
        train_prm(config)


def test_a_half_written_checkpoint_never_replaces_a_good_one(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, {"fingerprint": "f", "step": 1})

    def torn(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomic(tmp_path / FILE, torn)
    assert load_checkpoint(tmp_path, "f") == {"fingerprint": "f", "step": 1}
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_leftovers_of_a_killed_writer_are_cleared(tmp_path: Path) -> None:
    (tmp_path / f".{FILE}.123.tmp").write_bytes(b"half")
    assert load_checkpoint(tmp_path, "f") is None
    assert list(tmp_path.iterdir()) == []


CHILD = """
import sys
from pathlib import Path
from tests.models_prm.test_resume import child_config
from models_prm.train import train_prm

def tell(progress):
    print(progress.stage, progress.done, flush=True)

train_prm(child_config(Path(sys.argv[1]), Path(sys.argv[2])), on_progress=tell)
print("finished", flush=True)
"""


def child_config(folder: Path, data: Path) -> TrainConfig:
    return small_config(
        folder,
        data,
        checkpoint_steps=1,
        pretrain=Stage(steps=5, batch_tokens=512),
        train=Stage(steps=40, batch_tokens=512),
    )


def start(folder: Path, data: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(data)],
        cwd=CHECKOUT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_after(child: subprocess.Popen[str], line: str, pause: float) -> None:
    assert child.stdout is not None
    for printed in child.stdout:
        if printed.strip() == line:
            break
    time.sleep(pause)
    child.send_signal(signal.SIGKILL)
    child.stdout.read()
    assert child.wait(timeout=60) == -signal.SIGKILL


@pytest.mark.slow
def test_kill_9_in_the_middle_of_training_costs_nothing_but_time(tmp_path: Path) -> None:
    data = sums_file(tmp_path)
    broken = tmp_path / "broken"
    broken.mkdir()
    for line, pause in (("pretrain 2", 0.0), ("train 3", 0.013), ("train 17", 0.005)):
        kill_after(start(broken, data), line, pause)
        assert not (broken / "model" / "stepmark_prm.json").exists()
    last = start(broken, data)
    output, _ = last.communicate(timeout=240)
    assert last.returncode == 0
    lines = output.split("\n")
    assert "pretrain 1" not in lines
    assert "train 16" not in lines
    assert "finished" in lines
    whole = tmp_path / "whole"
    whole.mkdir()
    assert_same(train_prm(child_config(broken, data)), train_prm(child_config(whole, data)))
