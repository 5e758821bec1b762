"""Training a reward model from labelled steps (PRM) or graded solutions (ORM). Run it:

    python -m models_prm train --recipe recipes/tiny.toml --data train.jsonl.gz --output var/models/tiny
    python -m models_prm train --kind orm --recipe recipes/demo.toml --data pool.jsonl --output var/models/orm

`train_prm` goes on by itself from the checkpoint it finds in the output directory, and does nothing but read
the result when the directory already holds the finished model of the same settings and data.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models_prm import data
from models_prm.config import Stage, TrainConfig
from models_prm.encoding.collate import EncodedTree, Piece, encode_trees, pieces
from models_prm.encoding.tokenizer import StepEncoder, train_tokenizer
from models_prm.encoding.tree import StepTree, build_trees
from models_prm.errors import DataError, RecipeError
from models_prm.prm import CARD, Prm, load_base, new_head, new_lm, read_card
from models_prm.records import OnProgress, Progress, ShouldStop
from models_prm.training import baseline, distributed, lora
from models_prm.training.checkpoint import remove_checkpoint, write_atomic
from models_prm.training.heldout import HeldOut, self_test_pair
from models_prm.training.losses import label_weight
from models_prm.training.material import Material, gather, training_rows, weigh, with_class_weights
from models_prm.training.stages import Run, evaluate, run_stage

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


def train_prm(
    config: TrainConfig,
    *,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> TrainResult:
    """Train, evaluate and save a reward model, process or outcome as `config.kind` says; resumes by itself.

    `on_progress` hears of every step, `should_stop` is asked before every step; when it says yes a checkpoint
    is written and Cancelled is raised. Where `torch.distributed` is initialised all its processes must make
    this call; the first one writes, reports and is asked. Raises DataError, LeakError, RecipeError,
    ModelError with their cures.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    group = distributed.current(config.device)
    on_progress = on_progress if group.main else None
    config.output_dir.mkdir(parents=True, exist_ok=True)
    material = gather(config)
    digest = _fingerprint(config, material.files)
    if (done := _finished(config.output_dir, digest)) is not None:
        return done
    if on_progress is not None:
        for name, holds in material.sources.items():
            on_progress(
                Progress("prepare", 0, 1, f"{name}: " + ", ".join(f"{k} {v}" for k, v in holds.items()))
            )
        on_progress(Progress("prepare", 0, 1, "reading and tokenizing the data"))
    started = time.monotonic()
    torch.manual_seed(config.seed)
    prm, adapters = _start_model(config, material)
    rows = training_rows(material.split.train, config)
    encoded = encode_trees(prm.encoder, build_trees(rows))
    too_long = weigh(encoded, rows, config)
    held = HeldOut(material.split.held_out, config)
    run = Run(with_class_weights(config, rows), prm, digest, on_progress, should_stop, group=group)
    run.evaluate = (lambda: held.watched(prm)) if held.rows else None
    parts = _labelled_pieces(encoded, config)
    state = run.restore()
    if state is None or state["stage"] == "pretrain":
        run_stage(run, "pretrain", _warm_up_pieces(run.prm.encoder, encoded, material, config), state)
    run_stage(run, "train", parts, state)
    if group.main:
        _use_best(run)
        if adapters is not None:
            _merge(prm, adapters)
        _finish(run, material, encoded, held, too_long=too_long, seconds=time.monotonic() - started)
    group.wait()
    card = read_card(config.output_dir)
    return TrainResult(config.output_dir, card, card["held_out"], _losses(run.log), run.resumed_at)


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


def _start_model(config: TrainConfig, material: Material) -> tuple[Prm, Any]:
    """The model before its first step, and peft's wrapper of it where adapters are trained."""
    if config.base:
        lm, encoder = load_base(config.base, config.numbered_steps, config.dtype)
    else:
        tokenizer = train_tokenizer(material.texts(), config.model.vocab_size)
        encoder = StepEncoder(tokenizer, numbered=config.numbered_steps)
        lm = new_lm(config.model, encoder, config.max_length).to(getattr(torch, config.dtype))
    lm.to(config.device)
    head = new_head(lm, config.class_order) if config.design == "head" else None
    marks = lora.MarkRows(lm, encoder) if config.lora.rank else None
    adapters = lora.attach(lm, config.lora) if config.lora.rank else None
    prm = Prm(lm, encoder, config.max_length, {}, config.class_order, config.readout, head, marks)
    return prm, adapters


