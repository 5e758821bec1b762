"""The outcome reward model: one score per solution, read at its last step.

    python -m models_prm train --kind orm --recipe recipes/demo.toml --data pool.jsonl --output var/orm

    scorer = OrmScorer.load("var/orm")
    for result in scorer.score(items):
        print(result.key, result.score)

It is trained by `train_prm` with `kind = "orm"` on solutions with a verdict on their final answer (uniform
samples; `training.outcomes`), with the same tokens, trees and engine as a PRM. With `outcome = "all"`,
every token of a solution carries its verdict (Cobbe et al. 2021, section 4.2; Lightman et al. 2023, section
2.5) and the score is still that of the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from models_prm.errors import ModelError
from models_prm.interfaces import StepScorer
from models_prm.records import OnProgress, ScoringItem
from models_prm.scoring import PrmScorer


@dataclass(frozen=True)
class OrmScore:
    """Probability that the final answer of one solution is right; None for a solution without steps, or one
    that does not fit into the model's context."""

    key: str
    score: float | None


class OrmScorer:
    """Scores whole solutions by the last step's p(+1) of a step scorer around an outcome model."""

    def __init__(self, scorer: StepScorer) -> None:
        self.scorer = scorer

    @classmethod
    def load(
        cls, directory: str | Path, device: str = "cpu", dtype: str = "float32", window: int = 1024
    ) -> OrmScorer:
        """Load a model directory. Raises ModelError when it is none, or holds a process reward model: the
        last step of such a model says whether that step is right, not whether the answer is."""
        scorer = PrmScorer.load(directory, device, dtype, window)
        if scorer.prm.card.get("kind", "prm") != "orm":
            raise ModelError(f"{directory}: not an outcome reward model: load it with PrmScorer")
        return cls(scorer)

    @property
    def name(self) -> str:
        """Name from the model's card."""
        return self.scorer.name

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 8192,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[OrmScore]:
        """One result per item, in the step scorer's order. Constant memory."""
        results = self.scorer.score(items, batch_tokens=batch_tokens, on_progress=on_progress, total=total)
        for result in results:
            whole = result.probs and not result.dropped
            yield OrmScore(result.key, result.probs[-1][2] if whole else None)
