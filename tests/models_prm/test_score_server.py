"""Asking a reward model's server for scores, against a small server of our own that can send anything."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from models_prm.interfaces import StepScorer
from models_prm.public.base import Encoded
from models_prm.public.server import ScoreServerError, ServerScorer
from models_prm.records import ScoringItem, StepScores

Answer = Callable[[list[int]], Any]


class Letters:
    """An adapter without a model: a token per letter, a mark (0) after each step."""

    name = "letters"

    def encode(self, problem: str, steps: Any) -> Encoded:
        ids, reads = [ord(c) for c in problem], []
        for step in steps:
            ids += [*(ord(c) for c in step), 0]
            reads.append(len(ids) - 1)
        return Encoded(ids, reads)


@dataclass
class Fake:
    """What the server is asked, and the statuses it sends before its first answer."""

    answer: Answer
    statuses: list[int] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def serving(fake: Fake) -> Iterator[ServerScorer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.asked.append({"path": self.path, **body})
            status = fake.statuses.pop(0) if fake.statuses else 200
            data = json.dumps(fake.answer(body["input"])).encode()
            self.send_response(status)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield ServerScorer(
            f"http://127.0.0.1:{server.server_port}/", Letters(), model="prm", pause=0.01, timeout=5.0
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def pooled(rows: Any) -> dict[str, Any]:
    return {"data": [{"index": 0, "object": "pooling", "data": rows}]}


def right(ids: list[int]) -> Any:
    """For each mark, what came before it decides."""
    good = [(sum(ids[:i]) % 97 + 1) / 100 for i, token in enumerate(ids) if token == 0]
    return pooled([[1 - g, g] for g in good])


ITEMS = [ScoringItem(f"k{i}", f"q{i}", tuple("abc"[: i % 4])) for i in range(20)]


def test_scores_come_in_order_for_every_step() -> None:
    fake = Fake(right)
    with serving(fake) as scorer:
        assert isinstance(scorer, StepScorer)
        results = list(scorer.score(ITEMS))
    assert [(r.key, len(r.probs)) for r in results] == [(i.key, len(i.steps)) for i in ITEMS]
    for item, result in zip(ITEMS, results, strict=True):
        if item.steps:
            wanted = right(Letters().encode(item.problem, item.steps).ids)["data"][0]["data"]
            assert [[p[0], p[2]] for p in result.probs] == wanted
    assert {(a["path"], a["model"]) for a in fake.asked} == {("/pooling", "prm")}
    assert len(fake.asked) == 15


WRONG: dict[str, tuple[Answer, str]] = {
    "empty": (lambda ids: pooled([]), "empty result for 2 steps"),
    "no entry": (lambda ids: {"data": []}, "empty result for 2 steps"),
    "one vector per token": (
        lambda ids: pooled([[0.5, 0.5]] * len(ids)),
        r"one vector per token \(\d+\) for 2",
    ),
    "hidden states": (lambda ids: pooled([[0.1] * 64] * 2), "vectors of 64 numbers .* hidden states"),
    "hidden states cut to two": (lambda ids: pooled([[1.7, -3.2]] * 2), "no probabilities"),
    "one score too many": (lambda ids: pooled([[0.5, 0.5]] * 3), "3 scores for 2 steps, 1 too many"),
    "one score too few": (lambda ids: pooled([[0.5, 0.5]]), "1 scores for 2 steps, 1 too few"),
    "not a number": (lambda ids: pooled([["a", "b"]] * 2), "something other than one vector of numbers"),
    "another endpoint": (lambda ids: {"choices": []}, "no data"),
}


@pytest.mark.parametrize("name", WRONG)
def test_anything_but_one_score_per_step_is_named_and_refused(name: str) -> None:
    answer, message = WRONG[name]
    stored: list[StepScores] = []
    with serving(Fake(answer)) as scorer, pytest.raises(ScoreServerError, match=message):
        stored.extend(scorer.score([ScoringItem("k", "problem", ("a", "b"))]))
    assert stored == []


def test_a_busy_server_is_asked_again_and_a_broken_one_is_not() -> None:
    fake = Fake(right, [503, 429])
    with serving(fake) as scorer:
        assert len(list(scorer.score(ITEMS[1:2]))) == 1
    assert len(fake.asked) == 3
    fake = Fake(right, [400])
    with serving(fake) as scorer, pytest.raises(ScoreServerError, match="HTTP 400"):
        list(scorer.score(ITEMS[1:2]))
    assert len(fake.asked) == 1


def test_a_server_that_is_not_there_is_named() -> None:
    with serving(Fake(right)) as scorer:
        pass
    with pytest.raises(ScoreServerError, match="no answer that can be read"):
        list(scorer.score(ITEMS[1:2]))
