"""Recipes: every setting of a training run in one frozen object, read from TOML. Imports nothing heavy.

    config = load_recipe("recipes/tiny.toml", data=["train.jsonl.gz"], output_dir="var/models/tiny")

Paths inside a recipe are relative to the recipe file; unknown keys are refused, so a typing mistake never
trains silently with a default.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from models_prm.errors import RecipeError

Packing = Literal["tree", "none"]
Weights = tuple[float, float, float] | Literal["balanced", "none"]


@dataclass(frozen=True)
class ModelShape:
    """Shape of a model made from scratch (Qwen2 architecture); unused when a base is given."""

    vocab_size: int = 4096
    layers: int = 4
    width: int = 192
    heads: int = 4
    feed_forward: int = 512
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if min(self.layers, self.width, self.heads, self.feed_forward) < 1 or self.vocab_size < 300:
            raise RecipeError(
                "model: sizes must be positive and vocab_size at least 300 (256 bytes and specials)"
            )
        if self.width % self.heads or (self.width // self.heads) % 2:
            raise RecipeError("model: width must be heads times an even number")
        if not 0 <= self.dropout < 1:
            raise RecipeError("model.dropout must be in [0, 1)")


@dataclass(frozen=True)
class Stage:
    """One stage of training. Its length is `epochs`, unless `steps` is given.

    `batch_tokens` bounds the padded tokens of one optimizer step; `lm_weight` adds next-token loss to the
    label loss (training stage only); `warmup` is the share of steps in which the rate rises from 0, after
    which it falls along a cosine to a tenth. `max_length` and `pack_tokens` may be smaller than the model's
    to save time in this stage; 0 means as the model's.
    """

    epochs: float = 1.0
    steps: int = 0
    lr: float = 1e-3
    batch_tokens: int = 8192
    warmup: float = 0.05
    weight_decay: float = 0.01
    clip: float = 1.0
    lm_weight: float = 0.0
    max_length: int = 0
    pack_tokens: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 0 or self.steps < 0:
            raise RecipeError("stage: epochs and steps must not be negative")
        if self.lr <= 0 or self.batch_tokens < 1 or self.clip <= 0:
            raise RecipeError("stage: lr, batch_tokens and clip must be positive")
        if self.max_length < 0 or self.pack_tokens < 0:
            raise RecipeError("stage: max_length and pack_tokens must not be negative")
        if not 0 <= self.warmup < 1 or self.weight_decay < 0 or self.lm_weight < 0:
            raise RecipeError("stage: warmup must be in [0, 1), weight_decay and lm_weight not negative")


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides the result of `train_prm`, and where it goes.

    `data`, `held_out`: PRM800K JSONL files, .gz allowed. `corpus`: JSONL files of {"problem", "steps"} for
    the tokenizer and the language-model warm-up. `base`: directory or hub name of a causal LM to start from;
    empty means from scratch. `held_out_fraction` of the problems is set aside where no `held_out` file is
    given. `refuse_problems`: keys (`records.problem_key`) that may be in no training or warm-up text: the
    test split. `max_length`: longest path in tokens (whole steps beyond it are dropped and counted);
    `pack_tokens`: size of one packed sequence. `numbered_steps` writes its number before every step.
    `threads` 0 leaves torch's own choice.
    """

    data: tuple[Path, ...]
    output_dir: Path
    name: str = "prm"
    seed: int = 0
    base: str = ""
    corpus: tuple[Path, ...] = ()
    held_out: tuple[Path, ...] = ()
    held_out_fraction: float = 0.1
    refuse_problems: frozenset[str] = frozenset()
    max_length: int = 1024
    pack_tokens: int = 1024
    packing: Packing = "tree"
    numbered_steps: bool = False
    class_weights: Weights = "none"
    neutral: Literal["good", "bad"] = "good"
    autocast: bool = False
    device: str = "cpu"
    threads: int = 0
    checkpoint_steps: int = 200
    checkpoint_seconds: float = 60.0
    evaluate_every: int = 0
    keep_best: bool = False
    model: ModelShape = field(default_factory=ModelShape)
    pretrain: Stage = field(default_factory=lambda: Stage(epochs=0))
    train: Stage = field(default_factory=Stage)

    def __post_init__(self) -> None:
        if not self.data:
            raise RecipeError("data is empty: name at least one PRM800K JSONL file")
        if not 0 <= self.held_out_fraction < 1:
            raise RecipeError("held_out_fraction must be in [0, 1)")
        if self.max_length < 16 or self.pack_tokens < 16:
            raise RecipeError("max_length and pack_tokens must be at least 16")
        if self.packing not in get_args(Packing):
            raise RecipeError(f"packing {self.packing!r} is unknown: use tree or none")
        if self.neutral not in ("good", "bad"):
            raise RecipeError(f"neutral {self.neutral!r} is unknown: use good or bad")
        if isinstance(self.class_weights, str):
            if self.class_weights not in ("balanced", "none"):
                raise RecipeError("class_weights must be none, balanced or three numbers for -1, 0, +1")
        elif len(self.class_weights) != 3 or min(self.class_weights) <= 0:
            raise RecipeError("class_weights must be three positive numbers for -1, 0, +1")
        if self.checkpoint_steps < 1 or self.checkpoint_seconds <= 0:
            raise RecipeError("checkpoint_steps and checkpoint_seconds must be positive")
        if self.keep_best and not self.evaluate_every:
            raise RecipeError("keep_best needs evaluate_every: the best of which moments?")

    def fingerprint(self) -> str:
        """Digest of every setting that decides the result; a run resumes only under the same digest."""
        plain = dataclasses.asdict(self)
        for key in ("output_dir", "checkpoint_steps", "checkpoint_seconds", "data", "corpus", "held_out"):
            plain.pop(key)
        plain["refuse_problems"] = sorted(self.refuse_problems)
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Settings as plain JSON, for the model card: refused problems as a count, paths as last names."""
        plain = dataclasses.asdict(self)
        plain["refuse_problems"] = len(self.refuse_problems)
        for key in ("data", "corpus", "held_out"):
            plain[key] = [path.name for path in plain[key]]
        plain["output_dir"] = self.output_dir.name
        plain["base"] = Path(self.base).name if Path(self.base).is_dir() else self.base
        return plain


_PATHS = ("data", "corpus", "held_out")
_PARTS = {"model": ModelShape, "pretrain": Stage, "train": Stage}


def load_recipe(path: str | Path, **overrides: Any) -> TrainConfig:
    """Read a recipe; keyword arguments replace its top-level keys (None leaves the recipe's value).

    Raises RecipeError naming the file and key for anything unknown, of a wrong type or out of range.
    """
    path = Path(path)
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path}: cannot read the recipe ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: not a TOML file ({error})") from error
    for key in _PATHS:
        if key in values:
            values[key] = [path.parent / entry for entry in _as_list(values[key])]
    values.update({key: value for key, value in overrides.items() if value is not None})
    try:
        return _build(values)
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from error


def _build(values: Mapping[str, Any]) -> TrainConfig:
    values = dict(values)
    for key, part in _PARTS.items():
        if isinstance(values.get(key), Mapping):
            values[key] = part(**_checked(part, values[key], f"{key}."))
    if "output_dir" not in values:
        raise RecipeError("output_dir is missing: say where the model goes")
    values.setdefault("data", ())
    values["output_dir"] = Path(values["output_dir"])
    for key in _PATHS:
        if key in values:
            values[key] = tuple(Path(entry) for entry in _as_list(values[key]))
    if isinstance(values.get("class_weights"), list):
        values["class_weights"] = tuple(float(w) for w in values["class_weights"])
    if "refuse_problems" in values:
        values["refuse_problems"] = frozenset(values["refuse_problems"])
    return TrainConfig(**_checked(TrainConfig, values, ""))


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, str | Path) else list(value)


def _checked(kind: Any, values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Refuse unknown keys and plain types that do not match the field's default."""
    known = {f.name: f for f in dataclasses.fields(kind)}
    result = dict(values)
    for key, given in values.items():
        value = given
        if key not in known:
            raise RecipeError(f"unknown key {prefix}{key}: known are {', '.join(sorted(known))}")
        default = known[key].default
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            result[key] = value = float(value)
        if (
            key != "class_weights"
            and isinstance(default, bool | int | float | str)
            and type(value) is not type(default)
        ):
            raise RecipeError(f"{prefix}{key} must be a {type(default).__name__}, not {value!r}")
    return result
