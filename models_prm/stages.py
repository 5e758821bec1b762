"""The training loop, one for both stages: language-model warm-up ("pretrain") and labels ("train").

Every number that a step depends on comes from the settings, the seed and the step's index, or is in the
checkpoint; so a run that was killed ends with the same weights as one that was not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from models_prm.checkpoint import load_checkpoint, save_checkpoint
from models_prm.collate import Batch, Piece, collate, plan_batches, sequence
from models_prm.config import Stage, TrainConfig
from models_prm.errors import Cancelled
from models_prm.prm import Prm
from models_prm.records import OnProgress, Progress, ShouldStop

STAGES = ("pretrain", "train")
PAD_TO = 64
IGNORE = -100
Evaluate = Callable[[], dict[str, float]]


@dataclass
class Run:
    """State of one training run: model, log and where it stands. `evaluate` gives held-out numbers."""

    config: TrainConfig
    prm: Prm
    fingerprint: str
    on_progress: OnProgress | None = None
    should_stop: ShouldStop | None = None
    evaluate: Evaluate | None = None
    log: list[dict[str, float | str]] = field(default_factory=list)
    best: dict[str, Any] | None = None
    resumed_at: int | None = None
    _saved: float = field(default_factory=time.monotonic)

    @property
    def directory(self) -> Path:
        """Where checkpoint and model go."""
        return self.config.output_dir

    def report(self, stage: str, done: int, total: int, message: str = "", **metrics: float) -> None:
        """Tell the caller how far it is."""
        if self.on_progress is not None:
            self.on_progress(Progress(stage, done, total, message, metrics))

    def save(self, stage: str, step: int, optimizer: torch.optim.Optimizer) -> None:
        """Write the checkpoint: `step` steps of `stage` are done."""
        state = {
            "fingerprint": self.fingerprint,
            "stage": stage,
            "step": step,
            "model": self.prm.lm.state_dict(),
            "optimizer": optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "log": self.log,
            "best": self.best,
        }
        save_checkpoint(self.directory, state)
        self._saved = time.monotonic()

    def restore(self) -> dict[str, Any] | None:
        """Load weights and log of an unfinished run; returns its checkpoint for `run_stage`."""
        state = load_checkpoint(self.directory, self.fingerprint)
        if state is not None:
            self.prm.lm.load_state_dict(state["model"])
            self.prm.lm.tie_weights()
            self.log, self.best = state["log"], state["best"]
            self.resumed_at = int(state["step"])
        return state

    def checkpoint_due(self, step: int) -> bool:
        """Whether the recipe asks for a checkpoint now."""
        late = time.monotonic() - self._saved >= self.config.checkpoint_seconds
        return late or step % self.config.checkpoint_steps == 0


def plan(stage: Stage, lengths: Sequence[int], seed: Sequence[int]) -> list[list[int]]:
    """All batches of a stage in order, as indices of its pieces."""
    batches: list[list[int]] = []
    epoch, wanted = 0, stage.steps
    while lengths and (wanted == 0 or len(batches) < wanted):
        rng = np.random.default_rng([*seed, epoch])
        one = plan_batches(lengths, stage.batch_tokens, rng)
        if wanted == 0:
            wanted = round(stage.epochs * len(one))
            if wanted == 0:
                break
        batches += one
        epoch += 1
    return batches[:wanted]


def learning_rate(stage: Stage, step: int, total: int) -> float:
    """Rate of the step (from 0): linear rise, then a cosine down to a tenth."""
    rise = max(1, round(stage.warmup * total))
    if step < rise:
        return stage.lr * (step + 1) / rise
    done = (step - rise) / max(1, total - rise)
    return stage.lr * (0.1 + 0.9 * 0.5 * (1.0 + math.cos(math.pi * done)))


def make_optimizer(prm: Prm, stage: Stage) -> torch.optim.Optimizer:
    """AdamW; vectors (norms, biases) are not decayed."""
    parameters = [p for p in prm.lm.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": stage.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=stage.lr, betas=(0.9, 0.98))


def run_stage(run: Run, name: str, pieces: Sequence[Piece], state: dict[str, Any] | None) -> None:
    """Train one stage, from the checkpoint `state` if it belongs to this stage. Raises Cancelled when
    asked."""
    config, lm = run.config, run.prm.lm
    stage: Stage = getattr(config, name)
    batches = plan(stage, [p.tokens for p in pieces], [config.seed, STAGES.index(name)])
    optimizer = make_optimizer(run.prm, stage)
    begin = 0
    if state is not None and state["stage"] == name:
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        begin = int(state["step"])
    for step in range(begin, len(batches)):
        if run.should_stop is not None and run.should_stop():
            run.save(name, step, optimizer)
            raise Cancelled(
                f"stopped in {name} at step {step} of {len(batches)}; the same call goes on from there"
            )
        lm.train()
        rate = learning_rate(stage, step, len(batches))
        losses = train_step(run, name, [pieces[i] for i in batches[step]], optimizer, rate)
        run.log.append({"stage": name, "step": step, **losses})
        run.report(name, step + 1, len(batches), f"step {step + 1}, loss {losses['loss']:.4f}", **losses)
        if name == "train" and config.evaluate_every and (step + 1) % config.evaluate_every == 0:
            evaluate(run, step + 1)
        if run.checkpoint_due(step + 1) or step + 1 == len(batches):
            run.save(name, step + 1, optimizer)


def train_step(
    run: Run, name: str, pieces: Sequence[Piece], optimizer: torch.optim.Optimizer, rate: float
) -> dict[str, float]:
    """One optimizer step; returns its losses. Raises FloatingPointError rather than train on NaN."""
    stage: Stage = getattr(run.config, name)
    for group in optimizer.param_groups:
        group["lr"] = rate
    encoder = run.prm.encoder
    batch = collate([sequence(p, encoder.step_id) for p in pieces], encoder.pad_id, multiple=PAD_TO)
    with torch.autocast(run.prm.device.type, torch.bfloat16, enabled=run.config.autocast):
        hidden = run.prm.hidden(batch)
        parts: dict[str, Tensor] = {}
        if name == "train":
            parts["label_loss"] = label_loss(run.prm, hidden, batch, run.config)
        if name == "pretrain" or stage.lm_weight > 0:
            parts["lm_loss"] = lm_loss(run.prm, hidden, batch)
    weight = 1.0 if name == "pretrain" else stage.lm_weight
    loss = parts.get("label_loss", hidden.new_zeros(())) + weight * parts.get("lm_loss", hidden.new_zeros(()))
    if not torch.isfinite(loss):
        raise FloatingPointError(f"loss is {float(loss)} in {name}: lower the rate (lr) of this stage")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(run.prm.lm.parameters(), stage.clip)
    optimizer.step()
    return {"loss": float(loss.detach()), **{key: float(value.detach()) for key, value in parts.items()}}


def targets(batch: Batch) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Label mass [steps, 3] of the batch's nodes; zero for nodes that are context only."""
    return np.array(
        [
            s.piece.source.tree.counts[node] if fresh else (0.0, 0.0, 0.0)
            for s in batch.sequences
            for node, fresh in zip(s.piece.nodes, s.piece.fresh, strict=True)
        ],
        np.float64,
    )


