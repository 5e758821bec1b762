"""Settings beside a file that is gone on with: a run never mixes two kinds of lines in one file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from models_prm.errors import DataError

OF_THE_MACHINE = frozenset(
    {
        "output",
        "device",
        "dtype",
        "rows",
        "concurrency",
        "per_request",
        "server",
        "server_reports_stop",
        "pictures",
        "together",
    }
)
"""Arguments of the commands that may change between two runs: they decide nothing about the content."""


def check_settings(path: Path, settings: dict[str, Any]) -> None:
    """Write the settings beside a new file, or compare them with those it was begun with.

    Raises DataError naming what differs, or when a file with lines has no settings beside it.
    """
    beside = path.with_name(f"{path.name}.settings.json")
    if not path.exists() or not path.stat().st_size:
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
        return
    try:
        before = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataError(
            f"{path} holds lines but {beside.name} cannot be read: choose another output file"
        ) from None
    plain = json.loads(json.dumps(settings))
    other = [key for key in plain if before.get(key) != plain[key]]
    if other:
        raise DataError(
            f"{path} was begun with other settings ({', '.join(other)}): give the same, or another file"
        )


def settings_of(args: argparse.Namespace, leave_out: Collection[str] = OF_THE_MACHINE) -> dict[str, Any]:
    """A command's arguments as settings: paths by their last name, those of the machine left out."""
    return {
        name: value.name if isinstance(value, Path) else value
        for name, value in sorted(vars(args).items())
        if name not in leave_out
    }


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file that is gone on with; a last line without its newline is cut off the file."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        return []
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
    return data[:whole].splitlines()
