"""Checkpoints that a kill at any moment cannot spoil: one file, written beside and renamed into place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from models_prm.errors import RecipeError

FILE = "checkpoint.pt"


def write_atomic(path: Path, write: Any) -> None:
    """Call `write(temporary_path)`, flush it to disk, rename it to `path`. A reader sees old or new, never
    half."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def save_checkpoint(directory: Path, state: dict[str, Any]) -> None:
    """Replace the directory's checkpoint by `state` (tensors and plain values)."""
    write_atomic(directory / FILE, lambda path: torch.save(state, path))


def load_checkpoint(directory: Path, fingerprint: str) -> dict[str, Any] | None:
    """The checkpoint of the directory, None if there is none.

    Raises RecipeError if it belongs to other settings or data: going on from it would mix two runs.
    """
    path = directory / FILE
    for leftover in directory.glob(f".{FILE}.*.tmp"):
        leftover.unlink(missing_ok=True)
    if not path.exists():
        return None
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    if state.get("fingerprint") != fingerprint:
        raise RecipeError(
            f"{directory} holds an unfinished run with other settings or data: "
            f"choose another output directory, or delete {path.name} there to begin anew"
        )
    return state


def remove_checkpoint(directory: Path) -> None:
    """Delete the checkpoint once the finished model is in place."""
    (directory / FILE).unlink(missing_ok=True)
