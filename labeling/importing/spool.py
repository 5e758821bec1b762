"""A file between reading and writing: parsed rows wait on disk, so that memory stays flat.

A file is read, checked and graded into the spool first and written to the database in one short
transaction afterwards; the write lock is never held while an answer is graded. The spool is a private
SQLite file that is gone when the import ends.
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from labeling.formats.rows import ProblemRow
from labeling.records import text_hash

_TABLES = """
CREATE TABLE problem (id INTEGER PRIMARY KEY, hash TEXT UNIQUE, text TEXT, answer TEXT, solution TEXT,
    external_id TEXT, subject TEXT, level TEXT, line INTEGER, truth TEXT, pk INTEGER);
CREATE TABLE item (id INTEGER PRIMARY KEY, line INTEGER, problem INTEGER, payload TEXT,
    answer TEXT, grade TEXT NOT NULL DEFAULT 'unknown', graded_by TEXT NOT NULL DEFAULT '',
    votes TEXT NOT NULL DEFAULT '');
CREATE TABLE seen (key BLOB PRIMARY KEY, line INTEGER, n INTEGER) WITHOUT ROWID;
"""


FLUSH = 200
"""Rows held back so that they go to disk together."""


class SpooledProblem(NamedTuple):
    id: int
    hash: str
    row: ProblemRow
    line: int
    truth: str | None


class SpooledItem(NamedTuple):
    """A row of the file with the key of its problem in the database (None before problems are written)."""

    id: int
    line: int
    problem_pk: int
    payload: Any
    answer: str | None
    grade: str
    graded_by: str
    # What each grader said, where a person should look; else empty.
    votes: dict[str, str]


class Spool:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="stepmark-import-")
        self._db = sqlite3.connect(Path(self._folder.name) / "spool.sqlite3", isolation_level=None)
        self._db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + _TABLES)
        self._waiting: list[tuple[int, int, str, str | None]] = []

    def __enter__(self) -> "Spool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()
        self._folder.cleanup()

    def see(self, key: bytes, line: int) -> tuple[int, int]:
        """(line where `key` was seen first, how often it was seen by now)."""
        found = self._db.execute(
            "INSERT INTO seen VALUES (?, ?, 1) ON CONFLICT (key) DO UPDATE SET n = n + 1 RETURNING line, n",
            (key, line),
        ).fetchone()
        return int(found[0]), int(found[1])

    def add_problem(self, row: ProblemRow, line: int) -> tuple[int, bool]:
        """The problem's number in the spool, and whether an earlier line gave it another answer.

        What an earlier line left out is filled in; what it gave is kept.
        """
        key = text_hash(row.text)
        found = self._db.execute("SELECT id, answer FROM problem WHERE hash = ?", (key,)).fetchone()
        if found is None:
            added = self._db.execute(
                "INSERT INTO problem (hash, text, answer, solution, external_id, subject, level, line)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (key, *astuple(row), line),
            )
            return int(added.lastrowid or 0), False
        self._db.execute(
            "UPDATE problem SET answer = coalesce(answer, ?), solution = coalesce(solution, ?) WHERE id = ?",
            (row.answer, row.solution, found[0]),
        )
        return int(found[0]), None not in {found[1], row.answer} and found[1] != row.answer

    def add_item(self, line: int, problem: int, payload: Any, answer: str | None = None) -> None:
        self._waiting.append((line, problem, json.dumps(payload, separators=(",", ":")), answer))
        if len(self._waiting) >= FLUSH:
            self._flush()

    def _flush(self) -> None:
        self._db.executemany(
            "INSERT INTO item (line, problem, payload, answer) VALUES (?, ?, ?, ?)", self._waiting
        )
        self._waiting.clear()

    def count(self, table: str) -> int:
        self._flush()
        assert table in {"problem", "item"}  # noqa: S101 - never a text from outside
        return int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608

    def problems(self, size: int) -> Iterator[list[SpooledProblem]]:
        """All problems in file order, `size` at a time; the spool may be changed between two pieces."""
        last = 0
        while rows := self._db.execute(
            "SELECT id, hash, text, answer, solution, external_id, subject, level, line, truth"
            " FROM problem WHERE id > ? ORDER BY id LIMIT ?",
            (last, size),
        ).fetchall():
            last = rows[-1][0]
            yield [SpooledProblem(r[0], r[1], ProblemRow(*r[2:8]), r[8], r[9]) for r in rows]

    def set_problems(self, column: str, values: Sequence[tuple[Any, int]]) -> None:
        """Set `truth` or `pk` of problems: (value, number in the spool)."""
        assert column in {"truth", "pk"}  # noqa: S101 - never a text from outside
        self._db.executemany(f"UPDATE problem SET {column} = ? WHERE id = ?", values)  # noqa: S608

    def items(self, size: int) -> Iterator[list[SpooledItem]]:
        """All rows in file order, `size` at a time."""
        self._flush()
        last = 0
        while rows := self._db.execute(
            "SELECT item.id, item.line, pk, payload, item.answer, grade, graded_by, votes"
            " FROM item JOIN problem ON problem.id = item.problem WHERE item.id > ? ORDER BY item.id LIMIT ?",
            (last, size),
        ).fetchall():
            last = rows[-1][0]
            yield [
                SpooledItem(r[0], r[1], r[2], json.loads(r[3]), r[4], r[5], r[6], json.loads(r[7] or "{}"))
                for r in rows
            ]

    def to_grade(self, size: int) -> Iterator[list[tuple[int, str | None, str]]]:
        """(number of the row, answer, truth) of every row whose problem has a known answer."""
        self._flush()
        last = 0
        while rows := self._db.execute(
            "SELECT item.id, item.answer, truth FROM item JOIN problem ON problem.id = item.problem"
            " WHERE item.id > ? AND truth IS NOT NULL ORDER BY item.id LIMIT ?",
            (last, size),
        ).fetchall():
            last = rows[-1][0]
            yield rows

    def set_grades(self, grades: Sequence[tuple[str, str, str, int]]) -> None:
        """(grade, which rule decided, votes as JSON or "", number of the row)."""
        self._db.executemany("UPDATE item SET grade = ?, graded_by = ?, votes = ? WHERE id = ?", grades)

    def grade_by_file(self, rule: str) -> None:
        """Rows with no known truth take the file's own verdict, where it has one."""
        self._flush()
        self._db.execute(
            "UPDATE item SET grade = iif(json_extract(payload, '$.is_correct'), 'right', 'wrong'),"
            " graded_by = ? WHERE json_extract(payload, '$.is_correct') IS NOT NULL"
            " AND problem IN (SELECT id FROM problem WHERE truth IS NULL)",
            (rule,),
        )
