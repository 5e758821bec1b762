"""Targets from a large process reward model, as the paper labels for its small-scale experiments.

A step is wrong when p(-1) > 0.2; labelling stops at the first wrong step (arXiv 2305.20050).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from models_prm.errors import DataError
from models_prm.interfaces import StepScorer
from models_prm.records import OnProgress, ScoringItem
from models_prm.targets.records import Counts, PoolSolution, StepTargets, up_to_error

THRESHOLD = 0.2


def from_large_prm(
    solutions: Iterable[PoolSolution],
    scorer: StepScorer,
    counts: Counts,
    *,
    threshold: float = THRESHOLD,
    batch_tokens: int = 8192,
    on_progress: OnProgress | None = None,
) -> Iterator[StepTargets]:
    """One row per solution with a scored step; steps that did not fit into the context have no label.

    Labels: 1 for steps with p(-1) <= threshold, 0 for the first above it, None after it. In a stream.
    """
    if not 0 <= threshold < 1:
        raise DataError("the threshold must be in [0, 1)")
    waiting: dict[str, PoolSolution] = {}

    def items() -> Iterator[ScoringItem]:
        for solution in solutions:
            if not solution.steps:
                counts["no steps"] += 1
                continue
            key = str(solution.line)
            waiting[key] = solution
            yield ScoringItem(key, solution.problem, solution.steps)

    for result in scorer.score(items(), batch_tokens=batch_tokens, on_progress=on_progress):
        solution = waiting.pop(result.key)
        bad = [p[0] for p in result.probs]
        if not bad:
            counts["too long"] += 1
            continue
        counts["labelled"] += 1
        first = next((i for i, p in enumerate(bad) if p > threshold), None)
        labels: list[float | None] = [float(p <= threshold) for p in bad]
        labels += [None] * result.dropped
        record = {"model": scorer.name, "threshold": threshold, "bad": bad, "first_error": first}
        yield StepTargets(solution, up_to_error(labels, first), "large_prm", record)
