"""Judgements from PRM800K lines. The line is stored as it is; a line that is here already changes nothing."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.prm800k import timestamp
from labeling.formats.rows import LabelRow, Row
from labeling.importing import problems
from labeling.importing.batch import CHUNK, Batch
from labeling.importing.spool import SpooledItem
from labeling.models import Label, QueueItem
from labeling.records import record_hash


def take(row: Row, line: int, batch: Batch) -> None:
    """Judgements without labeler and time may be equal and yet two people's: the n-th has its own key."""
    assert isinstance(row, LabelRow)  # noqa: S101 - the registry gives label rows to this kind
    digest = record_hash(row.record)
    _first, times = batch.spool.see(digest.encode(), line)
    if times > 1:
        digest = hashlib.sha256(f"{digest}#{times}".encode()).hexdigest()
    number = problems.add_problem(row.problem, line, batch)
    counts = row.counts
    payload = {
        "record": row.record,
        "hash": digest,
        "side": row.side,
        "first_error": counts.first_error,
        "n": [counts.n_good, counts.n_neutral, counts.n_bad, counts.n_unrated],
    }
    batch.spool.add_item(line, number, payload)


def write(batch: Batch) -> None:
    problems.write(batch)
    total, done = batch.spool.count("item"), 0
    for chunk in batch.spool.items(CHUNK):
        # A line that was corrected here since it was exported is known too, so no revision is left out.
        known = set(
            Label.objects.filter(
                project=batch.project, record_hash__in=[item.payload["hash"] for item in chunk]
            ).values_list("record_hash", flat=True)
        )
        new = [_make(item, batch) for item in chunk if item.payload["hash"] not in known]
        Label.objects.bulk_create(new)
        batch.counts["labels_new"] += len(new)
        batch.counts["labels_unchanged"] += len(chunk) - len(new)
        done += len(chunk)
        batch.tick(done, total, _("writing"))


def _make(item: SpooledItem, batch: Batch) -> Label:
    payload, record = item.payload, item.payload["record"]
    good, neutral, bad, unrated = payload["n"]
    time = record["label"]["total_time"]
    return Label(
        project=batch.project,
        problem_id=item.problem_pk,
        record=record,
        record_hash=payload["hash"],
        generation=record["generation"],
        purpose=_purpose(record),
        finish_reason=record["label"]["finish_reason"] or "",
        first_error=payload["first_error"],
        n_good=good,
        n_neutral=neutral,
        n_bad=bad,
        n_unrated=unrated,
        total_time_ms=None if time is None else round(time),
        submitted_at=_submitted_at(record),
        side=payload["side"],
        source=batch.source,
        source_line=item.line,
    )


def _purpose(record: dict[str, Any]) -> str:
    if record["is_initial_screening_question"]:
        return QueueItem.Purpose.SCREENING
    if record["is_quality_control_question"]:
        return QueueItem.Purpose.GOLD
    return QueueItem.Purpose.WORK


def _submitted_at(record: dict[str, Any]) -> datetime | None:
    """PRM800K writes naive times; they are taken as UTC. The record keeps them as written."""
    when = timestamp(record)
    return when.replace(tzinfo=UTC) if when and when.tzinfo is None else when
