"""Files of a public model: directory, configuration, extra tensors. No foreign code is ever run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models_prm.errors import ModelError

INDEX = "model.safetensors.index.json"


def local_directory(source: str | Path) -> Path:
    """The model's directory; a hub name is fetched. Raises ModelError when there is neither."""
    path = Path(source)
    if path.is_dir():
        return path
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(str(source)))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise ModelError(
            f"{source}: neither a directory nor a model that can be fetched ({error})"
        ) from error


def read_config(directory: Path) -> dict[str, Any]:
    """The model's config.json. Raises ModelError when it is missing or damaged."""
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{directory}: no readable config.json: is this a model directory?") from error
    return dict(config)


def _files(directory: Path) -> dict[str, Path]:
    """Tensor name -> file."""
    from safetensors import safe_open

    if (directory / INDEX).exists():
        names = json.loads((directory / INDEX).read_text(encoding="utf-8"))["weight_map"]
        return {name: directory / file for name, file in names.items()}
    found: dict[str, Path] = {}
    for path in sorted(directory.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            found |= dict.fromkeys(file.keys(), path)
    return found


def tensor_names(directory: Path) -> set[str]:
    """Names of all tensors in the safetensors files."""
    return set(_files(directory))


def read_tensors(directory: Path, prefix: str) -> dict[str, Tensor]:
    """Tensors whose names begin with `prefix`, without it. Raises ModelError when there are none."""
    from safetensors import safe_open

    result = {}
    for name, path in _files(directory).items():
        if name.startswith(prefix):
            with safe_open(path, "pt") as file:
                result[name.removeprefix(prefix)] = file.get_tensor(name)
    if not result:
        raise ModelError(f"{directory}: no tensors {prefix}* in its safetensors files")
    return result


def load_tokenizer(directory: Path) -> Any:
    """The fast tokenizer. Raises ModelError when there is none."""
    from transformers import AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(directory, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{directory}: cannot load its tokenizer ({error})") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{directory}: needs a fast tokenizer (tokenizer.json)")
    return tokenizer


def load_model(directory: Path, loader: Any, device: str, dtype: str) -> Any:
    """Weights through a transformers class, for reading only. Raises ModelError."""
    from models_prm.prm import quiet

    quiet()
    try:
        lm: Any = loader.from_pretrained(directory, dtype=getattr(torch, dtype), trust_remote_code=False)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"{directory}: cannot load its weights ({error})") from error
    return lm.to(device).eval()
