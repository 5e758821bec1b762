"""Which labels an export holds and what the dashboard counts, both taken at one moment.

A label's record never changes, so once the ids are fixed the lines can be read at leisure while people go
on working: lines and totals belong to the same moment without a long transaction.
"""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from labeling.models import Label, Project, QueueItem
from labeling.queries.counts import generation_counts, project_counts
from labeling.queries.labels import current_labels, usable_labels

CHUNK = 200


@dataclass(frozen=True)
class Snapshot:
    """`ids` of the labels to write, in order; `excluded` counts the other current labels by reason."""

    project: Project
    generation: int | None
    ids: "array[int]"
    excluded: dict[str, int]
    totals: dict[str, Any]
    made_at: str

    def labels(self) -> Iterator[Label]:
        """The labels one by one, in constant memory."""
        for start in range(0, len(self.ids), CHUNK):
            wanted = self.ids[start : start + CHUNK]
            rows = Label.objects.filter(pk__in=list(wanted)).select_related(
                "source", "solution__pool", "problem"
            )
            yield from rows.order_by("pk")


def take_snapshot(project: Project, *, generation: int | None, only_usable: bool) -> Snapshot:
    """`only_usable` keeps what training may use: see `labeling.queries.labels.usable_labels`."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if connection.vendor == "postgresql" and outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        every = current_labels(project)
        if generation is not None:
            every = every.filter(generation=generation)
        kept = usable_labels(project, generation=generation) if only_usable else every
        ids = array("q", kept.order_by("pk").values_list("pk", flat=True).iterator())
        left_out = every.exclude(pk__in=kept.order_by().values("pk"))
        excluded = Counter(_reason(label) for label in left_out.only(*_COLUMNS).iterator())
        totals = asdict(
            project_counts(project) if generation is None else generation_counts(project, generation)
        )
        return Snapshot(project, generation, ids, dict(excluded), totals, timezone.now().isoformat())


_COLUMNS = ("quarantined_at", "is_extra", "purpose", "finish_reason")


def _reason(label: Label) -> str:
    """The first reason why a label is not usable."""
    if label.quarantined_at is not None:
        return "quarantined"
    if label.is_extra:
        return "extra"
    if label.purpose != QueueItem.Purpose.WORK:
        return str(label.purpose)
    return str(label.finish_reason) or "no_finish_reason"
