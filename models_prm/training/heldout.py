"""Numbers on held-out rows during and after training: for ratings, for soft targets, for outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from models_prm.config import TrainConfig
from models_prm.encoding.selftest import Pair, choose_pair
from models_prm.encoding.tree import StepTree, build_trees
from models_prm.evaluation import metrics
from models_prm.evaluation.evaluate import step_report, tree_labels
from models_prm.prm import Prm
from models_prm.records import LabeledSolution
from models_prm.scoring import PrmScorer
from models_prm.training.losses import folded
from models_prm.training.outcomes import pair_report

Scored = list[list[Any]]
SELF_TEST_TREES, SELF_TEST_CHARACTERS = 48, 3000


class HeldOut:
    """Held-out rows as trees, with okay steps counted as the model's classes want it."""

    def __init__(self, rows: Sequence[LabeledSolution], config: TrainConfig) -> None:
        self.rows = list(rows)
        self.config = config
        self.trees = build_trees(self.rows)
        for tree in self.trees:
            tree.counts[:] = folded(np.array(tree.counts, np.float64).reshape(-1, 3), config).tolist()
        self.soft = any(row.targets is not None for row in self.rows)

    def report(self, prm: Prm) -> dict[str, Any]:
        """All numbers; empty without rows."""
        if not self.rows:
            return {}
        scored = scores_of(prm, self.trees, self.config)
        if self.soft:
            return soft_report(self.trees, scored)
        report = step_report(*tree_labels(self.trees, scored))
        return report | self._pairs(scored) if self.config.kind == "orm" else report

    def watched(self, prm: Prm) -> dict[str, float]:
        """The few numbers that are watched during training; `loss` is the cross-entropy, whatever is trained
        on."""
        report = self.report(prm)
        return {key: report[key] for key in ("loss", "auroc_bad") if report.get(key) is not None}

    def _pairs(self, scored: Scored) -> dict[str, Any]:
        by_problem = {tree.problem: (tree, probs) for tree, probs in zip(self.trees, scored, strict=True)}
        last: list[float | None] = []
        for row in self.rows:
            tree, probs = by_problem[row.problem]
            found = probs[tree.add(row.steps)[-1]]
            last.append(None if found is None else found[2])
        return pair_report(self.rows, last)


def scores_of(prm: Prm, trees: Sequence[StepTree], config: TrainConfig) -> Scored:
    """Probabilities of every node of the trees."""
    if prm.marks is not None:
        prm.marks.write(prm.lm)
    scorer = PrmScorer(prm, packing=config.packing)
    return scorer.score_trees(trees, batch_tokens=config.train.batch_tokens)


def soft_report(trees: Sequence[StepTree], scored: Scored) -> dict[str, Any]:
    """Measures against soft targets: cross-entropy and what a perfect model would have of it (the targets'
    own entropy), squared error of p(+1), and AUROC of the steps that are more likely bad than not."""
    pairs = [
        (counts, p)
        for tree, probs in zip(trees, scored, strict=True)
        for counts, p in zip(tree.counts, probs, strict=True)
        if p is not None and sum(counts) > 0
    ]
    mass = np.array([counts for counts, _ in pairs], np.float64).reshape(-1, 3)
    probs = np.array([p for _, p in pairs], np.float64).reshape(-1, 3)
    if not pairs:
        return {"ratings": 0, "loss": None}
    weight = mass.sum(1)
    share = mass / weight[:, None]
    return {
        "ratings": len(pairs),
        "loss": float(-(mass * np.log(np.clip(probs, 1e-12, 1.0))).sum() / weight.sum()),
        "loss_of_targets": float(-(mass * np.log(np.clip(share, 1e-12, 1.0))).sum() / weight.sum()),
        "squared_error_good": float((weight * (probs[:, 2] - share[:, 2]) ** 2).sum() / weight.sum()),
        "auroc_bad": metrics.auroc(probs[:, 0], share[:, 0] > 0.5),
    }


def self_test_pair(prm: Prm, trees: Sequence[StepTree], config: TrainConfig) -> Pair | None:
    """Two short paths of the training data that the model tells apart, for the card's self-test."""
    trees = trees[:SELF_TEST_TREES]
    candidates: list[tuple[str, tuple[str, ...], float, float]] = []
    for tree, probs in zip(trees, scores_of(prm, trees, config), strict=True):
        for node, p in enumerate(probs):
            bad, _, good = tree.counts[node]
            path: list[str] = []
            step = node
            while step >= 0:
                path.append(tree.texts[step])
                step = tree.parents[step]
            size = len(tree.problem) + sum(map(len, path))
            if p is not None and bad + good > 0 and size <= SELF_TEST_CHARACTERS:
                verdict = (good - bad) / sum(tree.counts[node])
                candidates.append((tree.problem, tuple(reversed(path)), verdict, p[2]))
    return choose_pair(candidates)
