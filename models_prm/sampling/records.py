"""What a sampler is asked for and what it gives back. Plain data; imports nothing heavy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeVar

Finish = Literal["stop", "length"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """One wanted sample: the `index`-th of `key`. `key` and `index` come back with the sample and mean
    nothing to the sampler, so that two problems with the same text never share samples. The sample is drawn
    from a random stream of its own, which `seed` begins.
    """

    key: str
    prompt: str
    index: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One continuation of a prompt.

    `finish` "stop": the model ended its text, or wrote the stop string `stopped_by` (which is not part of
    `text`); `stopped_by` is None at the end of the text. "length": cut off by a limit, so unfinished, and no
    candidate for an answer. `tokens`: generated tokens, the closing one included. `logprob`: natural
    logarithm of the probability of the generated tokens under the distribution they were drawn from
    (temperature included; under the model itself for greedy decoding); None where a server does not say.
    """

    key: str
    index: int
    text: str
    finish: Finish
    tokens: int
    logprob: float | None
    model: str
    seed: int
    stopped_by: str | None = None


def sample_seed(seed: int, key: str, index: int) -> int:
    """Seed of one sample, below 2**31 (servers take no more): differs by run seed, key and index."""
    digest = hashlib.sha256(f"{seed}\x1f{key}\x1f{index}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF


def windows(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """Consecutive lists of up to `size` items."""
    while window := list(islice(items, size)):
        yield window


def first_stop(text: str, stops: tuple[str, ...]) -> tuple[int, str] | None:
    """Where the first of the stop strings begins in `text`, and which it is; None when there is none.

    Of two that begin at one place the longer wins.
    """
    found = [(text.find(stop), -len(stop), stop) for stop in stops if stop and stop in text]
    if not found:
        return None
    place, _, stop = min(found)
    return place, stop
