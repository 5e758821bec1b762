"""Checks a finished export against its own manifest: sums, counts, and the shape of every line."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from labeling.exporting.formats import TAG
from labeling.exporting.writing import FILES
from labeling.formats import prm800k
from labeling.formats.faults import MAX_FAULTS, BadRecord
from labeling.formats.reading import Record, read_records

NATIVE_COUNTS = {
    "found_error": "labels",
    "solution": "labels",
    "give_up": "give_ups",
    "bad_problem": "bad_problems",
}


@dataclass(frozen=True)
class Check:
    """`problems` is empty for a good export; each names the file and the line."""

    format: str
    lines: int
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


def validate_export(path: Path) -> Check:
    """Check the export in the folder `path` (or with the manifest `path`)."""
    manifest_path = path / FILES[2] if path.is_dir() else path
    try:
        manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
        name, files = manifest["format"], manifest["files"]
        labels, sides = (manifest_path.parent / file for file in files)
        problems = [*_sums(manifest_path.parent, files)]
        if not problems:
            problems = [*_lines(labels, sides, manifest)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Check(
            "", 0, [_("{path} is no manifest of an export: {error}.").format(path=manifest_path, error=error)]
        )
    return Check(name, manifest["lines"]["total"], problems[:MAX_FAULTS])


def _sums(folder: Path, files: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, wanted in files.items():
        file = folder / name
        if not file.is_file():
            yield _("{file} is missing.").format(file=name)
            continue
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != wanted["sha256"]:
            yield _("{file} is not the file that was exported: its sha256 differs.").format(file=name)


def _lines(labels: Path, sides: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """Shapes of both files, and every count of the manifest made again from the lines."""
    check = SHAPES[manifest["format"]]
    counts: Counter[str] = Counter()
    native: Counter[str] = Counter()
    numbers = {"labels": 0, "side": 0}
    side_lines = (json.loads(line) for line in sides.open(encoding="utf-8"))
    if manifest["lines"]["total"]:
        for item in read_records(labels):
            if not isinstance(item, Record):
                yield f"{labels.name}: {item}"
                continue
            numbers["labels"] += 1
            side = next(side_lines, None)
            numbers["side"] += side is not None
            yield from (f"{labels.name}: line {item.line}: {problem}" for problem in check(item.data))
            if manifest["format"] == "prm800k" and side is not None:
                _count(item.data, side, counts, native)
    numbers["side"] += sum(1 for _line in side_lines)
    yield from _differences(manifest, numbers, counts, native)


def _count(record: dict[str, Any], side: dict[str, Any], counts: Counter[str], native: Counter[str]) -> None:
    reason = record["label"]["finish_reason"]
    counts[f"by_purpose {side['purpose']}"] += 1
    counts[f"by_finish_reason {reason or 'none'}"] += 1
    counts[f"by_origin {side['origin']}"] += 1
    if side["origin"] == "stepmark" and side["purpose"] == "work":
        native["extras" if side["is_extra"] else NATIVE_COUNTS.get(reason, "unknown")] += 1
        native["quarantined"] += side["quarantined_at"] is not None and not side["is_extra"]


def _differences(
    manifest: dict[str, Any], numbers: dict[str, int], counts: Counter[str], native: Counter[str]
) -> Iterator[str]:
    total = manifest["lines"]["total"]
    for file, n in numbers.items():
        if n != total:
            yield _("{file} has {n} lines, the manifest says {total}.").format(file=file, n=n, total=total)
    if manifest["format"] != "prm800k":
        return
    for group in ("by_purpose", "by_finish_reason", "by_origin"):
        for key, n in manifest["lines"][group].items():
            if counts[f"{group} {key}"] != n:
                found = counts[f"{group} {key}"]
                yield _("{group} {key}: {found} lines, the manifest says {n}.").format(
                    group=group, key=key, found=found, n=n
                )
    if manifest["excluded"]:
        return
    for key in ("labels", "give_ups", "bad_problems", "extras", "quarantined"):
        if native[key] != manifest["totals"][key]:
            yield _("{key}: {found} in the lines, {n} on the dashboard.").format(
                key=key, found=native[key], n=manifest["totals"][key]
            )


def _prm800k(line: dict[str, Any]) -> Iterator[str]:
    try:
        row = prm800k.parse_label(line)
    except BadRecord as bad:
        yield from (str(fault) for fault in bad)
        return
    yield from (_("unknown name {name}.").format(name=name) for name in row.side)


def _trl(line: dict[str, Any]) -> Iterator[str]:
    completions, labels = line.get("completions"), line.get("labels")
    if set(line) != {"prompt", "completions", "labels"} or not isinstance(line["prompt"], str):
        yield _("not the fields prompt, completions, labels.")
    elif not _are(str, completions) or not _are(bool, labels) or len(completions or ()) != len(labels or ()):
        yield _("completions and labels are not lists of the same length of texts and booleans.")
    elif labels is None or False in labels[:-1]:
        yield _("a step follows the first bad one.")


def _math_shepherd(line: dict[str, Any]) -> Iterator[str]:
    if set(line) != {"input", "label", "task"} or not _are(str, list(line.values())):
        yield _("not the fields input, label, task.")
        return
    ends = [part[-2:] for part in line["label"].split("\n") if part[-2:] in {" +", " -"}]
    if not ends or line["input"].count(TAG) < len(ends):
        yield _("not one tag for each label.")


def _processbench(line: dict[str, Any]) -> Iterator[str]:
    fields = {"id", "generator", "problem", "steps", "final_answer_correct", "label"}
    if set(line) != fields or not _are(str, line["steps"]) or not line["steps"]:
        yield _("not the fields of ProcessBench.")
    elif not -1 <= line["label"] < len(line["steps"]):
        yield _("the label is no step.")


def _are(kind: type, values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


SHAPES: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "prm800k": _prm800k,
    "trl": _trl,
    "math-shepherd": _math_shepherd,
    "processbench": _processbench,
}
