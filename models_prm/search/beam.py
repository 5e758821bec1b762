"""Beam search over steps, and its diverse form DVTS (independent subtrees, each greedy).

N proposals a round, N / M survivors, M expansions of each: after search-and-learn's and compute-optimal
scaling's use of the words (docs/parts/search.md). What is kept is what was scored: there is no look-ahead
whose text goes unscored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from models_prm.errors import SearchError
from models_prm.interfaces import StepProposer, StepScorer
from models_prm.search.records import SearchConfig, SearchProblem, SearchRecord
from models_prm.search.workspace import Workspace


@dataclass(frozen=True)
class BeamConfig(SearchConfig):
    """`n`: proposals a round; `m`: expansions of each survivor, so that n / m survive. `dvts`: n / m subtrees
    that never compete with each other until the end.
    """

    n: int = 16
    m: int = 4
    dvts: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m < 1 or self.n < self.m or self.n % self.m:
            raise SearchError(f"n ({self.n}) must be a multiple of m ({self.m}), and both at least 1")


@dataclass
class _Group:
    """A tree of its own: how many survive in it, those that are live, and all that finished."""

    keep: int
    live: list[int] = field(default_factory=lambda: [0])
    finished: list[int] = field(default_factory=list)
    proposed: list[int] = field(default_factory=list)


def search(
    problem: SearchProblem, proposer: StepProposer, scorer: StepScorer, config: SearchConfig
) -> SearchRecord:
    """Expand, score, keep the best; finished solutions hold their places as long as they are among the best.

    A group ends when its best places are all held by finished solutions. The answer is the best of all
    finished ones; nothing is chosen when there is none, and nothing is copied to fill the beam.
    """
    if not isinstance(config, BeamConfig):
        raise SearchError("beam search needs a BeamConfig")
    work = Workspace(problem, proposer, scorer, config)
    survivors = config.n // config.m
    groups = [_Group(1) for _ in range(survivors)] if config.dvts else [_Group(survivors)]
    first = config.m if config.dvts else config.n
    stopped = "finished"
    while any(group.live for group in groups):
        if work.over_budget():
            stopped = "budget"
            break
        _expand(work, groups, first if not work.rounds else config.m)
        _keep(work, groups)
    finished = [n for group in groups for n in group.finished]
    if not finished and stopped == "finished":
        deep = any(node.reason == "depth limit" for node in work.nodes)
        stopped = "depth" if deep else "exhausted"
    _leave(work, groups, stopped)
    best = work.ranked(finished)
    return work.record("dvts" if config.dvts else "beam", best[0] if best else None, stopped)


def _expand(work: Workspace, groups: list[_Group], m: int) -> None:
    """Ask for the steps of all groups at once, and score every one that can be scored."""
    parents = [node for group in groups for node in group.live]
    answers = iter(work.expand(parents, m))
    for group in groups:
        group.proposed = [n for _ in group.live for n in next(answers)]
    work.score([n for g in groups for n in g.proposed if work.nodes[n].fate in ("open", "finished")])


def _keep(work: Workspace, groups: list[_Group]) -> None:
    proposed, kept = [], []
    for group in groups:
        new = [n for n in group.proposed if work.nodes[n].value is not None]
        group.finished += [n for n in new if work.nodes[n].fate == "finished"]
        running = [n for n in new if work.nodes[n].fate == "open"]
        best = work.ranked([*group.finished, *running])[: group.keep]
        group.live = [n for n in best if not work.nodes[n].finished]
        proposed += group.proposed
        kept += best
    work.decide(proposed, kept)


def _leave(work: Workspace, groups: list[_Group], why: str) -> None:
    for group in groups:
        for n in group.live:
            if n:
                work.nodes[n].fate, work.nodes[n].reason = "unfinished", why
