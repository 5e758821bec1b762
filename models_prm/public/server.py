"""A process reward model behind an HTTP server with vLLM's pooling endpoint.

    scorer = ServerScorer("http://localhost:8000", adapter, model="Qwen/Qwen2.5-Math-PRM-7B")

The server gets token ids made here by the model family's adapter (only its tokenizer is needed), so it is
known how many scores must come back. POST /pooling with {"model", "input": ids}; the answer's data[0].data
is one vector of class probabilities per step (pooling type STEP, softmax on). What servers have been seen
to send instead is named and refused, and nothing of it is kept: nothing at all (vllm#19956), a vector for
every token, hidden states or other wide vectors (vllm#16545), a score too many.
"""

from __future__ import annotations

import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, Protocol

from models_prm.errors import PrmError
from models_prm.records import OnProgress, Progress, ScoringItem, StepScores

BUSY = frozenset({429, 502, 503, 504})


class ScoreServerError(PrmError):
    """The server cannot be reached, or what it sent is not one score per step."""


class Encoder(Protocol):
    """What is needed of an adapter: ids and one reading position per step."""

    name: str

    def encode(self, problem: str, steps: Sequence[str]) -> Any:
        """An object with `ids` and `reads`."""
        ...


class ServerScorer:
    """A `StepScorer` that asks a server.

    `parallel` requests at once, each tried `tries` times while it is busy.
    """

    def __init__(
        self,
        url: str,
        encoder: Encoder,
        *,
        model: str,
        parallel: int = 4,
        tries: int = 5,
        timeout: float = 60.0,
        pause: float = 0.5,
    ) -> None:
        """`timeout` and `pause` (before the second try, doubled each time) in seconds."""
        if not url.startswith(("http://", "https://")):
            raise ScoreServerError(f"{url}: the address must begin with http:// or https://")
        self.url = url.rstrip("/") + "/pooling"
        self.encoder = encoder
        self.model = model
        self.parallel = parallel
        self.tries = tries
        self.timeout = timeout
        self.pause = pause

    @property
    def name(self) -> str:
        """The model's name on the server."""
        return self.model

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 8192,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[StepScores]:
        """One result per item, in order.

        Raises ScoreServerError; `batch_tokens` is the server's own business.
        """
        stream, done = iter(items), 0
        with ThreadPoolExecutor(self.parallel) as pool:
            while window := list(islice(stream, 8 * self.parallel)):
                for result in pool.map(self._one, window):
                    yield result
                    done += 1
                if on_progress is not None:
                    on_progress(Progress("score", done, max(total or 0, done), f"{done} solutions scored"))

    def _one(self, item: ScoringItem) -> StepScores:
        if not item.steps:
            return StepScores(item.key, ())
        encoded = self.encoder.encode(item.problem, item.steps)
        answer = self._ask({"model": self.model, "input": encoded.ids})
        rows = checked(answer, len(item.steps), len(encoded.ids))
        return StepScores(item.key, tuple(rows))

    def _ask(self, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - http(s) only
            self.url, data, {"Content-Type": "application/json"}
        )
        for number in range(self.tries):
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as response:  # noqa: S310
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code not in BUSY or number + 1 == self.tries:
                    text = error.read(200).decode("utf-8", "replace")
                    raise ScoreServerError(f"{self.url}: HTTP {error.code}: {text}") from error
                time.sleep(_wait(error.headers.get("Retry-After"), self.pause * 2**number))
            except (OSError, ValueError) as error:
                if number + 1 == self.tries:
                    raise ScoreServerError(f"{self.url}: no answer that can be read ({error})") from error
                time.sleep(self.pause * 2**number)
        raise AssertionError("the last try raises")


def _wait(told: str | None, otherwise: float) -> float:
    """Seconds to wait: what the server asks for, up to a minute."""
    try:
        return min(60.0, max(0.0, float(told))) if told else otherwise
    except ValueError:
        return otherwise


def checked(answer: Any, steps: int, tokens: int) -> list[tuple[float, float, float]]:
    """(p(-1), p(0), p(+1)) per step from a server's answer. Raises ScoreServerError naming what is wrong."""
    rows = _rows(answer)
    if not rows:
        raise ScoreServerError(f"the server sent an empty result for {steps} steps: nothing was stored")
    if len(rows) == tokens and tokens != steps:
        raise ScoreServerError(
            f"the server sent one vector per token ({tokens}) for {steps} steps: "
            "set its pooling type to STEP with the model's step tag"
        )
    widths = {len(row) for row in rows}
    if widths - {2, 3} or len(widths) != 1:
        raise ScoreServerError(
            f"the server sent vectors of {max(widths)} numbers where 2 or 3 class probabilities belong: "
            "these are hidden states or logits over the vocabulary"
        )
    if len(rows) != steps:
        more = len(rows) - steps
        wrong = f"{abs(more)} too {'many' if more > 0 else 'few'}"
        raise ScoreServerError(
            f"the server sent {len(rows)} scores for {steps} steps, {wrong}: nothing was stored"
        )
    if any(
        not (all(math.isfinite(p) and 0 <= p <= 1 for p in row) and abs(sum(row) - 1) < 1e-2) for row in rows
    ):
        raise ScoreServerError(
            "the server sent numbers that are no probabilities (each in [0, 1], sum 1): "
            "hidden states or raw logits; switch its softmax on"
        )
    return [(row[0], row[1] if len(row) == 3 else 0.0, row[-1]) for row in rows]


def _rows(answer: Any) -> list[list[float]]:
    """data[0].data as lists of numbers."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise ScoreServerError("the server's answer has no data: is this a pooling endpoint?")
    rows = data[0].get("data") if data and isinstance(data[0], dict) else []
    if not isinstance(rows, list):
        raise ScoreServerError("the server's answer has no list of vectors in data[0].data")
    if not all(isinstance(r, list) and r and all(type(x) in (int, float) for x in r) for r in rows):
        raise ScoreServerError("the server sent something other than one vector of numbers per step")
    return rows
