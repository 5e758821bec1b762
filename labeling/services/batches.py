"""Filling and emptying the queue: batches of work, the gold that goes with them, and screening."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, F, Q

from labeling.models import Gold, Problem, Project, QueueItem
from labeling.services import audit, leases

SCREENING_GENERATION = -1
State, Purpose = QueueItem.State, QueueItem.Purpose


@dataclass(frozen=True)
class NewItem:
    """A picked solution: why it was picked, and the solution score that the selector gave it."""

    solution_id: int
    cause: str
    score: float | None = None


def _add(items: Sequence[QueueItem], project: Project, generation: int) -> list[QueueItem]:
    """Insert what is not there yet and give the rows of these solutions in order."""
    QueueItem.objects.bulk_create(items, ignore_conflicts=True, batch_size=500)
    wanted = {item.solution_id for item in items}
    rows = QueueItem.objects.filter(project=project, generation=generation).order_by("position", "id")
    return [row for row in rows if row.solution_id in wanted]


def _gold_for(project: Project, generation: int, count: int, taken_solutions: set[int]) -> Sequence[Gold]:
    """The gold of this generation first, then the least used of those for any generation."""
    usable = Gold.objects.filter(
        Q(generation=generation) | Q(generation__isnull=True),
        solution__problem__project=project,
        solution__problem__status=Problem.Status.OK,
        is_active=True,
    )
    ranked = usable.annotate(uses=Count("solution__queue_items")).order_by(
        F("generation").asc(nulls_last=True), "uses", "id"
    )
    return [gold for gold in ranked if gold.solution_id not in taken_solutions][:count]


def _gold_items(project: Project, generation: int, golds: Sequence[Gold], purpose: str) -> list[QueueItem]:
    return [
        QueueItem(
            project=project,
            generation=generation,
            purpose=purpose,
            solution_id=gold.solution_id,
            position=position,
        )
        for position, gold in enumerate(golds)
    ]


@transaction.atomic
def open_batch(
    project: Project, generation: int, picks: Sequence[NewItem], *, gold_count: int | None = None
) -> list[QueueItem]:
    """Queue the picks in order, each wanted by `project.overlap` labelers, and gold beside them.

    Gives the work items. Calling it again for the same picks adds nothing. A picked solution is
    never used as gold in the same generation. Problems under report are queued as held.
    """
    held = set(
        Problem.objects.filter(project=project, solutions__in=[pick.solution_id for pick in picks])
        .exclude(status=Problem.Status.OK)
        .values_list("solutions__id", flat=True)
    )
    work = [
        QueueItem(
            project=project,
            generation=generation,
            solution_id=pick.solution_id,
            position=position,
            wanted=project.overlap,
            state=State.HELD if pick.solution_id in held else State.OPEN,
            pick_cause=pick.cause,
            verifier_score=pick.score,
        )
        for position, pick in enumerate(picks)
    ]
    rows = _add(work, project, generation)
    present = QueueItem.objects.filter(project=project, generation=generation, purpose=Purpose.GOLD).count()
    missing = (project.gold_per_generation if gold_count is None else gold_count) - present
    if missing > 0:
        in_round = QueueItem.objects.filter(project=project, generation=generation)
        golds = _gold_for(project, generation, missing, set(in_round.values_list("solution", flat=True)))
        _add(_gold_items(project, generation, golds, Purpose.GOLD), project, generation)
    audit.note("batch.opened", f"generation {generation}", project=project, items=len(rows))
    return rows


@transaction.atomic
def close_batch(project: Project, generation: int) -> int:
    """End a generation: its live leases go back and nothing of it is served any more.

    A late submit is still kept, as an extra. Gives the number of released leases.
    """
    items = QueueItem.objects.filter(project=project, generation=generation)
    leases.lock_items(items)
    closed = items.exclude(state=State.CLOSED).update(state=State.CLOSED)
    released = leases.release(Q(project=project, item__generation=generation))
    audit.note("batch.closed", f"generation {generation}", project=project, items=closed, released=released)
    return released


@transaction.atomic
def open_screening(project: Project) -> list[QueueItem]:
    """Queue every active screening gold (generation -1) that is not queued yet; gives all of them."""
    golds = list(
        Gold.objects.filter(
            generation=SCREENING_GENERATION,
            is_active=True,
            solution__problem__project=project,
            solution__problem__status=Problem.Status.OK,
        ).order_by("id")
    )
    return _add(
        _gold_items(project, SCREENING_GENERATION, golds, Purpose.SCREENING), project, SCREENING_GENERATION
    )
