"""Grades kept in a file: a pair is graded once for each version of the grader.

    with GraderPool(cache=GradeCache(Path("grades.sqlite3"))) as pool: ...

One SQLite file, safe from several threads and processes. It is a cache: deleting it costs time only.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path

from models_prm.answers.verdict import GRADER_VERSION, Grade, Verdict
from models_prm.errors import DataError

_TABLE = """CREATE TABLE IF NOT EXISTS grades (
    answer TEXT NOT NULL, truth TEXT NOT NULL, grader TEXT NOT NULL,
    verdict TEXT NOT NULL, decided_by TEXT NOT NULL, votes TEXT NOT NULL,
    PRIMARY KEY (answer, truth, grader)
) WITHOUT ROWID"""
_WAIT_S = 30


class GradeCache:
    """Grades by (answer, truth, grader version and way of grading). Raises DataError for another file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._database = sqlite3.connect(
                path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute(_TABLE)
        except sqlite3.Error as error:
            raise DataError(
                f"{path}: no cache of grades ({error}): delete it, or name another file"
            ) from error

    def get(self, answer: str, truth: str, kind: str) -> Grade | None:
        """The grade of a pair under this version of the grader, None when it is not known."""
        query = "SELECT verdict, decided_by, votes FROM grades WHERE answer = ? AND truth = ? AND grader = ?"
        if not _storable(answer, truth):
            return None
        with self._lock:
            row = self._database.execute(query, (answer, truth, _key(kind))).fetchone()
        if row is None:
            return None
        votes = {name: Verdict(vote) for name, vote in json.loads(row[2]).items()}
        return Grade(Verdict(row[0]), row[1], votes)

    def put(self, answer: str, truth: str, kind: str, grade: Grade) -> None:
        """Keep a grade; texts that are no UTF-8 are not kept."""
        votes = json.dumps({name: vote.value for name, vote in grade.votes.items()})
        row = (answer, truth, _key(kind), grade.verdict.value, grade.by, votes)
        if not _storable(answer, truth):
            return
        with self._lock:
            self._database.execute("INSERT OR REPLACE INTO grades VALUES (?, ?, ?, ?, ?, ?)", row)

    def __len__(self) -> int:
        with self._lock:
            return int(self._database.execute("SELECT COUNT(*) FROM grades").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _storable(*texts: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for text in texts for letter in text)


def _key(kind: str) -> str:
    return f"{GRADER_VERSION}: {kind}"
