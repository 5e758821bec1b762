"""Training tokens per second, ours against TRL's experimental PRMTrainer: same weights, rows, targets and
optimizer.

    python benchmarks/train_vs_trl.py [--rounds 5] [--rows 80] [--threads 1] [--data solutions|alternatives]

Needs trl 1.13.0, the last release with that trainer: `pip install 'stepmark[peers]'`.

A Qwen2-shaped model (4 layers of 256, vocabulary 32,000) with a head of two classes is trained for some
epochs on made-up rows with a natural spread of lengths. "solutions": several solutions of each problem,
labelled up to the first error. "alternatives": PRM800K's shape, every step with a good completion and two
others. Rows repeat the prefix of an alternative, as TRL's format has it; its labels are masked there, so that
both trainers see each target once. Both use AdamW with the same rate for every step, float32, no dropout, no
checkpoint; TRL's gradient checkpointing, on by default, is off here, since it would only cost it time. Tokens
are those of the rows without padding, the same number for both; tokenizing is not timed. Rounds are
interleaved, each with a seed of its own; medians are printed, and the loss on the same targets after
training, measured by one program for both.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch

from models_prm.config import Stage, TrainConfig
from models_prm.encoding.collate import EncodedTree, Piece, encode_trees, pieces
from models_prm.encoding.tokenizer import StepEncoder, add_marks
from models_prm.encoding.tree import build_trees
from models_prm.prm import Prm, classifier, new_head
from models_prm.records import LabeledSolution, problem_key
from models_prm.training.heldout import HeldOut
from models_prm.training.losses import label_weight
from models_prm.training.material import weigh
from models_prm.training.stages import Run, learning_rate, plan, run_stage

VOCABULARY, LAYERS, WIDTH, HEADS, FEED_FORWARD, CONTEXT = 32_000, 4, 256, 4, 1024, 2048
ROWS_PER_STEP, EPOCHS, RATE, CLASSES = 8, 2, 1e-3, (-1, 1)
IGNORED = -100
Clocks = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One row as TRL takes it; a label of -100 carries no loss."""

    problem: str
    steps: tuple[str, ...]
    labels: tuple[int, ...]

    def ours(self) -> LabeledSolution:
        """The same row for our trainer."""
        kinds: dict[int, int | None] = {1: 1, 0: -1, IGNORED: None}
        ratings = tuple(kinds[label] for label in self.labels)
        return LabeledSolution(self.problem, self.steps, ratings, problem_key(self.problem))


class Writer:
    """Made-up texts: words by a Zipf law, lengths by a log-normal one; in a bad step two
    words of five are of a few that no good step has: that can be learned in few optimizer steps."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        weights = 1.0 / np.arange(10, VOCABULARY - 100)
        self.cumulative = np.cumsum(weights / weights.sum())

    def text(self, mean: float, spread: float = 0.5) -> str:
        length = max(3, round(mean * self.rng.lognormal(-(spread**2) / 2, spread)))
        words = np.minimum(np.searchsorted(self.cumulative, self.rng.random(length)), VOCABULARY - 200) + 50
        return " ".join(f"w{word}" for word in words)

    def step(self, good: bool) -> str:
        words = self.text(25).split()
        if not good:
            for place in np.flatnonzero(self.rng.random(len(words)) < 0.4):
                words[place] = f"w{self.rng.integers(8)}"
        return " ".join(words)

    def count(self) -> int:
        """Number of steps of a solution."""
        return int(np.clip(round(9 * self.rng.lognormal(-0.15, 0.55)), 2, 30))

    def solutions(self, rows: int) -> list[Row]:
        made: list[Row] = []
        while len(made) < rows:
            problem = self.text(70)
            for _ in range(min(4, rows - len(made))):
                labels = [1] * self.count()
                if self.rng.random() < 0.6:
                    labels = [*labels[: self.rng.integers(len(labels))], 0]
                made.append(Row(problem, tuple(self.step(bool(label)) for label in labels), tuple(labels)))
        return made

    def alternatives(self, rows: int) -> list[Row]:
        made: list[Row] = []
        while len(made) < rows:
            problem = self.text(70)
            path: list[str] = []
            for _ in range(self.count()):
                masked = (IGNORED,) * len(path)
                made += [Row(problem, (*path, self.step(False)), (*masked, 0)) for _ in range(2)]
                path.append(self.step(True))
                made.append(Row(problem, tuple(path), (*masked, 1)))
        return made[:rows]


def make_encoder() -> StepEncoder:
    """A tokenizer of whole words, so that a text has the tokens that its writer meant."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<unk>", *(f"w{i}" for i in range(VOCABULARY - 7))]
    core = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))  # noqa: S106
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    make: Any = PreTrainedTokenizerFast
    tokenizer = make(tokenizer_object=core, unk_token="<unk>")  # noqa: S106
    add_marks(tokenizer)
    return StepEncoder(tokenizer)


