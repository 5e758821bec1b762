"""The seam between the machine side and its users: what a step scorer can do.

`models_prm.scoring.PrmScorer` is the real one, `models_prm.fakes.FakeScorer` the one for tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from models_prm.records import OnProgress, ScoringItem, StepScores


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
