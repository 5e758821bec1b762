"""Imports one file: read and check everything, grade, then write all of it in one transaction."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labeling.errors import ImportRefused
from labeling.formats.faults import MAX_FAULTS, BadRecord, Fault
from labeling.formats.reading import Record, read_records
from labeling.formats.registry import FORMATS, Format, choose, names
from labeling.formats.rows import LabelRow, Row
from labeling.importing import gold, grading, labels, problems, solutions
from labeling.importing.batch import Batch
from labeling.importing.options import ImportOptions
from labeling.importing.spool import Spool
from labeling.importing.summary import ImportSummary
from labeling.models import ImportedFile, Project, User
from labeling.services import audit

OnProgress = Callable[[int, int, str], None]
PROGRESS_S = 0.1


@dataclass(frozen=True)
class _Kind:
    take: Callable[[Row, int, Batch], None]
    write: Callable[[Batch], None]
    is_graded: bool = False


KINDS: dict[str, _Kind] = {
    "problems": _Kind(problems.take, problems.write),
    "solutions": _Kind(solutions.take, solutions.write, is_graded=True),
    "labels": _Kind(labels.take, labels.write),
    "gold": _Kind(gold.take, gold.write, is_graded=True),
}


def import_file(
    project: Project,
    kind: str,
    path: Path,
    *,
    format: str = "auto",  # noqa: A002 - the name that commands and pages use
    options: ImportOptions | None = None,
    name: str = "",
    user: User | None = None,
    job: int | None = None,
    on_progress: OnProgress | None = None,
) -> ImportSummary:
    """Import `path` as problems, solutions, labels or gold into `project`.

    `name` is the file's name to people (an upload has another on disk), `job` the id of the job that does
    it. `on_progress(done, total, stage)`
    may raise to stop the import. Nothing of the file stays unless all of it does. Raises ImportRefused,
    whose `extra["problems"]` names line, field, what is wrong and the cure, for at most 20 records.
    """
    started = time.monotonic()
    options = replace(options or ImportOptions(), format=format)
    name = (name or path.name)[:255]
    _check_options(kind, options)
    with Spool() as spool:
        batch = Batch(project, options, spool, _throttled(on_progress))
        chosen = _fill(kind, path, name, batch)
        if KINDS[kind].is_graded:
            grading.grade(batch)
        with transaction.atomic():
            # One import at a time writes into a project; people who label are not held up by this lock.
            Project.objects.select_for_update(no_key=True).get(pk=project.pk)
            batch.source = ImportedFile.objects.create(
                project=project,
                kind=kind,
                format=chosen.name,
                name=name,
                sha256=sha256_of(path),
                imported_by=user,
            )
            KINDS[kind].write(batch)
            return _finish(batch, job, started)


def _throttled(on_progress: OnProgress | None) -> OnProgress:
    """Calls for every record would cost more than the records."""
    last = 0.0

    def tick(done: int, total: int, stage: str) -> None:
        nonlocal last
        now = time.monotonic()
        if on_progress and (now - last > PROGRESS_S or done == total):
            last = now
            on_progress(done, total, stage)

    return tick


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refusal(name: str, faults: list[Fault]) -> ImportRefused:
    """The error for a file with faults."""
    n = len(faults)
    message = ngettext(
        "{name} was not imported: one thing is wrong.", "{name} was not imported: {n} things are wrong.", n
    ).format(name=name, n=n)
    if n >= MAX_FAULTS:
        message += " " + _("Reading stopped there.")
    return ImportRefused(message, problems=[fault.as_dict() | {"text": str(fault)} for fault in faults])


def _check_options(kind: str, options: ImportOptions) -> None:
    if kind not in FORMATS:
        fault = Fault(_("there is no kind {kind}.").format(kind=kind), ", ".join(FORMATS), "kind")
    elif options.format not in names(kind):
        message = _("{kind} have no format {format}.").format(kind=kind, format=options.format)
        fault = Fault(message, _("choose one of {names}.").format(names=", ".join(names(kind))), "format")
    elif kind == "solutions" and not options.pool.strip():
        fault = Fault(_("solutions belong to a pool."), _("name the pool."), "pool")
    elif len(options.pool) > 120 or len(options.dataset) > 60:
        cure = _("a pool's name has at most 120 characters, a data set's 60.")
        fault = Fault(_("the name is too long."), cure, "pool" if len(options.pool) > 120 else "dataset")
    elif options.split not in {None, "train", "test"}:
        fault = Fault(_("there is no split {split}.").format(split=options.split), "train, test", "split")
    else:
        return
    raise refusal(str(kind), [fault])


def _fill(kind: str, path: Path, name: str, batch: Batch) -> Format:
    """Read the whole file into the spool. Raises ImportRefused after all, or 20, bad records."""
    faults: list[Fault] = []
    chosen: Format | None = None
    stage = _("reading")
    try:
        for item in read_records(path, lambda done, size: batch.tick(done, size, stage)):
            try:
                if isinstance(item, Fault):
                    raise BadRecord([item])
                chosen = chosen or choose(kind, batch.options.format, item.data)
                _take(kind, chosen, item, batch)
            except BadRecord as bad:
                faults += [
                    fault if isinstance(item, Fault) else fault.at(item.line, item.record) for fault in bad
                ]
                if chosen is None and isinstance(item, Record):
                    break
            if len(faults) >= MAX_FAULTS:
                break
    except OSError as error:
        faults.append(
            Fault(_("the file cannot be read: {why}.").format(why=error.strerror), _("check its name."))
        )
    if faults or chosen is None:
        raise refusal(name, faults[:MAX_FAULTS])
    return chosen


def _take(kind: str, chosen: Format, record: Record, batch: Batch) -> None:
    rows = chosen.parse(record.data)
    _refuse_twice(rows, record, batch)
    batch.counts["records"] += 1
    for row in rows:
        KINDS[kind].take(row, record.line, batch)


def _refuse_twice(rows: list[Row], record: Record, batch: Batch) -> None:
    """An equal record is a slip, unless it may be another person's judgement or a wanted repeat."""
    if batch.options.repeats or (isinstance(rows[0], LabelRow) and rows[0].is_anonymous):
        return
    first, times = batch.spool.see(_digest(record.data), record.line)
    if times == 1:
        return
    message = _("this record is the same as that of line {line}.").format(line=first)
    cure = _("remove one of the two lines (a pool may hold equal samples: allow repeats when importing).")
    raise BadRecord([Fault(message, cure)])


def _digest(data: Mapping[str, Any]) -> bytes:
    plain = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(b"record:" + plain.encode()).digest()


def _finish(batch: Batch, job: int | None, started: float) -> ImportSummary:
    source = batch.source
    assert source is not None  # noqa: S101 - set where the transaction began
    counts = Counter({name: n for name, n in batch.counts.items() if n})
    seconds = round(time.monotonic() - started, 2)
    source.summary = {
        "counts": dict(counts),
        "seconds": seconds,
        "options": batch.options.as_dict(),
        "job": job,
    }
    source.save(update_fields=["summary"])
    audit.note(
        "import_file",
        source.name,
        project=source.project,
        by=source.imported_by,
        imported_file=source.pk,
        kind=source.kind,
    )
    return ImportSummary(source.kind, source.format, source.name, source.sha256, source.pk, seconds, counts)