def label_loss(prm: Prm, hidden: Tensor, batch: Batch, config: TrainConfig) -> Tensor:
    """Cross-entropy per rating at the step marks, weighted by class; positions without a rating carry
    none."""
    mass = torch.from_numpy(targets(batch)).float().to(hidden.device)
    if not isinstance(config.class_weights, str):
        mass = mass * torch.tensor(config.class_weights, device=hidden.device)
    log_p = prm.label_logits(hidden, batch).log_softmax(-1)
    return -(mass * log_p).sum() / mass.sum().clamp(min=1e-9)


def lm_loss(prm: Prm, hidden: Tensor, batch: Batch) -> Tensor:
    """Next-token loss over the tokens that count here, each predicted from the token before it on its
    path."""
    before = np.zeros(batch.ids.shape, np.int64)
    ids = np.full(batch.ids.shape, IGNORE, np.int64)
    for row, s in enumerate(batch.sequences):
        index = np.flatnonzero(s.counted & (s.previous >= 0))
        before[row, index] = s.previous[index]
        ids[row, index] = s.ids[index]
    rows = torch.arange(len(ids), device=hidden.device)[:, None]
    states = hidden[rows, torch.from_numpy(before).to(hidden.device)]
    logits = prm.lm.get_output_embeddings()(states).float()
    wanted = torch.from_numpy(ids).to(hidden.device)
    return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=IGNORE)


def evaluate(run: Run, step: int) -> None:
    """Held-out numbers into the log; with `keep_best`, remember the weights of the lowest held-out loss."""
    if run.evaluate is None:
        return
    run.prm.lm.eval()
    numbers = run.evaluate()
    run.log.append({"stage": "held_out", "step": step, **numbers})
    run.report("evaluate", step, step, f"held-out loss {numbers.get('loss', math.nan):.4f}", **numbers)
    if (
        run.config.keep_best
        and "loss" in numbers
        and (run.best is None or numbers["loss"] < run.best["loss"])
    ):
        model = {key: value.detach().clone() for key, value in run.prm.lm.state_dict().items()}
        run.best = {"loss": numbers["loss"], "step": step, "model": model}
