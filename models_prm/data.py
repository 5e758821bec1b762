"""Reading training files, and splitting them by problem. Imports nothing heavy."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from models_prm.errors import DataError, LeakError
from models_prm.records import LabeledSolution, problem_key
from models_prm.training.outcomes import row_of
from models_prm.training.stepwise import Repeats, repeats_labels, rows_of

T = TypeVar("T")
MAX_LINE = 16 * 1024 * 1024
"""Longest accepted line in bytes; a PRM800K record has some tens of kilobytes."""


@dataclass(frozen=True)
class CorpusText:
    """A solution without ratings, for the tokenizer and the language-model warm-up."""

    problem: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Split:
    """Rows for training and held-out rows; no problem is on both sides."""

    train: list[LabeledSolution]
    held_out: list[LabeledSolution]


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbered JSON objects of a file, .gz or plain, line by line in constant memory.

    Raises DataError with file, line and cure: missing file, Git LFS pointer, truncated gzip, invalid UTF-8,
    invalid JSON (NaN included), a line longer than MAX_LINE.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise DataError(
                        f"{path}: line {number} is longer than {MAX_LINE >> 20} MiB: split the record"
                    )
                if line.strip():
                    yield number, _parse(line, path, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: damaged gzip file ({error}): fetch it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot read ({error.strerror or error})") from error


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    if number == 1 and line.startswith(b"version https://git-lfs"):
        raise DataError(
            f"{path}: this is a Git LFS pointer, not the data: run 'git lfs pull' where it came from"
        )
    try:
        value = json.loads(line.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: line {number} is not UTF-8 (byte {error.start}): convert the file"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: line {number} is not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise DataError(f"{path}: line {number} is a {type(value).__name__}, not a JSON object")
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _converted(path: Path, convert: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    for number, record in read_jsonl(path):
        try:
            yield convert(record)
        except DataError as error:
            raise DataError(f"{path}: line {number}: {error}") from error


def load_rows(paths: Iterable[Path]) -> list[LabeledSolution]:
    """Rows with labels per step, in file order: PRM800K lines, TRL's stepwise supervision, lines with
    targets.

    Raises DataError where a record cannot be used.
    """
    rows: list[LabeledSolution] = []
    for path in paths:
        repeats = Repeats()
        for record, found in _converted(path, lambda record: (record, rows_of(record))):
            if repeats_labels(record):
                rows += [fresh for row in found if (fresh := repeats.fresh(row)) is not None]
            else:
                rows += found
    return rows


def load_outcomes(paths: Iterable[Path]) -> list[LabeledSolution]:
    """Graded solutions of pool files, labelled at their last step, in file order. Without a verdict: left
    out.

    Raises DataError where a record cannot be used.
    """
    return [row for path in paths for row in _converted(path, row_of) if row is not None]


def load_corpus(paths: Iterable[Path]) -> list[CorpusText]:
    """Solutions of {"problem", "steps"} files, in file order."""
    return [text for path in paths for text in _converted(path, corpus_text)]


def corpus_text(record: dict[str, Any]) -> CorpusText:
    """One corpus record. Raises DataError naming the field."""
    problem, steps = record.get("problem"), record.get("steps")
    if not isinstance(problem, str):
        raise DataError("problem must be a text")
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise DataError("steps must be a list of texts")
    return CorpusText(problem, tuple(steps))


def load_problem_keys(paths: Iterable[Path]) -> frozenset[str]:
    """Keys of the problems of any files: PRM800K lines, or lines with `problem` or `prompt`."""
    return frozenset(problem_key(text) for path in paths for text in _converted(path, _problem))


def _problem(record: dict[str, Any]) -> str:
    question = record.get("question")
    text = (
        question.get("problem") if isinstance(question, dict) else record.get("problem", record.get("prompt"))
    )
    if not isinstance(text, str):
        raise DataError("no problem here: question.problem, problem or prompt must be a text")
    return text


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def split_rows(rows: Sequence[LabeledSolution], fraction: float, seed: int) -> Split:
    """Set aside `fraction` of the problems (at least one, where fraction > 0 and there are two)."""
    groups = sorted({row.group for row in rows})
    count = min(len(groups) - 1, max(1, round(fraction * len(groups)))) if fraction > 0 else 0
    chosen = set(random.Random(seed).sample(groups, max(0, count)))
    return Split([r for r in rows if r.group not in chosen], [r for r in rows if r.group in chosen])


def refuse_overlap(problems: Iterable[str], refused: Collection[str], where: str) -> None:
    """Raise LeakError listing the problems whose keys are refused (those of the test split, or held out)."""
    texts = {problem_key(text): text for text in problems}
    if found := sorted(set(texts) & set(refused)):
        shown = "; ".join(f"{key[:12]} {texts[key][:60]!r}" for key in found[:5])
        raise LeakError(
            f"{len(found)} problem(s) of {where} belong to the held-out or test split: {shown}"
            f"{' ...' if len(found) > 5 else ''}. Leave them out of the training files."
        )


def rating_counts(rows: Iterable[LabeledSolution]) -> dict[str, int]:
    """Counted ratings by class, under the keys "-1", "0", "1"; soft targets are in `target_mass`."""
    counts = Counter(
        str(r) for row in rows if row.targets is None for r in row.ratings[row.weight_from :] if r is not None
    )
    return {key: counts.get(key, 0) for key in ("-1", "0", "1")}


def target_mass(rows: Iterable[LabeledSolution]) -> tuple[float, float, float]:
    """Label mass of the rows for the classes (-1, 0, +1), with their weights; equals the counts for
    ratings."""
    total = [0.0, 0.0, 0.0]
    for row in rows:
        for position in range(row.weight_from, len(row.steps)):
            for k, part in enumerate(row.mass(position) or ()):
                total[k] += row.weight * part
    return total[0], total[1], total[2]


def label_summary(rows: Sequence[LabeledSolution]) -> dict[str, int | float | None]:
    """What a source holds, for the report before training: rows, problems, labelled steps, share that is
    good."""
    bad, okay, good = target_mass(rows)
    mass = bad + okay + good
    return {
        "rows": len(rows),
        "problems": len({row.group for row in rows}),
        "labels": sum(row.counted for row in rows),
        "bad": round(bad / mass, 4) if mass else None,
        "okay": round(okay / mass, 4) if mass else None,
        "good": round(good / mass, 4) if mass else None,
    }
