"""Best of N: N whole solutions, the one with the highest score. The paper's search (arXiv 2305.20050)."""

from __future__ import annotations

from dataclasses import dataclass

from models_prm.errors import SearchError
from models_prm.interfaces import StepProposer, StepScorer
from models_prm.search.records import SearchConfig, SearchProblem, SearchRecord
from models_prm.search.workspace import Workspace


@dataclass(frozen=True)
class BestOfNConfig(SearchConfig):
    """`n`: solutions that are written. Equal ones are scored once and counted."""

    n: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 1:
            raise SearchError("n must be at least 1")


def search(
    problem: SearchProblem, proposer: StepProposer, scorer: StepScorer, config: SearchConfig
) -> SearchRecord:
    """Write N solutions independently of each other, score those that finished, take the best.

    An unfinished solution is never scored and cannot win; when none finished, nothing is chosen.
    """
    if not isinstance(config, BestOfNConfig):
        raise SearchError("best of N needs a BestOfNConfig")
    work = Workspace(problem, proposer, scorer, config)
    live: dict[int, int] = {0: config.n}  # node -> how many of the N stand there
    stopped = "finished"
    while live:
        if work.over_budget():
            stopped = "budget"
            break
        parents = [node for node, number in live.items() for _ in range(number)]
        groups = work.expand(parents, 1, together=True)
        proposed = list(dict.fromkeys(node for group in groups for node in group))
        live = {n: work.nodes[n].count for n in proposed if work.nodes[n].fate == "open"}
        work.decide(proposed, list(live))
    if any(node.reason == "depth limit" for node in work.nodes) and stopped == "finished":
        stopped = "depth"
    for node in live:
        work.nodes[node].fate, work.nodes[node].reason = "unfinished", "budget"
    finished = [node.id for node in work.nodes if node.finished]
    work.score(finished)
    best = work.ranked(finished)
    return work.record("best_of_n", best[0] if best else None, stopped)
