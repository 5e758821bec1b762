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
Kind = Literal["prm", "orm"]
Design = Literal["label", "head"]
Readout = Literal["mark", "before"]
Loss = Literal["cross_entropy", "focal", "mse"]
Average = Literal["step", "solution"]
Outcome = Literal["all", "last"]
Precision = Literal["float32", "bfloat16"]


def _one_of(name: str, value: Any, kind: Any) -> None:
    if value not in get_args(kind):
        raise RecipeError(f"{name} {value!r} is unknown: use {' or '.join(map(str, get_args(kind)))}")


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

    `batch_tokens` bounds the padded tokens of one optimizer step, which is cut into `accumulate` forward
    passes (for each process): the gradient is the same, the memory a part. `lm_weight` adds next-token loss
    to the label loss (training stage only); `warmup` is the share of steps in which the rate rises from 0,
    after which it falls along a cosine to a tenth. `max_length` and `pack_tokens` may be smaller than the
    model's to save time in this stage; 0 means as the model's.
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
    accumulate: int = 1

    def __post_init__(self) -> None:
        if self.accumulate < 1:
            raise RecipeError("stage: accumulate must be at least 1")
        if self.epochs < 0 or self.steps < 0:
            raise RecipeError("stage: epochs and steps must not be negative")
        if self.lr <= 0 or self.batch_tokens < 1 or self.clip <= 0:
            raise RecipeError("stage: lr, batch_tokens and clip must be positive")
        if self.max_length < 0 or self.pack_tokens < 0:
            raise RecipeError("stage: max_length and pack_tokens must not be negative")
        if not 0 <= self.warmup < 1 or self.weight_decay < 0 or self.lm_weight < 0:
            raise RecipeError("stage: warmup must be in [0, 1), weight_decay and lm_weight not negative")


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters on the linear layers (Hu et al. 2021), through peft; rank 0 trains all weights.

    `targets`: names of layers as peft knows them, separated by commas, or "all-linear". The adapters are
    merged when the model is saved.
    """

    rank: int = 0
    alpha: float = 16.0
    dropout: float = 0.0
    targets: str = "all-linear"

    def __post_init__(self) -> None:
        if self.rank < 0 or self.alpha <= 0 or not 0 <= self.dropout < 1 or not self.targets:
            raise RecipeError("lora: rank not negative, alpha positive, dropout in [0, 1), targets not empty")

    @property
    def target_modules(self) -> str | list[str]:
        """What peft takes."""
        names = [name.strip() for name in self.targets.split(",")]
        return names[0] if names == ["all-linear"] else names


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides the result of `train_prm`, and where it goes.

    `kind`: "prm" learns from labels of steps, "orm" from the verdict on a solution's final answer. `data`,
    `held_out`: JSONL files, .gz allowed; for a PRM lines of PRM800K, of TRL's stepwise supervision or with
    targets (`stepwise.rows_of`), for an ORM lines of a graded pool (`outcomes.row_of`). `corpus`: JSONL
    files of {"problem", "steps"} for the tokenizer and the language-model warm-up. `base`: directory or hub
    name of a causal LM to start from; empty means from scratch. `held_out_fraction` of the problems is set
    aside where no `held_out` file is given. `refuse_problems`: keys (`records.problem_key`) that may be in
    no training or warm-up text: the test split. `max_length`: longest path in tokens (whole steps beyond it
    are dropped and counted); `pack_tokens`: size of one packed sequence. `numbered_steps` writes its number
    before every step. `threads` 0 leaves torch's own choice.

    `design`: "label" reads three rows of the output matrix, "head" a linear layer of its own; `classes`: 3,
    or 2 (then an okay step is what `neutral` says; an ORM always has 2). `readout`: the score is read at the
    step mark or at the last token before it. `loss`: cross-entropy of hard or soft targets, the same with
    focal factor (1 - p) ** `focal_gamma` (Lin et al. 2017), or squared error. `average`: every label weighs
    the same, or every solution does. `outcome` (ORM): every token of a solution carries its verdict, or its
    last mark only. `dtype`: of the weights; `autocast` computes in bfloat16 while the weights stay float32.
    `splitter`: name of the splitter that made the steps, for the card.
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
    kind: Kind = "prm"
    design: Design = "label"
    classes: int = 3
    readout: Readout = "mark"
    loss: Loss = "cross_entropy"
    focal_gamma: float = 2.0
    average: Average = "step"
    outcome: Outcome = "all"
    dtype: Precision = "float32"
    splitter: str = "newline"
    lora: Lora = field(default_factory=Lora)
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
        self._check_design()

    def _check_design(self) -> None:
        for name, kind in _CHOICES.items():
            _one_of(name, getattr(self, name), kind)
        if self.classes not in (2, 3):
            raise RecipeError("classes must be 2 (bad, good) or 3 (bad, okay, good)")
        if self.focal_gamma < 0:
            raise RecipeError("focal_gamma must not be negative")
        if self.lora.rank and not self.base:
            raise RecipeError("lora.rank needs a base: adapters on random weights learn nothing")
        if self.lora.rank and (self.pretrain.epochs or self.pretrain.steps or self.train.lm_weight):
            raise RecipeError("lora learns the labels only: leave out the pretrain stage and lm_weight")

    @property
    def class_order(self) -> tuple[int, ...]:
        """Classes that the model tells apart: (-1, 0, 1) or (-1, 1)."""
        return (-1, 1) if self.classes == 2 or self.kind == "orm" else (-1, 0, 1)

    def fingerprint(self) -> str:
        """Digest of every setting that decides the result; a run resumes only under the same digest.

        Settings that came later are left out while they have their default, so that a model trained before
        them is still known as finished.
        """
        plain = dataclasses.asdict(self)
        for key in _NOT_IN_FINGERPRINT:
            plain.pop(key)
        for later in dataclasses.fields(self):
            if later.name in _LATER and getattr(self, later.name) == _default(later):
                plain.pop(later.name)
        for stage in ("pretrain", "train"):
            if plain[stage]["accumulate"] == 1:
                plain[stage].pop("accumulate")
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


_CHOICES: dict[str, Any] = {
    "kind": Kind,
    "design": Design,
    "readout": Readout,
    "loss": Loss,
    "average": Average,
    "outcome": Outcome,
    "dtype": Precision,
}
_NOT_IN_FINGERPRINT = (
    "output_dir",
    "checkpoint_steps",
    "checkpoint_seconds",
    "data",
    "corpus",
    "held_out",
    "splitter",
)
_LATER = {*_CHOICES, "classes", "focal_gamma", "lora"}
_PATHS = ("data", "corpus", "held_out")
_PARTS = {"model": ModelShape, "pretrain": Stage, "train": Stage, "lora": Lora}


def _default(of: dataclasses.Field[Any]) -> Any:
    return of.default_factory() if of.default_factory is not dataclasses.MISSING else of.default


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
