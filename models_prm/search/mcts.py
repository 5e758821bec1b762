"""Monte Carlo tree search with PUCT (the selection rule of AlphaZero, arXiv 1712.01815).

A leaf's value is the step scorer's score of the path to it, or the mean score of solutions rolled out from
it. No outcome is known here: a finished solution is worth what the scorer says, like any other path.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from models_prm.errors import SearchError
from models_prm.interfaces import StepProposer, StepScorer
from models_prm.search.records import Node, Round, SearchConfig, SearchProblem, SearchRecord
from models_prm.search.workspace import Workspace


@dataclass(frozen=True)
class MctsConfig(SearchConfig):
    """`simulations`: walks from the problem to a leaf. `m`: proposals of an expansion; a child's prior is its
    share of them. `exploration`: weight of PUCT's exploration term. `backup`: "mean" or "max" of the values
    below a node. `rollouts`: solutions written from a new leaf to value it (0: the scorer's own word for the
    path). `choice`: the answer is the finished solution with the best score ("leaf"), or the one that the
    most visited ("visits") or the most valued ("value") children lead to.
    """

    simulations: int = 32
    m: int = 4
    exploration: float = 1.0
    backup: Literal["mean", "max"] = "mean"
    rollouts: int = 0
    choice: Literal["leaf", "visits", "value"] = "leaf"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.simulations < 1 or self.m < 1 or self.rollouts < 0 or self.exploration < 0:
            raise SearchError("simulations and m must be at least 1, rollouts and exploration not negative")
        if self.backup not in ("mean", "max") or self.choice not in ("leaf", "visits", "value"):
            raise SearchError("backup must be mean or max, choice must be leaf, visits or value")


def search(
    problem: SearchProblem, proposer: StepProposer, scorer: StepScorer, config: SearchConfig
) -> SearchRecord:
    """Select by PUCT, expand, value, back up; then choose among the finished solutions.

    A finished node is never expanded again and still receives visits. A node below which nothing can finish
    any more (cut-off steps, depth limit, no score) is left out of the selection.
    """
    if not isinstance(config, MctsConfig):
        raise SearchError("MCTS needs an MctsConfig")
    tree = _Tree(Workspace(problem, proposer, scorer, config), config)
    stopped = "simulations"
    for _ in range(config.simulations):
        if tree.work.over_budget():
            stopped = "budget"
            break
        if 0 in tree.dead:
            stopped = "exhausted"
            break
        tree.simulate()
    for node in tree.work.nodes:
        if node.fate == "open" and node.visits:
            node.fate = "kept"
    return tree.work.record("mcts", tree.answer(), stopped)


class _Tree:
    """The tree of one search. Visits and totals stand in the nodes."""

    def __init__(self, work: Workspace, config: MctsConfig) -> None:
        self.work, self.config = work, config
        self.children: dict[int, list[int]] = {}
        self.dead: set[int] = set()
        self.best_below: dict[int, float] = defaultdict(lambda: -math.inf)

    def simulate(self) -> None:
        """One walk: down to a leaf, its expansion, and the value carried up again."""
        nodes = self.work.nodes
        path = [0]
        while path[-1] in self.children:
            path.append(self._select(path[-1]))
        leaf = path[-1]
        before = len(nodes)
        if not nodes[leaf].finished:
            self._expand(leaf)
        value = self._value(leaf)
        if value is not None:
            for n in path:
                nodes[n].visits += 1
                nodes[n].total += value
                self.best_below[n] = max(self.best_below[n], value)
        self._bury(path)
        proposed = tuple(range(before, len(nodes)))
        self.work.rounds.append(
            Round(len(self.work.rounds), proposed=proposed, path=tuple(path), value=value)
        )

    def _select(self, parent: int) -> int:
        """PUCT; of equals the first. A child that was not visited yet counts as valued by the scorer."""
        nodes = self.work.nodes
        alive = [c for c in self.children[parent] if c not in self.dead]
        visits = math.sqrt(max(1, nodes[parent].visits))
        total = sum(nodes[c].count for c in self.children[parent])

        def score(child: int) -> float:
            node = nodes[child]
            prior = node.count / total
            return self.worth(node) + self.config.exploration * prior * visits / (1 + node.visits)

        return max(alive, key=score)

    def worth(self, node: Node) -> float:
        """Q of a node: mean or maximum of what was backed up through it."""
        if not node.visits:
            return node.value if node.value is not None else 0.0
        return self.best_below[node.id] if self.config.backup == "max" else node.total / node.visits

    def _expand(self, leaf: int) -> None:
        added = self.work.expand([leaf], self.config.m)[0]
        nodes = self.work.nodes
        self.work.score([n for n in added if nodes[n].fate in ("open", "finished")])
        self.children[leaf] = added
        for n in added:
            if nodes[n].value is None:
                self.dead.add(n)
                nodes[n].fate = "unfinished" if nodes[n].fate == "open" else nodes[n].fate

    def _value(self, leaf: int) -> float | None:
        """What this visit says of the leaf; None says nothing (the problem itself has no score)."""
        node = self.work.nodes[leaf]
        if node.finished or not self.config.rollouts or self.work.over_budget():
            return node.value
        ends = self._roll_out(leaf)
        values = [v for n in ends if (v := self.work.nodes[n].value) is not None]
        return sum(values) / len(values) if values else node.value

    def _roll_out(self, leaf: int) -> list[int]:
        """Write solutions to their ends from a leaf; the finished ones. Their nodes are no children."""
        work = self.work
        live, ends = [leaf] * self.config.rollouts, []
        while live and not work.over_budget():
            added = [group[0] for group in work.expand(live, 1)]
            for n in added:
                work.nodes[n].rollout = True
            ends += [n for n in added if work.nodes[n].finished]
            live = [n for n in added if work.nodes[n].fate == "open"]
            for n in live:
                work.nodes[n].fate, work.nodes[n].reason = "kept", "roll-out"
        work.score(ends)
        return ends

    def _bury(self, path: list[int]) -> None:
        """Leave nodes out of the selection whose children are all out of it."""
        for n in reversed(path):
            if n in self.children and all(c in self.dead for c in self.children[n]):
                self.dead.add(n)

    def answer(self) -> int | None:
        """The chosen finished solution, None when there is none with a score."""
        best = self.work.ranked(n.id for n in self.work.nodes if n.finished)
        if not best or self.config.choice == "leaf":
            return best[0] if best else None
        finishing = set()
        for n in best:
            place = n
            while place >= 0 and not self.work.nodes[n].rollout:
                finishing.add(place)
                place = self.work.nodes[place].parent
        node = 0
        while node in self.children:
            nexts = [c for c in self.children[node] if c in finishing]
            if not nexts:
                return best[0]  # only rolled-out solutions finished below
            node = max(nexts, key=self._chosen_by)
        return node

    def _chosen_by(self, child: int) -> tuple[float, float]:
        node = self.work.nodes[child]
        worth = self.worth(node)
        return (node.visits, worth) if self.config.choice == "visits" else (worth, node.visits)
