"""The training loop, one for both stages: language-model warm-up ("pretrain") and labels ("train").

Every number that a step depends on comes from the settings, the seed and the step's index, or is in the
checkpoint; so a run that was killed ends with the same weights as one that was not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models_prm.config import Stage, TrainConfig
from models_prm.encoding.collate import Piece, collate, plan_batches, sequence
from models_prm.errors import Cancelled
from models_prm.prm import Prm
from models_prm.records import OnProgress, Progress, ShouldStop
from models_prm.training.checkpoint import load_checkpoint, save_checkpoint
from models_prm.training.distributed import Group
from models_prm.training.learning import learns_packed, step_sums
from models_prm.training.losses import label_sum, label_weight, token_count, token_sum

STAGES = ("pretrain", "train")
PAD_TO = 64
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
    group: Group = field(default_factory=Group)
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
        self._saved = time.monotonic()
        if not self.group.main:
            return
        state = {
            "fingerprint": self.fingerprint,
            "stage": stage,
            "step": step,
            "model": self.prm.state_dict(),
            "optimizer": optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "log": self.log,
            "best": self.best,
        }
        save_checkpoint(self.directory, state)

    def restore(self) -> dict[str, Any] | None:
        """Load weights and log of an unfinished run; returns its checkpoint for `run_stage`."""
        state = load_checkpoint(self.directory, self.fingerprint)
        if state is not None:
            self.prm.load_state_dict(state["model"])
            self.log, self.best = state["log"], state["best"]
            self.resumed_at = int(state["step"])
        self.group.wait()  # nobody writes a new checkpoint before all have read this one
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
    parameters = prm.trainable()
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": stage.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=stage.lr, betas=(0.9, 0.98), fused=True)


def run_stage(run: Run, name: str, pieces: Sequence[Piece], state: dict[str, Any] | None) -> None:
    """Train one stage, from the checkpoint `state` if it belongs to this stage. Raises Cancelled when
    asked."""
    config, group = run.config, run.group
    stage: Stage = getattr(config, name)
    batches = plan(stage, [p.tokens for p in pieces], [config.seed, STAGES.index(name)])
    optimizer = make_optimizer(run.prm, stage)
    begin = 0
    if state is not None and state["stage"] == name:
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        begin = int(state["step"])
    for step in range(begin, len(batches)):
        if group.agree(run.should_stop is not None and run.should_stop()):
            run.save(name, step, optimizer)
            raise Cancelled(
                f"stopped in {name} at step {step} of {len(batches)}; the same call goes on from there"
            )
        if group.size > 1:  # a checkpoint holds the state of one process; dropout must not depend on it
            seed = np.random.SeedSequence([config.seed, STAGES.index(name), step, group.rank])
            torch.manual_seed(int(seed.generate_state(1)[0]))
        run.prm.train()
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
    weights = _weights(run.config, name, pieces)
    optimizer.zero_grad(set_to_none=True)
    sums = dict.fromkeys(("loss", *weights), 0.0)
    for part in _cut(run.group.share(pieces), stage.accumulate):
        parts = _losses(run, part, weights)
        factors = {
            key: 1.0 if key == "label_loss" or name == "pretrain" else stage.lm_weight for key in parts
        }
        loss = torch.stack([factors[key] * value for key, value in parts.items()]).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        for key, value in {"loss": loss, **parts}.items():
            sums[key] += float(value.detach())
    losses = dict(zip(sums, run.group.sums(list(sums.values())), strict=True))
    if not math.isfinite(losses["loss"]):
        raise FloatingPointError(f"loss is {losses['loss']} in {name}: lower the rate (lr) of this stage")
    parameters = run.prm.trainable()
    run.group.sum_gradients(parameters)
    torch.nn.utils.clip_grad_norm_(parameters, stage.clip)
    optimizer.step()
    return losses


def _weights(config: TrainConfig, name: str, pieces: Sequence[Piece]) -> dict[str, float]:
    """The losses of this stage, and what each is divided by: known for the whole step, whoever does which
    part."""
    weights: dict[str, float] = {}
    if name == "train":
        weights["label_loss"] = max(label_weight(pieces, config), 1e-9)
    if name == "pretrain" or config.train.lm_weight > 0:
        weights["lm_loss"] = max(token_count(pieces), 1)
    return weights


def _losses(run: Run, pieces: Sequence[Piece], weights: dict[str, float]) -> dict[str, Tensor]:
    """This part's share of each loss, in one forward pass."""
    prm, encoder = run.prm, run.prm.encoder
    if run.config.packing == "tree" and learns_packed(prm.lm):
        asked = {"labels": "label_loss" in weights, "texts": "lm_loss" in weights}
        with torch.autocast(prm.device.type, torch.bfloat16, enabled=run.config.autocast):
            sums = step_sums(prm, pieces, run.config, **asked)
        return {key: value / weights[key] for key, value in sums.items()}
    batch = collate([sequence(p, encoder.step_id) for p in pieces], encoder.pad_id, multiple=PAD_TO)
    parts: dict[str, Tensor] = {}
    with torch.autocast(prm.device.type, torch.bfloat16, enabled=run.config.autocast):
        hidden = prm.hidden(batch)
        if "label_loss" in weights:
            parts["label_loss"] = label_sum(prm, hidden, batch, run.config) / weights["label_loss"]
        if "lm_loss" in weights:
            parts["lm_loss"] = token_sum(prm, hidden, batch) / weights["lm_loss"]
    return parts


def _cut(pieces: Sequence[Piece], count: int) -> Iterator[Sequence[Piece]]:
    """At most `count` parts of like size, none empty."""
    size = -(-len(pieces) // count)
    for begin in range(0, len(pieces), max(size, 1)):
        yield pieces[begin : begin + size]


def evaluate(run: Run, step: int) -> None:
    """Held-out numbers into the log; with `keep_best`, remember the weights of the lowest held-out loss."""
    if run.evaluate is None or not run.group.main:
        return
    run.prm.train(False)
    numbers = run.evaluate()
    run.log.append({"stage": "held_out", "step": step, **numbers})
    run.report("evaluate", step, step, f"held-out loss {numbers.get('loss', math.nan):.4f}", **numbers)
    if (
        run.config.keep_best
        and "loss" in numbers
        and (run.best is None or numbers["loss"] < run.best["loss"])
    ):
        model = {key: value.detach().clone() for key, value in run.prm.state_dict().items()}
        run.best = {"loss": numbers["loss"], "step": step, "model": model}
