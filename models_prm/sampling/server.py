"""Sampling from any OpenAI-compatible server (vLLM, llama.cpp, `transformers serve`, ...), by plain HTTP.

    sampler = ServerSampler("http://localhost:8000", model="my-model")

The completions endpoint is asked with the rendered prompt (format: the public "Create completion" reference
of the OpenAI API), so that a half-written solution can be continued. An API key comes from the argument or
from the environment variable STEPMARK_API_KEY, goes into the header only, and stands in no message.
"""

from __future__ import annotations

import json
import os
import random
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from typing import Any

from models_prm.errors import Cancelled, SamplingError
from models_prm.records import OnProgress, Progress, ShouldStop
from models_prm.sampling.records import Sample, SampleRequest, first_stop

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True)
class Retry:
    """How often and how patiently a request is repeated after 429, 5xx, a time-out or a lost connection.

    The k-th wait is `base_s` * 2**k seconds, at most `most_s`, times a random share of at least a half; a
    server's Retry-After is obeyed up to `most_s`.
    """

    attempts: int = 7
    base_s: float = 0.5
    most_s: float = 60.0


@dataclass
class ServerSampler:
    """A `Sampler` over HTTP.

    `url`: the server's root or its /v1 address. `concurrency`: requests in flight. `per_request`: samples
    asked for in one request (the API's `n`), where the server allows it: one that refuses `n` or returns
    fewer is asked one by one. `reports_stop`: the server says in `stop_reason` which stop string ended a
    text (vLLM does). Others leave it open whether "stop" was the string or the end of the text, so by
    default no stop strings are sent and the text is cut here.
    """

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    concurrency: int = 8
    per_request: int = 1
    timeout_s: float = 600.0
    reports_stop: bool = False
    retry: Retry = field(default_factory=Retry)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise SamplingError(f"{self.url!r} is no address of a server: it begins with http:// or https://")
        if self.concurrency < 1 or self.per_request < 1 or self.retry.attempts < 1:
            raise SamplingError("concurrency, samples per request and attempts must be at least 1")
        root = self.url.rstrip("/")
        self._address = (root if root.endswith("/v1") else f"{root}/v1") + "/completions"
        self._key = self.api_key or os.environ.get("STEPMARK_API_KEY", "")

    @property
    def name(self) -> str:
        """The model's name at the server."""
        return self.model

    def sample(
        self,
        requests: Iterable[SampleRequest],
        *,
        max_tokens: int,
        temperature: float = 1.0,
        stop: Sequence[str] = (),
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Iterator[Sample]:
        """One sample per request, in the order in which the server answers.

        Raises SamplingError when the server refuses for good, Cancelled when `should_stop` says so. Requests
        are read as room falls free, so their number does not matter.
        """
        settings = {"model": self.model, "max_tokens": max_tokens, "temperature": temperature}
        if stop and self.reports_stop:
            settings["stop"] = list(stop)
        groups = _groups(iter(requests), self.per_request)
        flying: set[Future[list[Sample]]] = set()
        gone = threading.Event()
        done = 0
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="sampling")
        try:
            while True:
                while len(flying) < self.concurrency and (group := next(groups, None)):
                    flying.add(pool.submit(self._answer, group, settings, tuple(stop), gone))
                if not flying:
                    return
                ready, flying = wait(flying, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in ready:
                    for sample in future.result():
                        done += 1
                        yield sample
                        if on_progress is not None:
                            on_progress(Progress("sample", done, 0))
                if should_stop is not None and should_stop():
                    raise Cancelled(f"stopped after {done} samples; the same call goes on from them")
        finally:
            gone.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _answer(
        self,
        group: list[SampleRequest],
        settings: Mapping[str, Any],
        stop: tuple[str, ...],
        gone: threading.Event,
    ) -> list[Sample]:
        """Samples for requests of one prompt; those that one request does not bring are asked one by one."""
        samples: list[Sample] = []
        if len(group) > 1 and self.per_request > 1:
            try:
                samples = self._ask(group, settings, stop, gone)
            except _RefusedError as refused:
                if refused.status not in (400, 422):
                    raise
            if len(samples) < len(group):
                self.per_request = 1  # this server has no `n`
        for request in group[len(samples) :]:
            samples += self._ask([request], settings, stop, gone)
        return samples

    def _ask(
        self,
        group: list[SampleRequest],
        settings: Mapping[str, Any],
        stop: tuple[str, ...],
        gone: threading.Event,
    ) -> list[Sample]:
        body = {**settings, "prompt": group[0].prompt, "seed": group[0].seed}
        if len(group) > 1:
            body["n"] = len(group)
        answer = self._post(body, gone)
        choices = _choices(answer)[: len(group)]
        if len(group) == 1 and not choices:
            raise SamplingError(f"{self._address}: no choices in the answer: is this a completions server?")
        counts = _token_counts(answer, [str(c["text"]) for c in choices])
        return [
            _sample(replace(request, seed=group[0].seed), choice, count, stop, self.model)
            for request, choice, count in zip(group, choices, counts, strict=False)
        ]

    def _post(self, body: Mapping[str, Any], gone: threading.Event) -> Mapping[str, Any]:
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        said = ""
        for attempt in range(self.retry.attempts):
            asked_wait = None
            try:
                request = urllib.request.Request(self._address, data, headers)  # noqa: S310 - http(s) only
                with urllib.request.urlopen(request, timeout=self.timeout_s) as reply:  # noqa: S310
                    return _parsed(reply.read(), self._address)
            except urllib.error.HTTPError as error:
                said = self._said(error)
                if error.code not in RETRIED:
                    raise _RefusedError(f"{self._address}: {said}", error.code) from None
                asked_wait = error.headers.get("Retry-After")
            except (OSError, HTTPException) as error:
                said = f"{type(error).__name__}: {getattr(error, 'reason', error)}"
            if attempt + 1 < self.retry.attempts and gone.wait(self._pause(attempt, asked_wait)):
                break
        raise SamplingError(
            f"{self._address}: no answer after {self.retry.attempts} attempts ({said}): is the server "
            "running? The same command goes on from the samples there are."
        )

    def _said(self, error: urllib.error.HTTPError) -> str:
        """The status and the beginning of what the server said, the key blotted out should it stand there."""
        text = " ".join(error.read(2000).decode("utf-8", "replace").split())[:300]
        return f"HTTP {error.code} {text.replace(self._key, '***') if self._key else text}"

    def _pause(self, attempt: int, asked: str | None) -> float:
        pause: float = min(self.retry.most_s, self.retry.base_s * 2.0**attempt)
        pause *= 0.5 + random.random() / 2
        if asked is not None and asked.strip().isdigit():
            pause = max(pause, min(self.retry.most_s, float(asked)))
        return pause


class _RefusedError(SamplingError):
    """The server refused a request for good."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def _groups(requests: Iterator[SampleRequest], size: int) -> Iterator[list[SampleRequest]]:
    """Up to `size` consecutive requests for one key and prompt."""
    group: list[SampleRequest] = []
    for request in requests:
        same = group and (group[0].key, group[0].prompt) == (request.key, request.prompt)
        if group and (not same or len(group) == size):
            yield group
            group = []
        group.append(request)
    if group:
        yield group


def _parsed(data: bytes, address: str) -> Mapping[str, Any]:
    try:
        answer = json.loads(data)
    except ValueError:
        answer = None
    if not isinstance(answer, Mapping):
        raise SamplingError(f"{address}: the answer is not JSON: is this an OpenAI-compatible server?")
    return answer


def _choices(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The answer's choices with a text, by their index (servers need not keep the order)."""
    choices = answer.get("choices")
    good = (
        [c for c in choices if isinstance(c, Mapping) and isinstance(c.get("text"), str)] if choices else []
    )
    return sorted(good, key=lambda c: int(c.get("index") or 0))


def _token_counts(answer: Mapping[str, Any], texts: Sequence[str]) -> list[int]:
    """Generated tokens of each choice. A server counts them together: a sum is shared out by text length."""
    usage = answer.get("usage")
    total = int(usage.get("completion_tokens") or 0) if isinstance(usage, Mapping) else 0
    letters = [len(text) + 1 for text in texts]
    counts, before = [], 0
    for k in range(len(texts)):
        upto = round(total * sum(letters[: k + 1]) / sum(letters))
        counts.append(upto - before)
        before = upto
    return counts


def _sample(
    request: SampleRequest,
    choice: Mapping[str, Any],
    tokens: int,
    stop: tuple[str, ...],
    model: str,
) -> Sample:
    """A sample of one choice. Only the reason "stop" is an end; null, "length" and any other are none."""
    text, reason = str(choice["text"]), choice.get("finish_reason")
    stopped_by = choice.get("stop_reason")
    logprob = _logprob(choice)
    if (found := first_stop(text, stop)) is not None:
        text, reason, stopped_by = text[: found[0]], "stop", found[1]
        logprob = None  # it counted the tokens that are cut off here
    return Sample(
        request.key,
        request.index,
        text,
        "stop" if reason == "stop" else "length",
        tokens,
        logprob,
        model,
        request.seed,
        stopped_by if isinstance(stopped_by, str) else None,
    )


def _logprob(choice: Mapping[str, Any]) -> float | None:
    values = choice.get("logprobs")
    listed = values.get("token_logprobs") if isinstance(values, Mapping) else None
    if not listed or any(not isinstance(v, int | float) for v in listed):
        return None
    return float(sum(listed))
