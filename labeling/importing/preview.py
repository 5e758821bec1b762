"""What a file would become, from its first records: shown before anything is imported."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from labeling.formats.faults import MAX_FAULTS, BadRecord, Fault
from labeling.formats.reading import read_records
from labeling.formats.registry import Format, choose
from labeling.formats.rows import GoldRow, LabelRow, ProblemRow, Row, SolutionRow

SHOWN = 5
CHECKED = 1000


@dataclass
class Preview:
    """`checked` records were read; `is_whole` when the file has no more."""

    columns: list[str | Promise] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    format: str = ""
    checked: int = 0
    is_whole: bool = False


def preview(kind: str, path: Path, format: str = "auto") -> Preview:  # noqa: A002
    """The first rows of a file as a table, and what is wrong in its first thousand records."""
    seen = Preview()
    chosen: Format | None = None
    for item in read_records(path):
        if seen.checked >= CHECKED or len(seen.faults) >= MAX_FAULTS:
            return seen
        seen.checked += 1
        if isinstance(item, Fault):
            seen.faults.append(item)
            continue
        try:
            chosen = chosen or choose(kind, format, item.data)
            seen.format = chosen.name
            rows = chosen.parse(item.data)
        except BadRecord as bad:
            seen.faults += [fault.at(item.line, item.record) for fault in bad]
            if chosen is None:
                return seen
            continue
        _show(rows, seen)
    seen.is_whole = True
    return seen


def _show(rows: list[Row], seen: Preview) -> None:
    for row in rows[: SHOWN - len(seen.rows)]:
        cells = _CELLS[type(row)](row)
        seen.columns = list(cells)
        seen.rows.append(list(cells.values()))


Cells = dict[str | Promise, Any]


def _problem_cells(row: ProblemRow) -> Cells:
    return {
        _("Problem"): row.text,
        _("Answer"): row.answer,
        _("Subject"): row.subject,
        _("Level"): row.level,
    }


def _solution_cells(row: SolutionRow) -> Cells:
    return {
        _("Problem"): row.problem.text,
        _("Right answer"): row.problem.answer,
        _("Steps"): len(row.steps) if row.steps is not None else _("to be split"),
        _("Begins with"): row.steps[0] if row.steps else row.text,
        _("Generator"): row.generator,
    }


def _label_cells(row: LabelRow) -> Cells:
    counts = row.counts
    return {
        _("Problem"): row.problem.text,
        _("Steps"): len(row.record["label"]["steps"]),
        _(
            "+1 / 0 / -1 / none"
        ): f"{counts.n_good} / {counts.n_neutral} / {counts.n_bad} / {counts.n_unrated}",
        _("Finish reason"): row.record["label"]["finish_reason"],
        _("Generation"): row.record["generation"],
    }


def _gold_cells(row: GoldRow) -> Cells:
    steps = row.solution.steps or ()
    return {
        _("Problem"): row.solution.problem.text,
        _("Steps"): len(steps),
        _("First error"): _("none") if row.first_error is None else row.first_error + 1,
        _("The step with the error"): "" if row.first_error is None else steps[row.first_error],
    }


_CELLS: dict[type, Callable[[Any], Cells]] = {
    ProblemRow: _problem_cells,
    SolutionRow: _solution_cells,
    LabelRow: _label_cells,
    GoldRow: _gold_cells,
}