def make_prm(encoder: StepEncoder, seed: int) -> Prm:
    """The model at the start of a round."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    lm: Any = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=VOCABULARY,
            hidden_size=WIDTH,
            intermediate_size=FEED_FORWARD,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=HEADS,
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            pad_token_id=encoder.pad_id,
            bos_token_id=None,
            eos_token_id=None,
        )
    )
    return Prm(lm, encoder, CONTEXT, classes=CLASSES, head=new_head(lm, CLASSES))


class Silent(Run):
    """A run that saves nothing, as TRL is told to."""

    def save(self, stage: str, step: int, optimizer: torch.optim.Optimizer) -> None:
        """Nothing."""


def settings(batch_tokens: int, seed: int) -> TrainConfig:
    stage = Stage(epochs=EPOCHS, lr=RATE, batch_tokens=batch_tokens, weight_decay=0.01, clip=1.0)
    return TrainConfig(
        data=(Path("made-up"),),
        output_dir=Path("nowhere"),
        seed=seed,
        design="head",
        classes=2,
        max_length=CONTEXT,
        pack_tokens=CONTEXT,
        train=stage,
    )


def train_ours(encoder: StepEncoder, rows: Sequence[LabeledSolution], seed: int) -> tuple[Clocks, Prm, int]:
    """Seconds, trained model, optimizer steps."""
    prm = make_prm(encoder, seed)
    config = settings(1, seed)
    encoded = encode_trees(encoder, build_trees(rows))
    weigh(encoded, rows, config)
    each = math.ceil(len(rows) / ROWS_PER_STEP)
    parts = parts_for(encoded, config, each)
    wanted = EPOCHS * each
    config = settings(budget_for([p.tokens for p in parts], wanted, seed), seed)
    run = Silent(config, prm, "")
    begin = clocks()
    run_stage(run, "train", parts, None)
    return since(begin), prm, len(run.log)


def parts_for(encoded: Sequence[EncodedTree], config: TrainConfig, wanted: int) -> list[Piece]:
    """Pieces of the trees, as large as they can be with at least `wanted` of them: TRL's steps are small."""
    for pack in (2048, 1024, 768, 512, 384, 256, 192, 128):
        parts = [p for e in encoded for p in pieces(e, max_length=CONTEXT, pack_tokens=pack, packing="tree")]
        parts = [p for p in parts if label_weight([p], config) > 0]
        if len(parts) >= wanted:
            break
    return parts


def budget_for(lengths: Sequence[int], wanted: int, seed: int) -> int:
    """Padded tokens of a step for which the run has as many steps as TRL's, or one less or more."""
    low, high = max(lengths) // 2, sum(lengths) * 2
    while high - low > 16:
        middle = (low + high) // 2
        count = len(plan(settings(middle, seed).train, lengths, [seed, 1]))
        low, high = (middle, high) if count > wanted else (low, middle)
    return high


def train_trl(
    encoder: StepEncoder, rows: Sequence[Row], seed: int, sampling: str
) -> tuple[Clocks, Prm, int, int]:
    """Seconds, trained model, optimizer steps, tokens of the rows without padding."""
    from datasets import Dataset
    from trl.experimental.prm import PRMConfig, PRMTrainer

    start = make_prm(encoder, seed)
    assert start.head is not None
    model = classifier(start.lm, start.head, CLASSES)
    total = EPOCHS * math.ceil(len(rows) / ROWS_PER_STEP)
    stage = settings(1, seed).train
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), quiet_output():
        warnings.simplefilter("ignore")
        arguments = PRMConfig(
            output_dir=folder,
            per_device_train_batch_size=ROWS_PER_STEP,
            num_train_epochs=EPOCHS,
            learning_rate=RATE,
            weight_decay=stage.weight_decay,
            adam_beta2=0.98,
            max_grad_norm=stage.clip,
            max_length=None,
            step_separator=encoder.marks.step,
            gradient_checkpointing=False,
            bf16=False,
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=False,
            train_sampling_strategy=sampling,
            seed=seed,
        )
        data = Dataset.from_list(
            [
                {
                    "prompt": f"{r.problem} {encoder.marks.solution}",
                    "completions": r.steps,
                    "labels": r.labels,
                }
                for r in rows
            ]
        )
        trainer = PRMTrainer(
            model=model, args=arguments, train_dataset=data, processing_class=encoder.tokenizer
        )
        optimizer = trainer.create_optimizer()
        trainer.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate(stage, min(step, total - 1), total) / RATE
        )
        tokens = sum(map(len, trainer.train_dataset["input_ids"]))
        begin = clocks()
        trainer.train()
        spent = since(begin)
    head = model.score
    prm = Prm(model.eval(), encoder, CONTEXT, classes=CLASSES, head=head)
    return spent, prm, trainer.state.global_step, tokens


