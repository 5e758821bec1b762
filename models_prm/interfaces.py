"""The seams between the machine side and its users: what a step scorer, a sampler and a step proposer can do.

`models_prm.scoring.PrmScorer` is the real scorer, `models_prm.fakes.FakeScorer` the one for tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from models_prm.records import OnProgress, ScoringItem, ShouldStop, StepScores
from models_prm.sampling.records import Sample, SampleRequest


@runtime_checkable
class StepScorer(Protocol):
    """Gives every step of every solution its three probabilities."""

    @property
    def name(self) -> str:
        """Short name of the model, for records and messages."""
        ...

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 8192,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[StepScores]:
        """Scores in a stream, in any order, one result per item.

        `batch_tokens` bounds the tokens of one forward pass, `total` is only for the progress report.
        """
        ...


@runtime_checkable
class Sampler(Protocol):
    """Continues prompts. `LocalSampler`, `ServerSampler` and `fakes.FakeSampler` keep this promise."""

    @property
    def name(self) -> str:
        """Short name of the model, for records and messages."""
        ...

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
        """One sample per request in a stream, in any order: key and index say whose it is.

        Temperature 0 is greedy. A sample ends at the end of the text, before the first of the strings in
        `stop`, or unfinished after `max_tokens`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A possible next step.

    `finished`: the text of the solution ends with it (`text` may be empty then: nothing more was said).
    `truncated`: cut off by a limit, so that it is not known how the step goes on. Neither: the separator
    followed, and the solution goes on. `tokens`: generated tokens. `logprob`: None where unknown.
    """

    text: str
    finished: bool
    truncated: bool
    tokens: int
    logprob: float | None = None


@runtime_checkable
class StepProposer(Protocol):
    """Writes next steps: `SamplerProposer` over a sampler, `fakes.FakeProposer` from a table."""

    @property
    def name(self) -> str:
        """Short name of the model, for records."""
        ...

    def propose(
        self, prefixes: Sequence[tuple[str, tuple[str, ...]]], m: int, seed: int
    ) -> list[list[Proposal]]:
        """For each (problem, steps so far) `m` proposals, in the order of `prefixes`; same seed, same ones.

        Two equal prefixes get proposals of their own.
        """
        ...
