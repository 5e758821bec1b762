"""Small made-up material for the tests of the reward model. Plain functions, no fixtures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models_prm.config import ModelShape, Stage, TrainConfig
from models_prm.encoding.tokenizer import StepEncoder, train_tokenizer
from models_prm.prm import Prm, new_lm


def completion(text: str, rating: int | None, flagged: bool | None = False) -> dict[str, Any]:
    return {"text": text, "rating": rating, "flagged": flagged}


def step(*completions: dict[str, Any], chosen: int | None = None, human: str | None = None) -> dict[str, Any]:
    rewrite = None if human is None else {"text": human, "rating": None, "source": "human", "flagged": False}
    return {
        "completions": list(completions) or None,
        "human_completion": rewrite,
        "chosen_completion": chosen,
    }


def record(problem: str, *steps: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {
        "labeler": "a",
        "timestamp": "2026-01-01T00:00:00",
        "generation": 0,
        "is_quality_control_question": False,
        "is_initial_screening_question": False,
        "question": {"problem": problem, "ground_truth_answer": "1"},
        "label": {"steps": list(steps), "total_time": 1, "finish_reason": finish_reason},
    }


def sum_record(number: int) -> dict[str, Any]:
    """A two-step sum with right, neutral and wrong alternatives."""
    a, b = number % 17 + 2, number % 11 + 3
    return record(
        f"Ada has {a} pens and buys {b} more, day {number}. How many pens has she?",
        step(
            completion(f"We add {a} and {b}.", 1),
            completion(f"We take {b} from {a}.", -1),
            completion("We must count pens.", 0),
            chosen=0,
        ),
        step(
            completion(f"{a} + {b} = {a + b}", 1),
            completion(f"{a} + {b} = {a + b + 1}", -1),
            completion(f"{a} + {b} = {a + b - 2}", -1),
            chosen=0,
        ),
    )


def write_lines(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def sums_file(folder: Path, count: int = 40) -> Path:
    return write_lines(folder / "sums.jsonl", [sum_record(i) for i in range(count)])


def small_config(folder: Path, data: Path, **changes: Any) -> TrainConfig:
    settings: dict[str, Any] = {
        "data": (data,),
        "output_dir": folder / "model",
        "name": "small",
        "held_out_fraction": 0.2,
        "max_length": 128,
        "pack_tokens": 128,
        "threads": 1,
        "checkpoint_steps": 4,
        "numbered_steps": True,
        "model": ModelShape(vocab_size=300, layers=2, width=32, heads=2, feed_forward=64),
        "pretrain": Stage(steps=4, lr=3e-3, batch_tokens=512),
        "train": Stage(steps=12, lr=3e-3, batch_tokens=512),
    }
    return TrainConfig(**{**settings, **changes})


def random_prm(seed: int = 0, max_length: int = 256) -> Prm:
    """A model with random weights and a tokenizer trained on a few sums."""
    import torch

    texts = [
        text for i in range(20) for text in (sum_record(i)["question"]["problem"], f"{i} + {i} = {2 * i}")
    ]
    encoder = StepEncoder(train_tokenizer(texts, 300))
    torch.manual_seed(seed)
    shape = ModelShape(vocab_size=300, layers=2, width=32, heads=2, feed_forward=64)
    return Prm(new_lm(shape, encoder, max_length).eval(), encoder, max_length, {"name": "random"})
