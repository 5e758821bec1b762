"""Training a process reward model from PRM800K lines. Run it:

    python -m models_prm train --recipe recipes/tiny.toml --data train.jsonl.gz --output var/models/tiny

`train_prm` goes on by itself from the checkpoint it finds in the output directory, and does nothing but read
the result when the directory already holds the finished model of the same settings and data.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models_prm import baseline, data
from models_prm.checkpoint import remove_checkpoint, write_atomic
from models_prm.collate import EncodedTree, Piece, encode_trees, pieces
from models_prm.config import Stage, TrainConfig
from models_prm.errors import DataError, RecipeError
from models_prm.evaluate import step_report, tree_labels
from models_prm.prm import CARD, Prm, load_base, new_lm, read_card
from models_prm.records import LabeledSolution, OnProgress, Progress, ShouldStop, problem_key
from models_prm.scoring import PrmScorer
from models_prm.stages import Run, evaluate, run_stage
from models_prm.tokenizer import StepEncoder, train_tokenizer
from models_prm.tree import StepTree, build_trees

LOG = "train_log.jsonl"


@dataclass(frozen=True)
class TrainResult:
    """A finished run. `card` is the model card; `metrics` its held-out numbers (empty without held-out data);
    `losses` the loss of every label step; `resumed_at` the step a checkpoint gave, None for an unbroken run.
    """

    model_dir: Path
    card: dict[str, Any]
    metrics: dict[str, Any]
    losses: tuple[float, ...]
    resumed_at: int | None


@dataclass(frozen=True)
class _Material:
    """What is trained on: rows on both sides, warm-up texts, and digests of all files."""

    split: data.Split
    corpus: list[data.CorpusText]
    files: dict[str, str]


def train_prm(
    config: TrainConfig,
    *,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> TrainResult:
    """Train, evaluate and save a process reward model; resumes by itself.

    `on_progress` hears of every step, `should_stop` is asked before every step; when it says yes a checkpoint
    is written and Cancelled is raised. Raises DataError, LeakError, RecipeError, ModelError with their cures.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    config.output_dir.mkdir(parents=True, exist_ok=True)
    material = _material(config)
    digest = _fingerprint(config, material.files)
    if (done := _finished(config.output_dir, digest)) is not None:
        return done
    if on_progress is not None:
        on_progress(Progress("prepare", 0, 1, "reading and tokenizing the data"))
    started = time.monotonic()
    torch.manual_seed(config.seed)
    prm = _start_model(config, material)
    trees = build_trees(material.split.train)
    encoded = encode_trees(prm.encoder, trees)
    held = build_trees(material.split.held_out)
    run = Run(_with_weights(config, material.split.train), prm, digest, on_progress, should_stop)
    run.evaluate = (lambda: _numbers(prm, held, config)) if held else None
    parts = _labelled_pieces(encoded, config)
    state = run.restore()
    if state is None or state["stage"] == "pretrain":
        run_stage(run, "pretrain", _warm_up_pieces(run.prm.encoder, encoded, material, config), state)
    run_stage(run, "train", parts, state)
    return _finish(run, material, encoded, held, time.monotonic() - started)


def _material(config: TrainConfig) -> _Material:
    rows = data.load_rows(config.data)
    corpus = data.load_corpus(config.corpus)
    held = data.load_rows(config.held_out)
    split = (
        data.Split(rows, held)
        if config.held_out
        else data.split_rows(rows, config.held_out_fraction, config.seed)
    )
    if not split.train:
        raise DataError(f"{', '.join(map(str, config.data))}: no rated steps to train on")
    closed = {row.group for row in split.held_out}
    data.refuse_overlap(
        (row.problem for row in split.train), closed | config.refuse_problems, "the training data"
    )
    data.refuse_overlap((text.problem for text in corpus), config.refuse_problems, "the corpus")
    corpus = [text for text in corpus if problem_key(text.problem) not in closed]
    paths = (*config.data, *config.corpus, *config.held_out)
    return _Material(
        split, corpus, {f"{i} {path.name}": data.file_sha256(path) for i, path in enumerate(paths)}
    )


def _fingerprint(config: TrainConfig, files: dict[str, str]) -> str:
    plain = json.dumps([config.fingerprint(), sorted(files.values())])
    return hashlib.sha256(plain.encode()).hexdigest()


def _finished(directory: Path, digest: str) -> TrainResult | None:
    """The result that is already there. Raises RecipeError if the directory holds another model."""
    if not (directory / CARD).exists():
        return None
    card = read_card(directory)
    if card.get("fingerprint") != digest:
        raise RecipeError(
            f"{directory} already holds the model {card.get('name')!r} of other settings or data: "
            "choose another output directory"
        )
    remove_checkpoint(directory)
    log = [json.loads(line) for line in (directory / LOG).read_text(encoding="utf-8").splitlines()]
    return TrainResult(directory, card, card["held_out"], _losses(log), None)


def _start_model(config: TrainConfig, material: _Material) -> Prm:
    if config.base:
        lm, encoder = load_base(config.base, config.numbered_steps)
    else:
        tokenizer = train_tokenizer(_texts(material), config.model.vocab_size)
        encoder = StepEncoder(tokenizer, numbered=config.numbered_steps)
        lm = new_lm(config.model, encoder, config.max_length)
    lm.to(config.device)
    return Prm(lm, encoder, config.max_length)