def _merge(prm: Prm, adapters: Any) -> None:
    """One ordinary model again: adapters added to the weights, our rows written into the embeddings."""
    prm.lm = adapters.merge_and_unload()
    if prm.marks is not None:
        prm.marks.write(prm.lm)
        prm.marks = None


def _pieces(encoded: Sequence[EncodedTree], config: TrainConfig, stage: Stage) -> list[Piece]:
    length = min(stage.max_length or config.max_length, config.max_length)
    pack = stage.pack_tokens or config.pack_tokens
    return [
        piece
        for tree in encoded
        for piece in pieces(tree, max_length=length, pack_tokens=pack, packing=config.packing)
    ]


def _labelled_pieces(encoded: Sequence[EncodedTree], config: TrainConfig) -> list[Piece]:
    """Pieces with at least one label; others would have no loss."""
    kept = [p for p in _pieces(encoded, config, config.train) if label_weight([p], config) > 0]
    if not kept:
        raise DataError("no rated step fits into max_length: raise it in the recipe")
    return kept


def _warm_up_pieces(
    encoder: StepEncoder, encoded: Sequence[EncodedTree], material: Material, config: TrainConfig
) -> list[Piece]:
    """All texts for the language-model stage: the corpus, and the training solutions."""
    trees: dict[str, StepTree] = {}
    for text in material.corpus:
        trees.setdefault(text.problem, StepTree(text.problem)).add(text.steps)
    return _pieces([*encoded, *encode_trees(encoder, list(trees.values()))], config, config.pretrain)


def _use_best(run: Run) -> None:
    """With `keep_best`, the weights of the lowest held-out loss."""
    run.report("evaluate", 0, 1, "held-out steps")
    if run.config.keep_best:
        evaluate(run, sum(entry["stage"] == "train" for entry in run.log))
        if run.best is not None:
            run.prm.load_state_dict(run.best["model"])
    run.prm.train(False)


def _finish(
    run: Run,
    material: Material,
    encoded: Sequence[EncodedTree],
    held: HeldOut,
    *,
    too_long: int,
    seconds: float,
) -> None:
    """Evaluate and save. The card comes last: until then the checkpoint leads back here."""
    config, prm = run.config, run.prm
    pair = self_test_pair(prm, [tree.tree for tree in encoded], config)
    prm.card = {
        "name": config.name,
        "kind": config.kind,
        "fingerprint": run.fingerprint,
        "recipe": config.as_json(),
        "seed": config.seed,
        "base": config.as_json()["base"] or None,
        "parameters": prm.parameters(),
        "packing": config.packing,
        "pack_tokens": config.pack_tokens,
        "neutral": config.neutral,
        "splitter": config.splitter,
        "files_sha256": material.files,
        "data_sha256": material.sha256,
        "sources": material.sources,
        "train": {
            "problems": len(encoded),
            "ratings": data.rating_counts(material.split.train),
            "ratings_too_long": too_long,
        },
        "labels": data.label_summary(material.split.train),
        "held_out": held.report(prm),
        "kept_step": None if run.best is None else run.best["step"],
        "length_baseline": _length_baseline(encoded),
        "self_test": None if pair is None else pair.as_json(),
        "seconds_of_last_call": round(seconds, 1),
        "threads": torch.get_num_threads(),
        "processes": run.group.size,
        "torch": torch.__version__,
    }
    lines = "".join(json.dumps(entry) + "\n" for entry in run.log)
    write_atomic(run.directory / LOG, lambda path: path.write_text(lines, encoding="utf-8"))
    prm.save(run.directory)
    _sync(run.directory)
    remove_checkpoint(run.directory)
    run.report("save", 1, 1, f"model saved in {run.directory}")


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
