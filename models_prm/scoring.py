"""Scoring solutions with a process reward model: a stream in, a stream out, constant memory.

    scorer = PrmScorer.load("var/models/tiny")
    for result in scorer.score(items):
        print(result.key, score_of(result))

Within a window of items, solutions of one problem share their problem and common steps, equal solutions are
scored once, no token is spent on padding, and only the states that are read are projected, on the label rows
alone. None of this changes a score by more than rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from models_prm.encoding.collate import Batch, EncodedTree, encode_trees
from models_prm.encoding.forward import read_states
from models_prm.encoding.packed import Ints
from models_prm.encoding.tree import StepTree
from models_prm.errors import MarkerError
from models_prm.interfaces import StepScorer
from models_prm.prm import CARD, Prm, load_prm
from models_prm.records import OnProgress, Progress, ScoringItem, StepScores

Probs = tuple[float, float, float]


class PrmScorer:
    """A `StepScorer` around a trained model."""

    def __init__(self, prm: Prm, *, window: int = 2048, packing: str = "tree") -> None:
        """`window`: items in memory at once; `packing` "none" shares nothing (the reference in tests)."""
        self.prm = prm
        self.window = window
        self.packing = packing

    @classmethod
    def load(
        cls, directory: str | Path, device: str = "cpu", dtype: str = "float32", window: int = 2048
    ) -> PrmScorer:
        """Load a model directory. Raises ModelError with the cure when it is not one."""
        return cls(load_prm(Path(directory), device, dtype), window=window)

    @property
    def name(self) -> str:
        """Name from the model's card."""
        return str(self.prm.card.get("name", "prm"))

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 4096,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[StepScores]:
        """One result per item, in the items' order. Raises MarkerError if marks and steps do not match."""
        stream, done = iter(items), 0
        while window := list(islice(stream, self.window)):
            yield from self._score_window(window, batch_tokens)
            done += len(window)
            if on_progress is not None:
                on_progress(Progress("score", done, max(total or 0, done), f"{done} solutions scored"))

    def _score_window(self, items: Sequence[ScoringItem], batch_tokens: int) -> Iterator[StepScores]:
        trees: dict[str, StepTree] = {}
        paths = [trees.setdefault(i.problem, StepTree(i.problem)).add(i.steps) for i in items]
        probs = dict(zip(trees, self.score_trees(list(trees.values()), batch_tokens), strict=True))
        for item, path in zip(items, paths, strict=True):
            scored = [p for node in path if (p := probs[item.problem][node]) is not None]
            yield StepScores(item.key, tuple(scored), dropped=len(path) - len(scored))

    @torch.inference_mode()
    def score_trees(self, trees: Sequence[StepTree], batch_tokens: int = 4096) -> list[list[Probs | None]]:
        """Probabilities of (-1, 0, +1) for every node of every tree; None where its path is too long."""
        paths = [
            (t, path)
            for t, tree in enumerate(encode_trees(self.prm.encoder, trees))
            for path in self._paths(tree)
        ]
        result: list[list[Probs | None]] = [[None] * len(tree.texts) for tree in trees]
        ids, reads = [path.ids for _, path in paths], [path.reads for _, path in paths]
        packed = self.packing != "none" and self.prm.marks is None
        found = read_states(self.prm.lm, ids, reads, batch_tokens, padded=self._padded, packed=packed)
        for members, rows, states in found:
            values = self._probabilities(states)
            for member, places in zip(members, rows, strict=True):
                tree, path = paths[member]
                for node, row in zip(path.nodes, places.tolist(), strict=True):
                    bad, okay, good = values[row]
                    result[tree][node] = (bad, okay, good)
        return result

    def _paths(self, tree: EncodedTree) -> Iterator[_Path]:
        """Paths that together hold every node that fits, each node read in one of them."""
        parents, step_id = tree.tree.parents, self.prm.encoder.step_id
        arrays = [np.array(node, np.int64) for node in tree.nodes]
        prompt = np.array(tree.prompt, np.int64)
        ends: list[int] = []
        for node, parent in enumerate(parents):
            ends.append((len(prompt) if parent < 0 else ends[parent]) + len(arrays[node]))
        fitting = [node for node, end in enumerate(ends) if end <= self.prm.max_length]
        inner = {parents[node] for node in fitting}
        unread = set(fitting)
        for leaf in fitting:
            if leaf in inner:
                continue
            line: list[int] = []
            node = leaf
            while node >= 0:
                line.append(node)
                node = parents[node]
            line.reverse()
            ids = np.concatenate([prompt, *(arrays[node] for node in line)])
            marks = np.array([ends[node] - 1 for node in line])
            if not np.array_equal(np.flatnonzero(ids == step_id), marks):
                found = int((ids == step_id).sum())
                raise MarkerError(f"{len(line)} steps but {found} step marks: nothing was scored")
            nodes = [node for node in line if node in unread]
            unread.difference_update(nodes)
            yield _Path(ids, np.array([ends[node] - 1 for node in nodes]) - self._back(), nodes)

    def _back(self) -> int:
        """How far before the step mark the score is read."""
        return 1 if self.prm.readout == "before" else 0

    def _padded(self, ids: Sequence[Ints]) -> Tensor:
        """States of single paths by the model's own forward pass."""
        size = max(map(len, ids))
        rows = np.full((len(ids), size), self.prm.encoder.pad_id, np.int64)
        lengths = np.array([len(sequence) for sequence in ids])
        for row, sequence in zip(rows, ids, strict=True):
            row[: len(sequence)] = sequence
        columns = np.arange(size)
        none = columns[:0]
        positions = np.broadcast_to(columns, rows.shape).copy()
        return self.prm.hidden(Batch([], rows, positions, columns < lengths[:, None], none, none, none))

    def _probabilities(self, states: Tensor) -> list[list[float]]:
        count = len(states)
        line, places = np.zeros((1, count), np.int64), np.arange(count)
        batch = Batch([], line, line, line == 0, line[0], places, places)
        logits = self.prm.label_logits(states[None], batch)
        if len(logits) != count:
            raise MarkerError(f"{count} steps went in but {len(logits)} scores came out")
        values: list[list[float]] = logits.double().softmax(-1).tolist()
        return values


@dataclass(frozen=True)
class _Path:
    """One sequence to read: `reads[i]` is the position in `ids` at which `nodes[i]` is read."""

    ids: Ints
    reads: Ints
    nodes: list[int]


def load_scorer(
    source: str | Path,
    device: str = "cpu",
    dtype: str = "float32",
    kind: str = "auto",
    self_test: bool = True,
) -> StepScorer:
    """Open a reward model: one of ours (a directory with our card), or a public one (directory or hub name).

    `kind`: "auto", "stepmark", or a family of `models_prm.public.detect.ADAPTERS`. `self_test`: a public
    model must score a right step of a small sum above a wrong one (ours carry examples of their own in the
    card). Raises ModelError with the cure.
    """
    directory = Path(source)
    ours = (directory / CARD).exists() or (directory.is_dir() and not (directory / "config.json").exists())
    if kind == "stepmark" or (kind == "auto" and ours):
        return PrmScorer.load(source, device, dtype)
    from models_prm.encoding.selftest import self_test as run
    from models_prm.public.detect import load_public

    scorer = load_public(source, device, dtype, kind)
    if self_test:
        run(scorer)
    return scorer