def _texts(material: _Material) -> Iterable[str]:
    for row in material.split.train:
        yield row.problem
        yield from row.steps[row.weight_from :]
    for text in material.corpus:
        yield text.problem
        yield from text.steps


def _with_weights(config: TrainConfig, rows: Sequence[LabeledSolution]) -> TrainConfig:
    """Settings with class weights as numbers: balanced gives every class the same total weight."""
    if config.class_weights != "balanced":
        return config
    counts = [max(1, n) for n in data.rating_counts(rows).values()]
    bad, okay, good = (sum(counts) / (3 * n) for n in counts)
    return replace(config, class_weights=(bad, okay, good))


def _pieces(encoded: Sequence[EncodedTree], config: TrainConfig, stage: Stage) -> list[Piece]:
    length = min(stage.max_length or config.max_length, config.max_length)
    pack = stage.pack_tokens or config.pack_tokens
    return [
        piece
        for tree in encoded
        for piece in pieces(tree, max_length=length, pack_tokens=pack, packing=config.packing)
    ]


def _labelled_pieces(encoded: Sequence[EncodedTree], config: TrainConfig) -> list[Piece]:
    """Pieces with at least one rating; others would have no loss."""
    kept = [p for p in _pieces(encoded, config, config.train) if _ratings(p) > 0]
    if not kept:
        raise DataError("no rated step fits into max_length: raise it in the recipe")
    return kept


def _ratings(piece: Piece) -> float:
    counts = piece.source.tree.counts
    return sum(sum(counts[n]) for n, fresh in zip(piece.nodes, piece.fresh, strict=True) if fresh)


def _warm_up_pieces(
    encoder: StepEncoder, encoded: Sequence[EncodedTree], material: _Material, config: TrainConfig
) -> list[Piece]:
    """All texts for the language-model stage: the corpus, and the training solutions."""
    trees: dict[str, StepTree] = {}
    for text in material.corpus:
        trees.setdefault(text.problem, StepTree(text.problem)).add(text.steps)
    return _pieces([*encoded, *encode_trees(encoder, list(trees.values()))], config, config.pretrain)


def _numbers(prm: Prm, held: Sequence[StepTree], config: TrainConfig) -> dict[str, float]:
    """The few held-out numbers that are watched during training."""
    report = step_report(*tree_labels(held, _scored(prm, held, config)))
    return {key: report[key] for key in ("loss", "auroc_bad") if report[key] is not None}


def _scored(prm: Prm, held: Sequence[StepTree], config: TrainConfig) -> list[list[Any]]:
    scorer = PrmScorer(prm, packing=config.packing, pack_tokens=config.pack_tokens)
    return scorer.score_trees(held, batch_tokens=config.train.batch_tokens)


def _finish(
    run: Run, material: _Material, encoded: Sequence[EncodedTree], held: Sequence[StepTree], seconds: float
) -> TrainResult:
    """Evaluate and save. The card comes last: until then the checkpoint leads back here."""
    config, prm = run.config, run.prm
    run.report("evaluate", 0, 1, "held-out steps")
    if config.keep_best:
        evaluate(run, sum(entry["stage"] == "train" for entry in run.log))
        if run.best is not None:
            prm.lm.load_state_dict(run.best["model"])
    prm.lm.eval()
    held_out: dict[str, Any] = step_report(*tree_labels(held, _scored(prm, held, config))) if held else {}
    total = sum(sum(sum(c) for c in tree.tree.counts) for tree in encoded)
    used = sum(_ratings(p) for p in _labelled_pieces(encoded, config))
    labels = data.rating_counts(material.split.train)
    prm.card = {
        "name": config.name,
        "fingerprint": run.fingerprint,
        "recipe": config.as_json(),
        "seed": config.seed,
        "base": config.as_json()["base"] or None,
        "parameters": prm.parameters(),
        "packing": config.packing,
        "pack_tokens": config.pack_tokens,
        "neutral": config.neutral,
        "files_sha256": material.files,
        "train": {"problems": len(encoded), "ratings": labels, "ratings_too_long": round(total - used)},
        "held_out": held_out,
        "kept_step": None if run.best is None else run.best["step"],
        "length_baseline": _length_baseline(encoded),
        "seconds_of_last_call": round(seconds, 1),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    lines = "".join(json.dumps(entry) + "\n" for entry in run.log)
    write_atomic(run.directory / LOG, lambda path: path.write_text(lines, encoding="utf-8"))
    prm.save(run.directory)
    _sync(run.directory)
    remove_checkpoint(run.directory)
    run.report("save", 1, 1, f"model saved in {run.directory}")
    return TrainResult(run.directory, read_card(run.directory), held_out, _losses(run.log), run.resumed_at)


def _length_baseline(encoded: Sequence[EncodedTree]) -> dict[str, Any]:
    mass = np.array([c for tree in encoded for c in tree.tree.counts], np.float64).reshape(-1, 3)
    weight = mass.sum(1)
    known = weight > 0
    return baseline.fit(baseline.features(encoded)[known], mass[known, 0] / weight[known], weight[known])


def _losses(log: Iterable[dict[str, Any]]) -> tuple[float, ...]:
    return tuple(entry["loss"] for entry in log if entry["stage"] == "train")


def _sync(directory: Path) -> None:
    """Flush the model's files before the checkpoint that could rebuild them is deleted."""
    for path in directory.iterdir():
        if path.is_file():
            with path.open("rb+") as file:
                os.fsync(file.fileno())
