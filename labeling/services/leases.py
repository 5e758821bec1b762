"""Leases: who holds a place of which queue item, for how long, and how it goes back.

Every change of `QueueItem.taken` is made here, together with its assignment. Rows are locked in one
order everywhere, so that no two transactions wait for each other: the person's enrolment, queue
items by number, then live assignments. (A submit or draft locks its own assignment first, and then
an item only when that assignment is no longer live.)
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from labeling.models import Assignment, Project, QueueItem, User

Status = Assignment.Status


def lease_end(project: Project, now: datetime) -> datetime:
    return now + timedelta(minutes=project.lease_minutes)


def take_place(item: QueueItem, *, also_held: bool = False) -> bool:
    """Take one place of a work item if one is free; gold and screening always have room."""
    states = [QueueItem.State.OPEN, *([QueueItem.State.HELD] if also_held else [])]
    rows = QueueItem.objects.filter(pk=item.pk, state__in=states)
    if item.purpose != QueueItem.Purpose.WORK:
        return rows.exists()
    return rows.filter(taken__lt=F("wanted")).update(taken=F("taken") + 1) == 1


def _free_place(item_id: int) -> None:
    QueueItem.objects.filter(pk=item_id, purpose=QueueItem.Purpose.WORK, taken__gt=0).update(
        taken=F("taken") - 1
    )


def give_back(assignments: Iterable[Assignment], status: Assignment.Status) -> int:
    """End leases (rows locked by the caller). A reopened label keeps its place and stays submitted."""
    count = 0
    for assignment in assignments:
        reopened = assignment.submitted_at is not None
        assignment.status = Status.SUBMITTED if reopened else status
        assignment.save(update_fields=["status"])
        if not reopened:
            _free_place(assignment.item_id)
            count += 1
    return count


def live(user: User, project: Project) -> QuerySet[Assignment]:
    """The leases of one person, oldest first."""
    return Assignment.objects.filter(labeler=user, project=project, status=Status.LEASED).order_by(
        "claimed_at", "id"
    )


def extend(user: User, project: Project, now: datetime) -> None:
    """Any sign of life keeps everything that the person holds."""
    live(user, project).update(lease_expires_at=lease_end(project, now))


def lock_items(items: QuerySet[QueueItem]) -> list[int]:
    """Lock these queue items in the order of the house; gives their ids."""
    return list(items.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))


def _lock_items_of(assignments: QuerySet[Assignment]) -> None:
    lock_items(QueueItem.objects.filter(pk__in=list(assignments.values_list("item_id", flat=True))))


def release(which: Q) -> int:
    """Give back the live leases that match, with what they hold. Returns how many places came free."""
    with transaction.atomic():
        rows = Assignment.objects.filter(which, status=Status.LEASED)
        _lock_items_of(rows)
        return give_back(rows.select_for_update(of=("self",)).order_by("id"), Status.RELEASED)


def expire_leases(now: datetime | None = None, *, project: Project | None = None) -> int:
    """Return the places of leases that ran out. A lease that is just being used is passed over."""
    stale = Q(status=Status.LEASED, lease_expires_at__lt=now or timezone.now())
    if project is not None:
        stale &= Q(project=project)
    if not Assignment.objects.filter(stale).exists():
        return 0
    with transaction.atomic():
        rows = Assignment.objects.filter(stale)
        _lock_items_of(rows)
        unused = rows.select_for_update(of=("self",), skip_locked=True)
        return give_back(unused.order_by("id"), Status.EXPIRED)
