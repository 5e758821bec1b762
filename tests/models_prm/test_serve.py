"""Serving step scores: equal to direct ones, batches shared, limits kept, a clean end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from models_prm.fakes import FakeScorer
from models_prm.interfaces import StepScorer
from models_prm.records import ScoringItem, StepScores
from models_prm.scoring import PrmScorer
from models_prm.serve.batching import Batcher, BusyError
from models_prm.serve.requests import Limits
from models_prm.serve.server import ScoreServer
from tests.models_prm.prm_make import random_prm

CHECKOUT = Path(__file__).resolve().parents[2]


@contextmanager
def served(
    scorer: StepScorer, *, max_batch: int = 64, max_wait: float = 0.05, max_queue: int = 100, **limits: int
) -> Iterator[ScoreServer]:
    batcher = Batcher(scorer, max_tokens=2048, max_batch=max_batch, max_wait=max_wait, max_queue=max_queue)
    server = ScoreServer(("127.0.0.1", 0), batcher, Limits(**limits))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


def ask(
    url: str, body: Any = None, path: str = "/score", method: str | None = None
) -> tuple[int, dict[str, Any], dict[str, str]]:
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, method=method)  # noqa: S310 - our own server
    try:
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
            return response.status, json.load(response), dict(response.headers)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), dict(error.headers)


def solution(i: int) -> dict[str, Any]:
    return {
        "problem": f"How many pens has Ada on day {i % 3}?",
        "steps": [f"{i} + 1", f"so {i + 1}", "done"][: i % 3 + 1],
    }


def test_concurrent_answers_equal_direct_scores_and_share_batches() -> None:
    scorer = PrmScorer(random_prm())
    with served(scorer, max_wait=0.3) as server, ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda i: ask(server.url, solution(i)), range(24)))
        _, health, _ = ask(server.url, path="/health")
    direct = list(
        scorer.score(
            [ScoringItem(str(i), s["problem"], tuple(s["steps"])) for i in range(24) for s in [solution(i)]]
        )
    )
    for (status, answer, _), expected in zip(answers, direct, strict=True):
        assert status == 200
        (result,) = answer["results"]
        for found, probs in zip(result["steps"], expected.probs, strict=True):
            assert [found["probs"][c] for c in ("-1", "0", "1")] == pytest.approx(probs, abs=1e-5)
            assert found["score"] == pytest.approx(1 - probs[0], abs=1e-5)
        assert 0 < result["score"] < 1
    assert [health["requests"], health["solutions"]] == [24, 24]
    assert health["batches"] <= 12
    assert health["status"] == "ok"


def test_several_solutions_in_one_request_keep_their_keys_and_the_chosen_method() -> None:
    items = [{"key": "x", "problem": "q", "steps": ["a", "b"]}, {"key": "x", "problem": "q", "steps": ["c"]}]
    with served(FakeScorer()) as server:
        status, answer, _ = ask(server.url, {"items": items, "method": "minimum", "neutral": "bad"})
    assert status == 200
    assert [r["key"] for r in answer["results"]] == ["x", "x"]
    for result in answer["results"]:
        assert result["score"] == min(step["score"] for step in result["steps"])
        assert all(step["score"] == step["probs"]["1"] for step in result["steps"])


GOOD = {"problem": "q", "steps": ["a"]}
REFUSED: dict[str, tuple[Any, int, str]] = {
    "no JSON": (b"{", 400, ""),
    "no object": ([], 400, ""),
    "no problem": ({"steps": ["a"]}, 422, "problem"),
    "blank problem": ({"problem": " ", "steps": ["a"]}, 422, "problem"),
    "no steps": ({"problem": "q", "steps": []}, 422, "steps"),
    "too many steps": ({"problem": "q", "steps": ["a"] * 6}, 422, "steps"),
    "a step that is no text": ({"problem": "q", "steps": ["a", 1]}, 422, "steps[1]"),
    "unknown field": ({**GOOD, "stpes": []}, 422, "stpes"),
    "unknown method": ({**GOOD, "method": "median"}, 422, "method"),
    "unknown neutral": ({**GOOD, "neutral": "so so"}, 422, "neutral"),
    "no items": ({"items": []}, 422, "items"),
    "too many items": ({"items": [GOOD] * 4}, 422, "items"),
    "bad item": ({"items": [GOOD, {"problem": "q", "steps": "a"}]}, 422, "items[1].steps"),
    "item that is no object": ({"items": ["a"]}, 422, "items[0]"),
    "field beside items": ({"items": [GOOD], "problem": "q"}, 422, "problem"),
    "key that is no text": ({**GOOD, "key": 1}, 422, "key"),
    "too large": ({"problem": "q" * 3000, "steps": ["a"]}, 413, ""),
}


@pytest.fixture(scope="module")
def small() -> Iterator[ScoreServer]:
    with served(FakeScorer(), max_wait=0.0, body=2000, items=3, steps=5) as server:
        yield server


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_request_is_refused_by_name(small: ScoreServer, name: str) -> None:
    body, status, field = REFUSED[name]
    found, answer, _ = ask(small.url, body)
    assert (found, answer["error"]["field"]) == (status, field)
    assert answer["error"]["message"]


def test_wrong_paths_and_methods_are_refused(small: ScoreServer) -> None:
    assert ask(small.url, GOOD, path="/scores")[0] == 404
    status, _, headers = ask(small.url, path="/score")
    assert (status, headers["Allow"]) == (405, "POST")
    assert ask(small.url, GOOD, path="/health")[0] == 405
    assert ask(small.url, GOOD, method="PUT")[0] == 405
    assert ask(small.url, GOOD)[0] == 200


def raw(server: ScoreServer, text: bytes) -> bytes:
    host, port = server.server_address[:2]
    with socket.create_connection((str(host), int(port)), timeout=10) as client:
        client.sendall(text)
        client.shutdown(socket.SHUT_WR)
        parts = []
        while part := client.recv(65536):
            parts.append(part)
    return b"".join(parts)


def test_a_body_without_length_or_cut_short_is_refused(small: ScoreServer) -> None:
    assert raw(small, b"POST /score HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 411")
    short = raw(small, b"POST /score HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n{}")
    assert short.startswith(b"HTTP/1.1 400")


class Held:
    """A scorer that waits until it is let go, and refuses a solution with the step "poison"."""

    name = "held"

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = threading.Event()
        self.rounds: list[int] = []

    def score(self, items: Iterable[ScoringItem], **_: Any) -> Iterator[StepScores]:
        self.begun.set()
        assert self.go.wait(20)
        items = list(items)
        self.rounds.append(len(items))
        if any("poison" in item.steps for item in items):
            raise RuntimeError("poison")
        yield from FakeScorer().score(items)


def in_thread(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    return thread, found


def test_a_full_queue_says_when_to_come_back() -> None:
    held = Held()
    with served(held, max_wait=0.0, max_queue=2) as server:
        first, one = in_thread(lambda: ask(server.url, GOOD))
        assert held.begun.wait(10)
        second, two = in_thread(lambda: ask(server.url, {"items": [GOOD, GOOD]}))
        while server.batcher.waiting < 2:
            threading.Event().wait(0.01)
        status, answer, headers = ask(server.url, GOOD)
        held.go.set()
        first.join()
        second.join()
    assert status == 503
    assert int(headers["Retry-After"]) >= 1
    assert "2 solutions are waiting" in answer["error"]["message"]
    assert [one[0][0], two[0][0]] == [200, 200]


def test_a_request_that_cannot_be_scored_does_not_take_its_neighbours_with_it() -> None:
    held = Held()
    held.go.set()
    bodies = [GOOD, {"problem": "q", "steps": ["poison"]}, GOOD]
    with served(held, max_wait=1.0, max_batch=3) as server, ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda body: ask(server.url, body), bodies))
    assert [status for status, _, _ in answers] == [200, 500, 200]
    assert held.rounds == [3, 1, 1, 1]


def test_stopping_answers_what_was_accepted_and_takes_nothing_more() -> None:
    held = Held()
    batcher = Batcher(held, max_tokens=10, max_batch=1, max_wait=0.0, max_queue=10)
    futures = [batcher.submit([ScoringItem("k", "q", ("a",))]) for _ in range(3)]
    closing = threading.Thread(target=batcher.close)
    closing.start()
    while not batcher._stopping:
        threading.Event().wait(0.01)
    with pytest.raises(BusyError, match="stopping"):
        batcher.submit([ScoringItem("k", "q", ("a",))])
    held.go.set()
    closing.join()
    assert [len(f.result(1)) for f in futures] == [1, 1, 1]
    assert not batcher.alive


def test_too_many_connections_are_turned_away() -> None:
    with served(FakeScorer()) as server:
        for _ in range(256):
            assert server._room.acquire(blocking=False)
        status, _, headers = ask(server.url, path="/health")
        for _ in range(256):
            server._room.release()
        assert (status, headers["Retry-After"]) == (503, "1")
        assert ask(server.url, path="/health")[0] == 200


@pytest.mark.slow
def test_the_command_serves_until_it_is_asked_to_end(tmp_path: Path) -> None:
    random_prm().save(tmp_path)
    command = [sys.executable, "-m", "models_prm", "serve", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split(" at ")[1].strip()
        assert ask(url, GOOD)[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
