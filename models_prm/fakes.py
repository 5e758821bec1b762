"""Shipped stand-ins for the machine: a scorer, a sampler and a proposer without a model, for tests and for
trying the rest of the house.

scorer = FakeScorer(judge=lambda problem, steps, index: 0.9 if "wrong" in steps[index] else 0.1)
sampler = FakeSampler(write=lambda request: f"The answer is {request.index}.")
proposer = FakeProposer(write=lambda problem, steps, k, seed: Proposal(f"step {k}", len(steps) > 2, False, 4))
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from models_prm.errors import Cancelled
from models_prm.interfaces import Proposal
from models_prm.records import OnProgress, Progress, ScoringItem, ShouldStop, StepScores
from models_prm.sampling.records import Sample, SampleRequest, first_stop

Judge = Callable[[str, Sequence[str], int], float]
"""(problem, steps, index) -> probability that the step at index is bad; it may look at no later step."""


def by_text(problem: str, steps: Sequence[str], index: int) -> float:
    """A repeatable number in (0, 1) from the text up to the step: the same text has the same score."""
    text = "\x1f".join((problem, *steps[: index + 1]))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return (int.from_bytes(digest[:6], "big") + 1) / (2**48 + 2)


@dataclass
class FakeScorer:
    """A `StepScorer` that asks `judge`. `fail_at` raises RuntimeError before that item (from 0): a crash.

    `seen` keeps every item it was given, so that a test can check that nothing was scored twice.
    """

    judge: Judge = by_text
    name: str = "fake"
    fail_at: int | None = None
    seen: list[ScoringItem] = field(default_factory=list)

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 8192,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[StepScores]:
        """One result per item, in order, with the rest of the mass split 1 : 4 between okay and good."""
        for number, item in enumerate(items):
            if number == self.fail_at:
                raise RuntimeError(f"the fake scorer was told to fail at item {number}")
            self.seen.append(item)
            bad = [self.judge(item.problem, item.steps, i) for i in range(len(item.steps))]
            yield StepScores(item.key, tuple((b, 0.2 * (1 - b), 0.8 * (1 - b)) for b in bad))
            if on_progress is not None:
                on_progress(Progress("score", number + 1, max(total or 0, number + 1)))


Write = Callable[[SampleRequest], str]
"""The whole text that a model would write for a request."""


@dataclass
class FakeSampler:
    """A `Sampler` that asks `write`; a token is a character, the end of the text is one more.

    `fail_at` raises RuntimeError before that request (from 0): a crash. `seen` keeps every request.
    """

    write: Write = lambda request: f"{request.prompt[-8:]} {request.index}"
    name: str = "fake"
    fail_at: int | None = None
    seen: list[SampleRequest] = field(default_factory=list)

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
        """One sample per request, in order."""
        for number, request in enumerate(requests):
            if number == self.fail_at:
                raise RuntimeError(f"the fake sampler was told to fail at request {number}")
            self.seen.append(request)
            yield self._sample(request, max_tokens, tuple(stop))
            if on_progress is not None:
                on_progress(Progress("sample", number + 1, 0))
            if should_stop is not None and should_stop():
                raise Cancelled(f"stopped after {number + 1} samples")

    def _sample(self, request: SampleRequest, max_tokens: int, stop: tuple[str, ...]) -> Sample:
        text = self.write(request)
        cut = text[:max_tokens]
        key, index, seed = request.key, request.index, request.seed
        if (found := first_stop(cut, stop)) is not None:
            place, string = found
            tokens = place + len(string)
            return Sample(key, index, cut[:place], "stop", tokens, None, self.name, seed, string)
        if len(text) < max_tokens:
            return Sample(key, index, text, "stop", len(text) + 1, None, self.name, seed)
        return Sample(key, index, cut, "length", max_tokens, None, self.name, seed)


NextStep = Callable[[str, tuple[str, ...], int, int], Proposal]
"""(problem, steps so far, number of the proposal, seed) -> that proposal."""


@dataclass
class FakeProposer:
    """A `StepProposer` that asks `write`. `seen` keeps every (prefix, m, seed) it was asked for."""

    write: NextStep
    name: str = "fake"
    seen: list[tuple[tuple[str, tuple[str, ...]], int, int]] = field(default_factory=list)

    def propose(
        self, prefixes: Sequence[tuple[str, tuple[str, ...]]], m: int, seed: int
    ) -> list[list[Proposal]]:
        """`m` proposals per prefix, in order."""
        self.seen += [(prefix, m, seed) for prefix in prefixes]
        return [[self.write(problem, steps, k, seed) for k in range(m)] for problem, steps in prefixes]
