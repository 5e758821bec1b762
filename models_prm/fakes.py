"""Shipped stand-ins for the machine: a scorer without a model, for tests and for trying the rest of the
house.

scorer = FakeScorer(judge=lambda problem, steps, index: 0.9 if "wrong" in steps[index] else 0.1)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from models_prm.records import OnProgress, Progress, ScoringItem, StepScores

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
