"""What a person may be given: open places of solutions that they have not met, in order."""

import hashlib

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from labeling.models import Assignment, Problem, Project, QueueItem, User

# A lease that ended without a label: its own solution may come back to the same person.
REVIVABLE = (Assignment.Status.EXPIRED, Assignment.Status.RELEASED)


def unseen(user: User, project: Project, purpose: str) -> QuerySet[QueueItem]:
    """Open places for this person: never a solution twice, nor another with equal text for its problem."""
    met = Assignment.objects.filter(
        labeler=user,
        solution__problem=OuterRef("solution__problem"),
        solution__text_hash=OuterRef("solution__text_hash"),
    ).exclude(status__in=REVIVABLE, solution=OuterRef("solution"))
    items = QueueItem.objects.filter(
        ~Exists(met),
        project=project,
        purpose=purpose,
        state=QueueItem.State.OPEN,
        taken__lt=F("wanted"),
        solution__problem__status=Problem.Status.OK,
    )
    if purpose == QueueItem.Purpose.WORK:
        return items
    return items.filter(solution__gold__is_active=True)


def held_by_others(user: User, project: Project) -> QuerySet[Assignment]:
    """Leases of others whose place could come to this person if it is given back."""
    mine = Assignment.objects.filter(
        labeler=user,
        solution__problem=OuterRef("solution__problem"),
        solution__text_hash=OuterRef("solution__text_hash"),
    )
    return Assignment.objects.filter(
        ~Exists(mine),
        project=project,
        status=Assignment.Status.LEASED,
        submitted_at__isnull=True,
        item__purpose=QueueItem.Purpose.WORK,
        item__state=QueueItem.State.OPEN,
    ).exclude(labeler=user)


def seeded(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts only: the same on every machine and run."""
    digest = hashlib.sha256(":".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def first_for(user: User, items: QuerySet[QueueItem]) -> QueueItem | None:
    """The item that comes first in this person's own order of them."""
    ids = list(items.values_list("pk", flat=True))
    chosen = min(ids, key=lambda pk: seeded(user.public_id, pk), default=None)
    return None if chosen is None else items.filter(pk=chosen).first()


def first_in_line(items: QuerySet[QueueItem]) -> QueueItem | None:
    """The first open place in queue order, locked; a row that another claim holds is passed over."""
    rows = items.select_for_update(of=("self",), skip_locked=True)
    return rows.order_by("generation", "position", "id").first()


def gold_of_round(user: User, project: Project, generation: int) -> QuerySet[QueueItem]:
    return unseen(user, project, QueueItem.Purpose.GOLD).filter(Q(generation=generation))
