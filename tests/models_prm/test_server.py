"""The server client: every sample on its own problem, patient with failures, silent about its key."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from models_prm.errors import Cancelled, SamplingError
from models_prm.interfaces import Sampler
from models_prm.sampling.records import Sample, SampleRequest
from models_prm.sampling.server import Retry, ServerSampler
from tests.models_prm.fake_server import FakeServer
from tests.models_prm.sampling_make import requests

QUICK = Retry(attempts=4, base_s=0.01, most_s=0.05)
PROBLEMS = ["What is 1 + 1?", "What is 2 + 2?", "What is 3 + 3?"]


def sampler_of(server: FakeServer, **changes: Any) -> ServerSampler:
    return ServerSampler(server.url, "tiny", **{"retry": QUICK, "timeout_s": 5.0, **changes})


def by_place(samples: list[Sample]) -> dict[tuple[str, int], Sample]:
    found = {(s.key, s.index): s for s in samples}
    assert len(found) == len(samples), "a sample came twice"
    return found


@pytest.mark.parametrize("per_request", [1, 2])
@pytest.mark.parametrize("backwards", [False, True])
def test_b10_samples_land_on_the_right_problem(per_request: int, backwards: bool) -> None:
    """prm-ecosystem B10: 3 problems, n = 2, a server that echoes and answers out of order."""
    order = {"1": 0.08, "2": 0.04, "3": 0.0}
    with FakeServer(delay=lambda body: order[body["prompt"][8]], backwards=backwards) as server:
        sampler = sampler_of(server, per_request=per_request)
        assert isinstance(sampler, Sampler)
        found = by_place(list(sampler.sample(requests(PROBLEMS, 2), max_tokens=5)))
    assert set(found) == {(str(k), i) for k in range(3) for i in range(2)}
    for (key, index), sample in found.items():
        assert sample.text.startswith(PROBLEMS[int(key)])
        if per_request == 2:
            assert sample.text.endswith(f"choice {index}")


def test_b10_two_problems_with_the_same_text_get_samples_of_their_own() -> None:
    with FakeServer() as server:
        sampler = sampler_of(server, per_request=4)
        found = by_place(list(sampler.sample(requests([PROBLEMS[0]] * 2, 2), max_tokens=5)))
        assert sorted(body.get("n", 1) for body in server.seen) == [2, 2]
    assert set(found) == {("0", 0), ("0", 1), ("1", 0), ("1", 1)}
    assert len({s.text for s in found.values()}) == 4


def test_the_request_is_a_completion_with_a_seed_of_its_own() -> None:
    with FakeServer() as server:
        list(sampler_of(server).sample(requests(PROBLEMS, 2), max_tokens=7, temperature=0.5))
        assert {body["path"] for body in server.seen} == {"/v1/completions"}
        assert len({body["seed"] for body in server.seen}) == 6
        assert {(b["model"], b["max_tokens"], b["temperature"]) for b in server.seen} == {("tiny", 7, 0.5)}
        assert all("n" not in body and "stop" not in body for body in server.seen)
    assert ServerSampler(f"{server.url}/v1/", "m")._address == f"{server.url}/v1/completions"


@pytest.mark.parametrize("allows_n", ["ignored", "refused"])
def test_a_server_without_n_is_asked_one_by_one(allows_n: str) -> None:
    with FakeServer(allows_n=allows_n) as server:
        found = by_place(list(sampler_of(server, per_request=3).sample(requests(PROBLEMS, 3), max_tokens=5)))
        assert len(found) == 9
        assert len({s.text for s in found.values()}) == 9
        assert len([b for b in server.seen if "n" not in b]) >= 6


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "length"), (None, "length")],
)
def test_only_stop_is_finished(reason: str | None, finish: str) -> None:
    choice = {"text": "x", "index": 0, "finish_reason": reason, "stop_reason": None}
    with FakeServer(answer=lambda body, i: choice) as server:
        [sample] = sampler_of(server).sample([SampleRequest("a", "p")], max_tokens=5)
    assert sample.finish == finish


@pytest.mark.parametrize(
    ("logprobs", "total"),
    [
        (None, None),
        ({"token_logprobs": [-0.5, -1.0]}, -1.5),
        ({"token_logprobs": [None, -1.0]}, None),
        ({"token_logprobs": []}, None),
        ({"content": [{"token": "x", "logprob": -1.0}]}, None),
    ],
)
def test_log_probabilities_are_taken_where_they_are_told_and_never_guessed(
    logprobs: Any, total: float | None
) -> None:
    """Their shape differs from server to server (prm-ecosystem 1.4)."""
    choice = {"text": "x", "index": 0, "finish_reason": "stop", "logprobs": logprobs}
    with FakeServer(answer=lambda body, i: choice) as server:
        [sample] = sampler_of(server).sample([SampleRequest("a", "p")], max_tokens=5)
    assert sample.logprob == total


def test_stop_strings_cut_here_unless_the_server_says_which_one_it_was() -> None:
    def long(body: dict[str, Any], index: int) -> dict[str, Any]:
        if "stop" in body:
            return {"text": "one", "index": 0, "finish_reason": "stop", "stop_reason": "\n"}
        return {"text": "one\ntwo", "index": 0, "finish_reason": "length"}

    request = [SampleRequest("a", "p")]
    with FakeServer(answer=long) as server:
        [cut] = sampler_of(server).sample(request, max_tokens=5, stop=["\n"])
        [told] = sampler_of(server, reports_stop=True).sample(request, max_tokens=5, stop=["\n"])
        assert [("stop" in body) for body in server.seen] == [False, True]
    for sample in (cut, told):
        assert (sample.text, sample.finish, sample.stopped_by) == ("one", "stop", "\n")


@pytest.mark.parametrize("failure", [429, 500, 503, 0])
def test_what_passes_is_tried_again(failure: int) -> None:
    with FakeServer(failures=[failure, failure]) as server:
        found = by_place(list(sampler_of(server, concurrency=1).sample(requests(PROBLEMS, 1), max_tokens=5)))
        assert len(server.seen) == 5
    assert len(found) == 3


def test_a_slow_answer_is_tried_again() -> None:
    waits = [1.0]
    with FakeServer(delay=lambda body: waits.pop() if waits else 0.0) as server:
        sampler = sampler_of(server, timeout_s=0.3)
        assert list(sampler.sample([SampleRequest("a", "p")], max_tokens=5))
        assert len(server.seen) == 2


def test_it_gives_up_after_the_last_attempt_and_says_so() -> None:
    with FakeServer(failures=[503] * 9) as server:
        with pytest.raises(SamplingError, match="after 4 attempts .*503"):
            list(sampler_of(server).sample([SampleRequest("a", "p")], max_tokens=5))
        assert len(server.seen) == 4


def test_retry_after_is_obeyed_up_to_the_limit() -> None:
    sampler = ServerSampler("http://localhost:1", "m", retry=Retry(base_s=0.1, most_s=3.0))
    assert sampler._pause(0, "2") == 2.0
    assert sampler._pause(0, "9000") == 3.0
    assert 0.05 <= sampler._pause(0, None) <= 0.1
    assert 1.5 <= sampler._pause(12, None) <= 3.0


def test_a_refusal_is_no_matter_of_patience() -> None:
    with FakeServer(failures=[404]) as server:
        with pytest.raises(SamplingError, match="404"):
            list(sampler_of(server).sample([SampleRequest("a", "p")], max_tokens=5))
        assert len(server.seen) == 1


def test_the_key_goes_into_the_header_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("STEPMARK_API_KEY", "key-from-environment")
    with FakeServer(failures=[401]) as server:
        sampler = sampler_of(server)
        with pytest.raises(SamplingError) as error:  # the server repeats the key in its message
            list(sampler.sample([SampleRequest("a", "p")], max_tokens=5))
        list(sampler_of(server, api_key="key-given").sample([SampleRequest("a", "p")], max_tokens=5))
        assert [h["Authorization"] for h in server.headers] == [
            "Bearer key-from-environment",
            "Bearer key-given",
        ]
    said = f"{error.value} {sampler!r} {caplog.text} {capsys.readouterr()}"
    assert "401" in said
    assert "key-from" not in said
    assert "key-given" not in repr(sampler_of(server, api_key="key-given"))


def test_no_more_requests_fly_than_allowed_and_they_do_fly_together() -> None:
    with FakeServer(delay=lambda body: 0.03) as server:
        list(sampler_of(server, concurrency=3).sample(requests(PROBLEMS, 4), max_tokens=5))
        assert server.most == 3


def test_requests_are_read_as_answers_come_in() -> None:
    taken = 0

    def endless() -> Any:
        nonlocal taken
        while True:
            taken += 1
            yield SampleRequest(str(taken), "p", seed=taken)

    with FakeServer() as server:
        stream = sampler_of(server, concurrency=2).sample(endless(), max_tokens=5)
        for _ in range(10):
            next(stream)
        stream.close()  # type: ignore[attr-defined]
    assert taken < 20


def test_a_stop_request_ends_between_answers() -> None:
    stop = threading.Event()
    with FakeServer() as server:
        found: list[Sample] = []
        stream = sampler_of(server, concurrency=1).sample(
            requests(PROBLEMS, 9), max_tokens=5, should_stop=stop.is_set
        )

        def read_on() -> None:
            for sample in stream:
                found.append(sample)
                stop.set()

        with pytest.raises(Cancelled):
            read_on()
    assert 1 <= len(found) < 5


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"index": 0}]}'])
def test_an_answer_that_is_none_is_named(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as server:
        monkeypatch.setattr(server, "_send", lambda http, status, _: _raw(http, content))
        with pytest.raises(SamplingError, match="is this a"):
            list(sampler_of(server).sample([SampleRequest("a", "p")], max_tokens=5))


def _raw(http: Any, content: bytes) -> None:
    http.send_response(200)
    http.send_header("Content-Length", str(len(content)))
    http.end_headers()
    http.wfile.write(content)


def test_tokens_of_several_choices_add_up_to_what_the_server_counted() -> None:
    def answer(body: dict[str, Any], index: int) -> dict[str, Any]:
        return {"text": "word " * (index + 1), "index": index, "finish_reason": "stop"}

    with FakeServer(answer=answer) as server:
        samples = list(sampler_of(server, per_request=4).sample(requests(["p"], 4), max_tokens=5))
    assert sum(s.tokens for s in samples) == 10
    assert [s.tokens for s in sorted(samples, key=lambda s: s.index)] == [1, 2, 3, 4]


@pytest.mark.parametrize("url", ["localhost:8000", "file:///etc", "ftp://x"])
def test_an_address_is_checked_at_once(url: str) -> None:
    with pytest.raises(SamplingError, match="http://"):
        ServerSampler(url, "m")


def test_the_client_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    code = "import sys, models_prm.sampling.server, models_prm.search; "
    code += "print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.split() == ["False", "False"]
