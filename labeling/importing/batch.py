"""One import under way: what every kind of rows needs while it is read and written."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from labeling.formats.rows import ProblemRow
from labeling.importing.options import ImportOptions
from labeling.importing.spool import Spool
from labeling.models import ImportedFile, Project

CHUNK = 500
"""Rows looked up and written at a time."""


@dataclass
class Batch:
    project: Project
    options: ImportOptions
    spool: Spool
    tick: Callable[[int, int, str], None]
    counts: Counter[str] = field(default_factory=Counter)
    # Several solutions of one record share their problem: it is spooled once.
    last_problem: tuple[ProblemRow, int] | None = None
    # Set when the transaction has begun.
    source: ImportedFile | None = None
