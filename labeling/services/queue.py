"""The queue: enrolling people, filling it, and the atomic claim of the next solution.

`claim_next` is one transaction. The enrolment's row lock serialises what one person does; a place
is taken by a conditional update under the item's row lock (SKIP LOCKED on PostgreSQL, the write
lock of an immediate transaction on SQLite), so two people never get the same place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Min
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.errors import NotAllowedNow
from labeling.models import Assignment, Enrolment, Project, QueueItem, User
from labeling.services import candidates, leases, standing
from labeling.services.batches import NewItem, close_batch, open_batch, open_screening
from labeling.services.leases import expire_leases

__all__ = [
    "Claim",
    "NewItem",
    "claim_next",
    "close_batch",
    "enrol",
    "expire_leases",
    "open_batch",
    "open_screening",
]

# One on screen, one prefetched.
MOST_LIVE = 2
Purpose = QueueItem.Purpose


@dataclass(frozen=True)
class Claim:
    """What a person gets: `state` as in docs/api.md, the lease where the state is "work"."""

    state: str
    assignment: Assignment | None = None
    message: str = ""
    detail: dict[str, Any] = field(default_factory=dict)


@transaction.atomic
def enrol(user: User, project: Project) -> Enrolment:
    """Put a person into a project, in screening (or at work where the project has no screening)."""
    direct = project.screening_questions == 0
    enrolment, _created = Enrolment.objects.get_or_create(
        user=user,
        project=project,
        defaults={
            "status": Enrolment.Status.ACTIVE if direct else Enrolment.Status.SCREENING,
            "admitted_at": timezone.now() if direct else None,
        },
    )
    return enrolment


def claim_next(user: User, project: Project, *, have: Sequence[int] = ()) -> Claim:
    """The oldest live lease that the page does not hold yet, or a new one, or why there is none."""
    now = timezone.now()
    expire_leases(now, project=project)
    with transaction.atomic():
        enrolment = standing.locked_enrolment(user, project)
        if enrolment is None:
            raise NotAllowedNow(_("You are not enrolled in this project. Ask your QC lead to enrol you."))
        Enrolment.objects.filter(pk=enrolment.pk).update(last_seen_at=now)
        return _barred(enrolment) or _held(enrolment, have, now) or _claim(enrolment, now)


def _barred(enrolment: Enrolment) -> Claim | None:
    if enrolment.status == Enrolment.Status.PAUSED:
        message = _("You are paused. Your QC lead has been told and can let you go on.")
        return Claim("paused", message=message, detail={"reason": enrolment.status_reason})
    if enrolment.status == Enrolment.Status.FAILED:
        message = _("The screening is over and was not passed. Thank you for taking part.")
        return Claim("failed", message=message, detail={"reason": enrolment.status_reason})
    if enrolment.accepted_guidelines < enrolment.project.guideline_version:
        return Claim("guidelines", message=_("Please read and accept the guidelines first."))
    return None


def _held(enrolment: Enrolment, have: Sequence[int], now: datetime) -> Claim | None:
    """What the person already holds: the oldest one that the page lacks, or "hold" at the limit."""
    leases.extend(enrolment.user, enrolment.project, now)
    mine = list(
        leases.live(enrolment.user, enrolment.project).select_related("item", "solution__problem", "project")
    )
    for assignment in mine:
        if assignment.pk not in have:
            return Claim("work", assignment)
    return _hold() if len(mine) >= MOST_LIVE else None


def _hold() -> Claim:
    return Claim("hold", message=_("Finish what is on your screen first."))


def _claim(enrolment: Enrolment, now: datetime) -> Claim:
    if enrolment.status == Enrolment.Status.SCREENING:
        progress = standing.screening_progress(enrolment)
        if progress.total == 0:
            return Claim("wait", message=_("The screening questions are not ready yet."), detail=_nobody())
        if progress.answered >= progress.total:  # the lead asks for fewer questions than before
            passed = standing.grade_screening(enrolment)
            return Claim("screening_over") if passed else _barred(enrolment) or _hold()
        item = None
        if progress.answered + progress.live < progress.total:
            questions = candidates.unseen(enrolment.user, enrolment.project, Purpose.SCREENING)
            item = candidates.first_for(enrolment.user, questions)
        return _hold() if item is None else _lease(enrolment, item, now)
    item = _draw(enrolment)
    return _nothing_left(enrolment) if item is None else _lease(enrolment, item, now)


def _draw(enrolment: Enrolment) -> QueueItem | None:
    """The next place in line, or instead, by a seeded draw, a gold question of the same generation.

    Gold comes only while there is work, so that a run of it never marks the end of a round. Both
    look-ups are made whatever the draw says: the time taken tells nothing.
    """
    user, project = enrolment.user, enrolment.project
    work = candidates.first_in_line(candidates.unseen(user, project, Purpose.WORK))
    if work is None:
        return None
    gold = candidates.first_for(user, candidates.gold_of_round(user, project, work.generation))
    served = Assignment.objects.filter(labeler=user, project=project).count()
    drawn = candidates.seeded("gold", project.pk, user.public_id, served) < project.gold_share
    return gold if gold is not None and drawn else work


def _lease(enrolment: Enrolment, item: QueueItem, now: datetime) -> Claim:
    """Take a place and write the lease, reviving the person's own ended one where there is one."""
    if not leases.take_place(item):
        # The problem was pulled between the look-up and this line: ask again.
        return _wait(_nobody())
    user, project = enrolment.user, enrolment.project
    lease = {
        "item": item,
        "project": project,
        "status": Assignment.Status.LEASED,
        "lease_expires_at": leases.lease_end(project, now),
    }
    # A revived lease keeps the time of its first claim: its draft's clock began there.
    assignment, _created = Assignment.objects.update_or_create(
        labeler=user,
        solution_id=item.solution_id,
        defaults=lease,
        create_defaults={**lease, "claimed_at": now},
    )
    return Claim("work", assignment)


def _wait(detail: dict[str, Any]) -> Claim:
    return Claim(
        "wait", message=_("Nothing for you right now: others are working on what is left."), detail=detail
    )


def _nobody() -> dict[str, Any]:
    return {"in_progress": 0, "earliest_free_at": None}


def _nothing_left(enrolment: Enrolment) -> Claim:
    user, project = enrolment.user, enrolment.project
    if leases.live(user, project).exists():
        return _hold()
    # A place that another claim has locked at this very moment still looks open. Asked first: what is
    # taken between the two questions is seen by the second one.
    racing = candidates.unseen(user, project, Purpose.WORK).exists()
    others = candidates.held_by_others(user, project).aggregate(n=Count("pk"), free=Min("lease_expires_at"))
    if not others["n"] and not racing:
        return Claim("done", message=_("All done: there is nothing left for you to judge. Thank you!"))
    free = others["free"].isoformat() if others["free"] else None
    return _wait({"in_progress": others["n"], "earliest_free_at": free})
