"""`score --output` after a kill: the same command goes on, and the file is the same to the byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from models_prm.cli import score
from tests.models_prm.prm_make import random_prm, write_lines

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    random_prm().save(folder)
    return folder


def pool(folder: Path, count: int) -> Path:
    lines = [
        {
            "id": i,
            "problem": f"How many pens on day {i // 10}?",
            "steps": [f"{i} + {k} pens, so we add." for k in range(3)],
        }
        for i in range(count)
    ]
    return write_lines(folder / "pool.jsonl", lines)


def partials(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.partial"))


def test_after_a_kill_the_same_command_ends_with_the_same_file(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)  # as in the process below: equal bytes need equal sums
    file = pool(tmp_path, 5000)
    whole, output = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert score.main([str(model), str(file), "--output", str(whole)]) == 0
    command = [sys.executable, "-m", "models_prm", "score", str(model), str(file), "--output", str(output)]
    process = subprocess.Popen(command, cwd=CHECKOUT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while not (found := partials(tmp_path)) or found[0].stat().st_size < 2_100_000:
        assert process.poll() is None, "it ended before it could be killed: make the pool larger"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not output.exists()
    capsys.readouterr()
    assert score.main([str(model), str(file), "--output", str(output)]) == 0
    told = capsys.readouterr().err
    assert "going on after" in told
    assert int(told.split("going on after ")[1].split()[0]) in (2048, 4096)
    assert output.read_bytes() == whole.read_bytes()
    assert partials(tmp_path) == []


def test_what_another_run_left_is_not_gone_on_with(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pool(tmp_path, 3)
    output = tmp_path / "out.jsonl"
    left = tmp_path / ".out.jsonl.0123456789abcdef.partial"
    left.write_text('{"id": "of another model"}\n' * 2048)
    assert score.main([str(model), str(file), "--output", str(output)]) == 0
    assert [json.loads(line)["id"] for line in output.read_text().splitlines()] == [0, 1, 2]
    assert not left.exists()
    assert "going on" not in capsys.readouterr().err
