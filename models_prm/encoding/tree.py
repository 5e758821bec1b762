"""Solutions of one problem as a tree of steps, so that what they share is stored, trained and scored once.

Paths that begin alike share nodes. A label belongs to a node; a step rated twice keeps both ratings as
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from models_prm.records import LabeledSolution


@dataclass
class StepTree:
    """Steps of one problem. Node i has text `texts[i]`, parent `parents[i]` (-1: the problem itself) and
    `counts[i]`: how many labels (or how much target mass) it has for the classes (-1, 0, +1).
    A parent always comes before its children.
    """

    problem: str
    parents: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    counts: list[list[float]] = field(default_factory=list)
    _index: dict[tuple[int, str], int] = field(default_factory=dict, repr=False)

    def add(self, steps: Sequence[str]) -> list[int]:
        """Insert a path and return its nodes, one per step."""
        nodes: list[int] = []
        parent = -1
        for text in steps:
            node = self._index.get((parent, text))
            if node is None:
                node = len(self.texts)
                self._index[parent, text] = node
                self.parents.append(parent)
                self.texts.append(text)
                self.counts.append([0.0, 0.0, 0.0])
            nodes.append(node)
            parent = node
        return nodes

    def children(self) -> list[list[int]]:
        """Children of every node; the last entry holds those of the problem (index -1 works)."""
        result: list[list[int]] = [[] for _ in range(len(self.texts) + 1)]
        for node, parent in enumerate(self.parents):
            result[parent].append(node)
        return result

    def places(self) -> list[int]:
        """Number of steps before each node on its path."""
        result: list[int] = []
        for parent in self.parents:
            result.append(0 if parent < 0 else result[parent] + 1)
        return result


def build_trees(
    rows: Iterable[LabeledSolution], weigh: Callable[[LabeledSolution], float] | None = None
) -> list[StepTree]:
    """One tree per problem text, in order of first appearance; each row's own labels are counted once.

    `weigh` gives the weight of a row's labels (1 without it): the counts are then masses, not numbers.
    """
    trees: dict[str, StepTree] = {}
    for row in rows:
        tree = trees.setdefault(row.problem, StepTree(row.problem))
        nodes = tree.add(row.steps)
        weight = 1.0 if weigh is None else weigh(row)
        for position in range(row.weight_from, len(nodes)):
            mass = row.mass(position)
            if mass is not None:
                counts = tree.counts[nodes[position]]
                for k in range(len(counts)):
                    counts[k] += weight * mass[k]
    return list(trees.values())
