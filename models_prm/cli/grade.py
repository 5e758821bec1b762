"""`python -m models_prm grade`: every line of a JSONL file again, with its verdict."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from models_prm.answers import Grade, GraderPool, GraderStartError
from models_prm.errors import PrmError

EXAMPLE = (
    "example: python -m models_prm grade pairs.jsonl\n"
    '  in:  {"given": "0.5", "truth": "\\\\frac{1}{2}"}\n'
    '  out: {"given": "0.5", "truth": "\\\\frac{1}{2}", "verdict": "right"}'
)
Record = dict[str, Any]


class LineError(ValueError):
    """A line that cannot be graded: its number, the field, and the cure."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        'Compare answers. Lines need "given" and "truth" (text, or null for none); they come out in order\n'
        'with "verdict": right, wrong or unknown added. Nothing is printed when any line is bad.'
    )
    parser.epilog = EXAMPLE
    parser.add_argument("file", type=Path, help="JSONL file, or - for standard input")
    parser.add_argument("--votes", action="store_true", help='add "by" and every grader\'s vote as well')
    parser.add_argument("--processes", type=int, default=1, help="worker processes (default: 1)")
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds for one pair (default: 5)")
    parser.add_argument(
        "--strictness",
        choices=["value", "form", "lenient"],
        default="value",
        help="equal by value (default), also in the form the paper's rules ask for, or also when rounded",
    )
    parser.add_argument("--cache", type=Path, help="SQLite file that keeps grades for the next run")
    parser.add_argument(
        "--disagreements", type=Path, help="JSONL file for pairs on which graders contradict each other"
    )


def run(args: argparse.Namespace) -> int:
    """Grade; exit code 1 with one line on stderr when a line is bad or the file cannot be read."""
    try:
        records = read_pairs(args.file)
        grades = _grade(args, [(record["given"], record["truth"]) for record in records])
        if args.disagreements is not None:
            _write_disagreements(args.disagreements, records, grades)
    except (PrmError, OSError, GraderStartError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for record, grade in zip(records, grades, strict=True):
        print(json.dumps({**record, **_said(grade, args.votes)}))
    return 0


def _write_disagreements(path: Path, records: list[Record], grades: list[Grade]) -> None:
    """The disputed pairs with every vote, in the same format, for a person to look at."""
    pairs = [
        {**record, **_said(grade, with_votes=True)}
        for record, grade in zip(records, grades, strict=True)
        if grade.disputed
    ]
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")


def read_pairs(path: Path) -> list[Record]:
    """The records of a file, checked; LineError names the first bad line. Blank lines are passed over."""
    lines: Iterable[bytes] = sys.stdin.buffer if str(path) == "-" else path.read_bytes().splitlines()
    numbered = enumerate(lines, start=1)
    return [_record(number, line) for number, line in numbered if line.strip()]


def _record(number: int, line: bytes) -> Record:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise LineError(f"line {number}: not UTF-8 text; save the file as UTF-8") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise LineError(f"line {number}: not JSON ({error}); write one JSON object a line") from None
    if not isinstance(record, dict):
        raise LineError(f'line {number}: not an object; write {{"given": ..., "truth": ...}}')
    for field in ("given", "truth"):
        if field not in record:
            raise LineError(
                f'line {number}: field "{field}" is missing; add it, null where there is no answer'
            )
        if record[field] is not None and not isinstance(record[field], str):
            kind = type(record[field]).__name__
            raise LineError(f'line {number}: field "{field}" is {kind}, not text; put it in quotes')
    return record


def _grade(args: argparse.Namespace, pairs: list[tuple[str | None, str | None]]) -> list[Grade]:
    # Imported late: on a terminal this loads the progress bar's library.
    from models_prm.answers.cache import GradeCache
    from models_prm.cli.progress import shown
    from models_prm.records import Progress

    cache = None if args.cache is None else GradeCache(args.cache)
    pool = GraderPool(
        args.processes,
        args.time_limit,
        strictness=args.strictness,
        every_vote=args.votes or args.disagreements is not None,
        cache=cache,
    )
    with pool, shown() as tell:
        return pool.grade_many(pairs, lambda done, total: tell(Progress("grade", done, total)))


def _said(grade: Grade, with_votes: bool) -> Record:
    said: Record = {"verdict": grade.verdict.value}
    if with_votes:
        said |= {"by": grade.by, "votes": {name: vote.value for name, vote in grade.votes.items()}}
    return said
