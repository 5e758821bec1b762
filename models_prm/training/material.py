"""What a run trains on: rows on both sides of the split, texts for the warm-up, digests of all files. Imports
nothing heavy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from models_prm import data
from models_prm.config import TrainConfig
from models_prm.encoding.collate import EncodedTree
from models_prm.errors import DataError
from models_prm.records import LabeledSolution, problem_key
from models_prm.training.outcomes import balanced, on_every_step


@dataclass(frozen=True)
class Material:
    """Rows for training and held-out rows (an ORM's are labelled at their last step), warm-up texts, the
    SHA-256 of every file, and what each label file holds (`data.label_summary`)."""

    split: data.Split
    corpus: list[data.CorpusText]
    files: dict[str, str]
    sources: dict[str, dict[str, Any]]

    @property
    def sha256(self) -> str:
        """One digest of all files: the data snapshot."""
        return hashlib.sha256(json.dumps(sorted(self.files.values())).encode()).hexdigest()

    def texts(self) -> Iterable[str]:
        """Every training text once or more, for the tokenizer."""
        for row in self.split.train:
            yield row.problem
            yield from row.steps[row.weight_from :]
        for text in self.corpus:
            yield text.problem
            yield from text.steps


def gather(config: TrainConfig) -> Material:
    """Read all files. Raises DataError, or LeakError where training and held-out or refused problems meet."""
    load = data.load_outcomes if config.kind == "orm" else data.load_rows
    by_file = [load([path]) for path in config.data]
    rows = [row for part in by_file for row in part]
    split = (
        data.Split(rows, load(config.held_out))
        if config.held_out
        else data.split_rows(rows, config.held_out_fraction, config.seed)
    )
    if not split.train:
        what = "graded solutions" if config.kind == "orm" else "rated steps"
        raise DataError(f"{', '.join(map(str, config.data))}: no {what} to train on")
    corpus = data.load_corpus(config.corpus)
    closed = {row.group for row in split.held_out}
    data.refuse_overlap(
        (row.problem for row in split.train), closed | config.refuse_problems, "the training data"
    )
    data.refuse_overlap((text.problem for text in corpus), config.refuse_problems, "the corpus")
    corpus = [text for text in corpus if problem_key(text.problem) not in closed]
    paths = (*config.data, *config.corpus, *config.held_out)
    return Material(
        split,
        corpus,
        {f"{i} {path.name}": data.file_sha256(path) for i, path in enumerate(paths)},
        {
            f"{i} {path.name}": data.label_summary(part)
            for i, (path, part) in enumerate(zip(config.data, by_file, strict=True))
        },
    )


def training_rows(rows: Sequence[LabeledSolution], config: TrainConfig) -> list[LabeledSolution]:
    """Rows as the loss sees them: an ORM's are weighted per problem and, if the recipe says so, labelled all
    along."""
    if config.kind != "orm":
        return list(rows)
    rows = balanced(rows)
    return [on_every_step(row) for row in rows] if config.outcome == "all" else list(rows)


def with_class_weights(config: TrainConfig, rows: Sequence[LabeledSolution]) -> TrainConfig:
    """Settings with class weights as numbers: balanced gives every class the same total weight."""
    if config.class_weights != "balanced":
        return config
    bad, okay, good = data.target_mass(rows)
    if len(config.class_order) == 2:
        bad, good = (bad, good + okay) if config.neutral == "good" else (bad + okay, good)
        bad, good = max(bad, 1.0), max(good, 1.0)
        return replace(config, class_weights=((bad + good) / (2 * bad), 1.0, (bad + good) / (2 * good)))
    counts = [max(1.0, n) for n in (bad, okay, good)]
    bad, okay, good = (sum(counts) / (3 * n) for n in counts)
    return replace(config, class_weights=(bad, okay, good))


def weigh(encoded: Sequence[EncodedTree], rows: Sequence[LabeledSolution], config: TrainConfig) -> int:
    """Set the trees' counts to the mass that the loss uses; returns the number of labels that do not fit.

    With average "solution" a row's labels (or labelled tokens) that fit share its weight, so that a long
    solution counts as much as a short one.
    """
    by_problem = {tree.tree.problem: tree for tree in encoded}
    for tree in encoded:
        tree.tree.counts[:] = [[0.0, 0.0, 0.0] for _ in tree.tree.texts]
    limit = min(config.train.max_length or config.max_length, config.max_length)
    skip = int(config.readout == "before")
    dropped = 0
    for row in rows:
        tree = by_problem[row.problem]
        nodes = tree.tree.add(row.steps)
        end, places = len(tree.prompt), 0
        found: list[tuple[int, tuple[float, float, float]]] = []
        for position, node in enumerate(nodes):
            end += len(tree.nodes[node])
            mass = row.mass(position) if position >= row.weight_from else None
            if mass is not None and end <= limit:
                found.append((node, mass))
                all_tokens = config.kind == "orm" and config.outcome == "all"
                places += len(tree.nodes[node]) - skip if all_tokens else 1
            dropped += mass is not None and end > limit
        factor = row.weight / (max(places, 1) if config.average == "solution" else 1)
        for node, mass in found:
            for k, part in enumerate(mass):
                tree.tree.counts[node][k] += factor * part
    return dropped
