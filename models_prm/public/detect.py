"""Which family a model directory belongs to, told by its files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from models_prm.errors import ModelError
from models_prm.public.base import Adapter, PublicScorer
from models_prm.public.weights import local_directory, read_config, tensor_names

ADAPTERS: dict[str, tuple[str, str]] = {
    "trl": ("models_prm.public.trl", "TrlAdapter"),
    "math-shepherd": ("models_prm.public.math_shepherd", "MathShepherdAdapter"),
    "qwen": ("models_prm.public.qwen", "QwenAdapter"),
    "rlhflow": ("models_prm.public.rlhflow", "RlhflowAdapter"),
    "skywork": ("models_prm.public.skywork", "SkyworkAdapter"),
}
"""Module and class of each family, by the name that `load_scorer(kind=...)` takes."""


def load_public(
    source: str | Path, device: str = "cpu", dtype: str = "float32", kind: str = "auto"
) -> PublicScorer:
    """Open a public model from a directory or a hub name.

    Raises ModelError when it cannot be loaded, or when its files do not say which family it is.
    """
    directory = local_directory(source)
    chosen = family(directory, str(source)) if kind == "auto" else kind
    if chosen not in ADAPTERS:
        raise ModelError(f"no kind {kind!r} of reward model: choose one of {', '.join(ADAPTERS)}")
    module, name = ADAPTERS[chosen]
    load: Callable[..., Adapter] = getattr(import_module(module), name).load
    return PublicScorer(load(directory, Path(source).name or str(source), device, dtype))


def family(directory: Path, source: str) -> str:
    """Name of the family.

    A plain causal language model may be Math-Shepherd's or RLHFlow's: its files do not tell, its name may.
    """
    config = read_config(directory)
    architectures = " ".join(map(str, config.get("architectures") or ()))
    names = tensor_names(directory)
    if "v_head.summary.weight" in names:
        return "skywork"
    if {"score.0.weight", "score.2.weight"} <= names:
        return "qwen"
    if "ForTokenClassification" in architectures:
        return "trl"
    if "ForCausalLM" in architectures:
        told = f"{source} {config.get('_name_or_path', '')}".casefold()
        for hint, kind in (("shepherd", "math-shepherd"), ("rlhflow", "rlhflow")):
            if hint in told:
                return kind
        raise ModelError(
            f"{source}: a language model without a card or head; if it is a reward model, say which: "
            "kind='math-shepherd' or kind='rlhflow'"
        )
    raise ModelError(
        f"{source}: no known kind of process reward model ({architectures or 'no architecture'})"
    )
