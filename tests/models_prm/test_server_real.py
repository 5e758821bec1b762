"""The client against a server that is not ours: `transformers serve` with a tiny model made on the spot."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from models_prm.sampling.local import LocalSampler
from models_prm.sampling.pool import PoolConfig, PoolProblem, write_pool
from models_prm.sampling.proposer import SamplerProposer
from models_prm.sampling.records import SampleRequest
from models_prm.sampling.server import ServerSampler
from tests.models_prm.sampling_make import PROMPTS, requests, save_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(find_spec, ("fastapi", "uvicorn", "openai"))),
        reason="needs what `transformers serve` needs: pip install fastapi uvicorn openai",
    ),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = save_model(tmp_path_factory.mktemp("served") / "tiny", seed=3, peaked=0.25)
    port = free_port()
    said = folder.parent / "said.txt"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    code = "from transformers.cli.transformers import main; main()"
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    with said.open("wb") as file:
        server = subprocess.Popen(
            [sys.executable, "-c", code, "serve", str(folder), *options],
            stdout=file,
            stderr=file,
            env=environment,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        ends = time.monotonic() + 120
        while not alive(url):
            assert server.poll() is None, said.read_text()[-2000:]
            assert time.monotonic() < ends, said.read_text()[-2000:]
            time.sleep(0.2)
        yield url, folder
    finally:
        server.kill()
        server.wait()


def alive(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5):  # noqa: S310 - our own server
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def test_greedy_samples_are_the_local_samplers(served: tuple[str, Path]) -> None:
    url, folder = served
    local = LocalSampler.load(folder)
    there = ServerSampler(url, str(folder), concurrency=1)
    for prompt in PROMPTS:
        request = [SampleRequest("a", prompt)]
        [here] = local.sample(request, max_tokens=12, temperature=0)
        [remote] = there.sample(request, max_tokens=12, temperature=0)
        assert remote.text == here.text
        # This server says "length" also where the end token came as the last allowed one.
        assert remote.finish == here.finish or here.tokens == 12


def test_a_pool_is_filled_and_each_sample_has_a_seed(served: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = served
    sampler = ServerSampler(url, str(folder), concurrency=2, per_request=3)  # it ignores `n`
    problems = [PoolProblem("a", "Ada has 3 pens."), PoolProblem("b", "Ada has 3 pens.")]
    result = write_pool(tmp_path / "pool.jsonl", problems, sampler, PoolConfig(n=3, max_tokens=8))
    assert (result.samples, result.added) == (6, 6)
    again = list(ServerSampler(url, str(folder), concurrency=1).sample(requests(PROMPTS, 2), max_tokens=8))
    assert len({s.text for s in again}) > 1


def test_it_proposes_steps(served: tuple[str, Path]) -> None:
    url, folder = served
    proposer = SamplerProposer(ServerSampler(url, str(folder), concurrency=1), max_step_tokens=8)
    [group] = proposer.propose([("Ada has 3 pens.", ("3 + 3 = 6",))], 3, 0)
    assert len(group) == 3
    assert all(0 < p.tokens <= 8 for p in group)