def clocks() -> Clocks:
    """Seconds on the wall, and of processor time of this process: what a busy machine does not disturb."""
    return time.perf_counter(), time.process_time()


def since(begin: Clocks) -> Clocks:
    """Seconds since `begin`, on both clocks."""
    wall, processor = clocks()
    return wall - begin[0], processor - begin[1]


@contextlib.contextmanager
def quiet_output() -> Any:
    """TRL and its libraries print reports and bars."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def compare(kind: str, count: int, rounds: int, sampling: str) -> dict[str, Any]:
    encoder = make_encoder()
    rows: list[Row] = getattr(Writer(1), kind)(count)
    unseen: list[Row] = getattr(Writer(2), kind)(64)
    own = [row.ours() for row in rows]
    exam = {
        "trained": HeldOut(own, settings(4096, 0)),
        "unseen": HeldOut([r.ours() for r in unseen], settings(4096, 0)),
    }
    seconds: dict[str, list[Clocks]] = {"ours": [], "trl": []}
    losses: dict[str, list[dict[str, float]]] = {"ours": [], "trl": []}
    tokens = 0
    steps: dict[str, int] = {}
    for seed in range(-1, rounds):  # the first one warms up and is not counted
        for name in ("ours", "trl") if seed % 2 else ("trl", "ours"):
            part = len(rows) if seed >= 0 else ROWS_PER_STEP
            if name == "ours":
                spent, prm, steps[name] = train_ours(encoder, own[:part], seed + 1)
            else:
                spent, prm, steps[name], tokens = train_trl(encoder, rows[:part], seed + 1, sampling)
            if seed >= 0:
                prm.train(False)
                seconds[name].append(spent)
                losses[name].append({key: held.report(prm)["loss"] for key, held in exam.items()})
                print(
                    f"  round {seed + 1}: {name} {spent[0]:.2f} s, loss {losses[name][-1]}",
                    file=sys.stderr,
                    flush=True,
                )
    return report(kind, rows, tokens, steps, seconds=seconds, losses=losses)


def report(
    kind: str,
    rows: Sequence[Row],
    tokens: int,
    steps: dict[str, int],
    *,
    seconds: dict[str, list[Clocks]],
    losses: dict[str, list[dict[str, float]]],
) -> dict[str, Any]:
    medians = {name: statistics.median(wall for wall, _ in values) for name, values in seconds.items()}
    processor = {name: statistics.median(cpu for _, cpu in values) for name, values in seconds.items()}
    found: dict[str, Any] = {
        "data": kind,
        "rows": len(rows),
        "tokens_of_rows": tokens,
        "epochs": EPOCHS,
        "optimizer_steps": steps,
        "tokens_per_second": {name: round(EPOCHS * tokens / value) for name, value in medians.items()},
        "ratio": round(medians["trl"] / medians["ours"], 2),
        "ratios_by_round": [
            round(t[0] / o[0], 2) for o, t in zip(seconds["ours"], seconds["trl"], strict=True)
        ],
        "ratio_of_processor_time": round(processor["trl"] / processor["ours"], 2),
    }
    for key in ("trained", "unseen"):
        ours, theirs = ([loss[key] for loss in losses[name]] for name in ("ours", "trl"))
        differences = [a - b for a, b in zip(ours, theirs, strict=True)]
        found[f"loss_{key}"] = {
            "ours": round(statistics.mean(ours), 4),
            "trl": round(statistics.mean(theirs), 4),
            "difference": round(statistics.mean(differences), 4),
            "noise": round(statistics.stdev(differences) / math.sqrt(len(differences)), 4)
            if len(differences) > 1
            else None,
        }
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=80)
    parser.add_argument("--threads", type=int, default=1, help="one, so that a busy machine disturbs least")
    parser.add_argument("--data", choices=["solutions", "alternatives", "both"], default="both")
    parser.add_argument(
        "--trl-grouped", action="store_true", help="let TRL put rows of like length together (off by default)"
    )
    arguments = parser.parse_args()
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    try:
        import trl.experimental.prm  # noqa: F401
    except ImportError as error:
        print(f"needs trl 1.13.0: pip install 'stepmark[peers]' ({error})", file=sys.stderr)
        return 2
    sampling = "group_by_length" if arguments.trl_grouped else "random"
    torch.set_num_threads(arguments.threads)
    kinds = ("solutions", "alternatives") if arguments.data == "both" else (arguments.data,)
    results = [compare(kind, arguments.rows, arguments.rounds, sampling) for kind in kinds]
    settled = {"threads": torch.get_num_threads(), "trl_sampling": sampling, "results": results}
    print(json.dumps(settled, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
