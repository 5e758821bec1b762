"""Writes an export: labels.jsonl, side.jsonl in the same order, and manifest.json last."""

import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.errors import LabelingError
from labeling.exporting.formats import ONLY_USABLE, POLICY, WRITERS, Exported
from labeling.exporting.snapshot import Snapshot, take_snapshot
from labeling.models import Label, Project

OnProgress = Callable[[int, int, str], None]
FILES = ("labels.jsonl", "side.jsonl", "manifest.json")


class ExportRefused(LabelingError):
    """The export was not written."""

    code = "export_refused"


@dataclass(frozen=True)
class Manifest:
    """Where the export lies and what its manifest.json says."""

    labels: Path
    side: Path
    path: Path
    content: dict[str, Any]

    @property
    def lines(self) -> int:
        return int(self.content["lines"]["total"])


def iter_lines(
    project: Project,
    format: str,
    *,
    generation: int | None = None,
    only_usable: bool = False,  # noqa: A002
) -> Iterator[Exported]:
    """The lines of an export, in the order of labels, in constant memory."""
    snapshot = _snapshot(project, format, generation, only_usable)
    for label in snapshot.labels():
        yield from WRITERS[format](label)


def write_export(
    project: Project,
    format: str,  # noqa: A002 - the name that commands and pages use
    path: Path,
    *,
    generation: int | None = None,
    only_usable: bool = False,
    on_progress: OnProgress | None = None,
) -> Manifest:
    """Write an export to the folder `path`, or beside it where `path` names a .jsonl file.

    Files appear under their names only when they are whole, the manifest last. `only_usable` leaves out of
    PRM800K lines what training should not use; the other formats always do. Raises ExportRefused.
    """
    snapshot = _snapshot(project, format, generation, only_usable)
    labels, side, manifest = places(path)
    try:
        labels.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as files:
            lines = files.enter_context(_Lines(labels))
            sides = files.enter_context(_Lines(side))
            counts = _write(snapshot, format, lines, sides, on_progress)
        content = _manifest(snapshot, format, only_usable, {labels.name: lines, side.name: sides}, counts)
        with _Lines(manifest) as out:
            out.text(json.dumps(content, indent=2, ensure_ascii=False))
    except OSError as error:
        raise ExportRefused(
            _("The export cannot be written to {path}: {why}.").format(path=path, why=error.strerror)
        ) from error
    return Manifest(labels, side, manifest, content)


def places(path: Path) -> tuple[Path, Path, Path]:
    """Labels, side and manifest of an export at `path`: a folder, or the name of the file of lines."""
    if path.suffix != ".jsonl":
        return path / FILES[0], path / FILES[1], path / FILES[2]
    return path, path.with_suffix(".side.jsonl"), path.with_suffix(".manifest.json")


def new_name(project: Project, name: str) -> str:
    """A name for a new export's folder; its end cannot be guessed."""
    now = timezone.now().strftime("%Y%m%d-%H%M%S")
    return f"{project.slug}-{name}-{now}-{secrets.token_hex(4)}"


def _snapshot(project: Project, name: str, generation: int | None, only_usable: bool) -> Snapshot:
    if name not in WRITERS:
        message = _("There is no format {name}; choose one of {names}.")
        raise ExportRefused(message.format(name=name, names=", ".join(WRITERS)))
    return take_snapshot(project, generation=generation, only_usable=only_usable or name in ONLY_USABLE)


class _Lines:
    """A text file under construction: it takes its name only when it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digest = hashlib.sha256()
        self.bytes = self.lines = 0
        self._part = path.with_name(path.name + f".{os.getpid()}.part")

    def __enter__(self) -> "_Lines":
        self._file = self._part.open("wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is None:
            self._part.replace(self.path)
        else:
            self._part.unlink()

    def text(self, text: str) -> None:
        data = (text + "\n").encode()
        self._file.write(data)
        self.digest.update(data)
        self.bytes += len(data)
        self.lines += 1

    def json(self, value: dict[str, Any]) -> None:
        self.text(json.dumps(value, ensure_ascii=False))


def _write(
    snapshot: Snapshot, name: str, lines: _Lines, sides: _Lines, on_progress: OnProgress | None
) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {"purpose": Counter(), "finish_reason": Counter(), "origin": Counter()}
    total = len(snapshot.ids)
    for done, label in enumerate(snapshot.labels(), 1):
        before = lines.lines
        for exported in WRITERS[name](label):
            lines.json(exported.line)
            sides.json(exported.side)
        _count(label, lines.lines - before, counts)
        if on_progress:
            on_progress(done, total, _("writing"))
    return counts


def _count(label: Label, lines: int, counts: dict[str, Counter[str]]) -> None:
    if not lines:
        counts.setdefault("without_line", Counter())[label.finish_reason or "no_finish_reason"] += 1
        return
    counts["purpose"][label.purpose] += lines
    counts["finish_reason"][label.finish_reason or "none"] += lines
    counts["origin"]["stepmark" if label.assignment_id else "file"] += lines


def _manifest(
    snapshot: Snapshot,
    name: str,
    only_usable: bool,
    files: dict[str, _Lines],
    counts: dict[str, Counter[str]],
) -> dict[str, Any]:
    lines = next(iter(files.values())).lines
    without = counts.pop("without_line", Counter())
    return {
        "format": name,
        "project": snapshot.project.slug,
        "generation": snapshot.generation,
        "made_at": snapshot.made_at,
        "labels": len(snapshot.ids),
        "lines": {"total": lines, **{f"by_{key}": dict(values) for key, values in counts.items()}},
        "excluded": snapshot.excluded,
        "without_a_line": dict(without),
        "totals": snapshot.totals,
        "policy": POLICY[name]
        | ({"labels": POLICY["trl"]["labels"]} if only_usable and name == "prm800k" else {}),
        "files": {
            file: {"sha256": out.digest.hexdigest(), "bytes": out.bytes, "lines": out.lines}
            for file, out in files.items()
        },
    }
