"""Scoring solutions with a process reward model: a stream in, a stream out, constant memory.

    scorer = PrmScorer.load("var/models/tiny")
    for result in scorer.score(items):
        print(result.key, score_of(result))

Within a window of items, solutions of one problem share their problem and common steps, equal solutions are
scored once, and sequences of like length share a forward pass. None of this changes a score by more than
rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch

from models_prm.collate import Batch, collate, cut_batches, encode_trees, pieces, sequence
from models_prm.errors import MarkerError
from models_prm.prm import Prm, load_prm
from models_prm.records import OnProgress, Progress, ScoringItem, StepScores
from models_prm.tree import StepTree

Probs = tuple[float, float, float]


class PrmScorer:
    """A `StepScorer` around a trained model."""

    def __init__(
        self, prm: Prm, *, window: int = 1024, packing: str = "tree", pack_tokens: int = 1024
    ) -> None:
        """`window`: items in memory at once; `pack_tokens`: size of a packed sequence."""
        self.prm = prm
        self.window = window
        self.packing = packing
        self.pack_tokens = pack_tokens

    @classmethod
    def load(
        cls, directory: str | Path, device: str = "cpu", dtype: str = "float32", window: int = 1024
    ) -> PrmScorer:
        """Load a model directory. Raises ModelError with the cure when it is not one."""
        prm = load_prm(Path(directory), device, dtype)
        packing, pack_tokens = str(prm.card.get("packing", "tree")), int(prm.card.get("pack_tokens", 1024))
        return cls(prm, window=window, packing=packing, pack_tokens=pack_tokens)

    @property
    def name(self) -> str:
        """Name from the model's card."""
        return str(self.prm.card.get("name", "prm"))

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 8192,
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

    def score_trees(self, trees: Sequence[StepTree], batch_tokens: int = 8192) -> list[list[Probs | None]]:
        """Probabilities of (-1, 0, +1) for every node of every tree; None where its path is too long."""
        encoded = encode_trees(self.prm.encoder, trees)
        parts = [
            (t, piece)
            for t, tree in enumerate(encoded)
            for piece in pieces(
                tree, max_length=self.prm.max_length, pack_tokens=self.pack_tokens, packing=self.packing
            )
        ]
        result: list[list[Probs | None]] = [[None] * len(tree.texts) for tree in trees]
        lengths = [piece.tokens for _, piece in parts]
        order = sorted(range(len(parts)), key=lambda i: lengths[i])
        for batch in cut_batches(order, lengths, batch_tokens):
            sequences = [sequence(parts[i][1], self.prm.encoder.step_id) for i in batch]
            values = self._probabilities(collate(sequences, self.prm.encoder.pad_id))
            nodes = [(parts[i][0], node) for i in batch for node in parts[i][1].nodes]
            if len(values) != len(nodes):
                raise MarkerError(f"{len(nodes)} steps went in but {len(values)} scores came out")
            for (tree, node), (bad, okay, good) in zip(nodes, values, strict=True):
                result[tree][node] = (bad, okay, good)
        return result

    @torch.inference_mode()
    def _probabilities(self, batch: Batch) -> list[list[float]]:
        logits = self.prm.label_logits(self.prm.hidden(batch), batch)
        values: list[list[float]] = logits.double().softmax(-1).tolist()
        return values
