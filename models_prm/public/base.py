"""What all adapters have in common: the stream, the windows, the count of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from models_prm.encoding.forward import read_states
from models_prm.errors import MarkerError
from models_prm.records import OnProgress, Progress, ScoringItem, StepScores

LONGEST = 32_768
"""Context taken for models whose configuration names a longer one or none."""


@dataclass(frozen=True)
class Encoded:
    """Token ids of a solution, and the position at which the score of each step is read, ascending."""

    ids: list[int]
    reads: list[int]


class Adapter(ABC):
    """How one family of public models is fed and read.

    `lm`: a transformers model with `base_model`; `tokenizer`: its fast tokenizer; `name`: for records.
    """

    kind: ClassVar[str]

    def __init__(self, lm: Any, tokenizer: Any, name: str) -> None:
        self.lm = lm
        self.tokenizer = tokenizer
        self.name = name

    @abstractmethod
    def encode(self, problem: str, steps: Sequence[str]) -> Encoded:
        """Ids and one reading position per step.

        Raises MarkerError where a mark is not a token of its own.
        """

    @abstractmethod
    def logits(self, states: Tensor) -> Tensor:
        """Float32 logits [k, 2] of (bad, good) from final hidden states [k, width]."""

    @property
    def max_length(self) -> int:
        """Longest sequence in tokens."""
        return min(int(getattr(self.lm.config, "max_position_embeddings", LONGEST)), LONGEST)


class PublicScorer:
    """A `StepScorer` around an adapter. Two classes: the probability of an okay step (0) is always 0."""

    def __init__(self, adapter: Adapter, *, window: int = 2048) -> None:
        """`window`: items in memory at once."""
        self.adapter = adapter
        self.window = window

    @property
    def name(self) -> str:
        """Name of the model's directory or repository."""
        return self.adapter.name

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 4096,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[StepScores]:
        """One result per item, in the items' order. Raises MarkerError if readings and steps do not match."""
        stream, done = iter(items), 0
        while window := list(islice(stream, self.window)):
            yield from self._score_window(window, batch_tokens)
            done += len(window)
            if on_progress is not None:
                on_progress(Progress("score", done, max(total or 0, done), f"{done} solutions scored"))

    @torch.inference_mode()
    def _score_window(self, items: Sequence[ScoringItem], batch_tokens: int) -> Iterator[StepScores]:
        once = {(item.problem, item.steps): self._fitting(item) for item in items}
        texts = [text for text, fitting in once.items() if fitting.reads]
        ids = [np.array(once[text].ids, np.int64) for text in texts]
        reads = [np.array(once[text].reads, np.int64) for text in texts]
        scored: dict[tuple[str, tuple[str, ...]], tuple[tuple[float, float, float], ...]] = {}
        for members, rows, states in read_states(self.adapter.lm, ids, reads, batch_tokens):
            values = self.adapter.logits(states).double().softmax(-1).cpu().numpy()
            for member, found in zip(members, rows, strict=True):
                scored[texts[member]] = tuple((float(bad), 0.0, float(good)) for bad, good in values[found])
        for item in items:
            probs = scored.get((item.problem, item.steps), ())
            yield StepScores(item.key, probs, len(item.steps) - len(probs))

    def _fitting(self, item: ScoringItem) -> Encoded:
        """The solution up to its last step that fits into the context."""
        encoded = self.adapter.encode(item.problem, item.steps)
        if len(encoded.reads) != len(item.steps):
            raise MarkerError(
                f"{len(item.steps)} steps but {len(encoded.reads)} readings: nothing was scored"
            )
        reads = [read for read in encoded.reads if read < self.adapter.max_length]
        return Encoded(encoded.ids[: reads[-1] + 1] if reads else [], reads)
