"""A person's standing in a project: screening graded, the running gold window, pausing and its undoing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from labeling import quality
from labeling.models import Assignment, Enrolment, Label, Project, QualityCheck, QueueItem, User
from labeling.services import audit, candidates, leases

Status = Enrolment.Status
Purpose = QueueItem.Purpose


def locked_enrolment(user: User, project: Project) -> Enrolment | None:
    """The enrolment under a row lock: it serialises everything that one person does in a project."""
    rows = Enrolment.objects.select_for_update(of=("self",)).select_related("user", "project")
    return rows.filter(user=user, project=project).first()


def set_status(enrolment: Enrolment, status: Enrolment.Status, *, reason: str = "", by: User | None) -> None:
    enrolment.status = status
    enrolment.status_reason = reason[:300]
    enrolment.status_changed_at = timezone.now()
    enrolment.status_changed_by = by
    if status == Status.ACTIVE and enrolment.admitted_at is None:
        enrolment.admitted_at = enrolment.status_changed_at
    enrolment.save(
        update_fields=["status", "status_reason", "status_changed_at", "status_changed_by", "admitted_at"]
    )
    audit.note(
        f"labeler.{status}",
        enrolment.user.username,
        project=enrolment.project,
        by=by,
        enrolment=enrolment.pk,
        reason=reason,
    )


# --- Screening --------------------------------------------------------------------------------
@dataclass(frozen=True)
class ScreeningProgress:
    answered: int
    live: int
    total: int  # questions of this person: what the project asks for, or fewer where fewer exist


def screening_progress(enrolment: Enrolment) -> ScreeningProgress:
    rows = Assignment.objects.filter(
        labeler=enrolment.user, project=enrolment.project, item__purpose=Purpose.SCREENING
    )
    answered = rows.filter(status=Assignment.Status.SUBMITTED).count()
    live = rows.filter(status=Assignment.Status.LEASED).count()
    left = candidates.unseen(enrolment.user, enrolment.project, Purpose.SCREENING).count()
    total = min(enrolment.project.screening_questions, answered + live + left)
    return ScreeningProgress(answered=answered, live=live, total=total)


def screening_is_over(enrolment: Enrolment) -> bool:
    progress = screening_progress(enrolment)
    return progress.answered >= progress.total


def screening_score(enrolment: Enrolment) -> tuple[int, int]:
    """(right, answered). A give-up or a bad-problem report in screening is an answer that is not right."""
    checks = QualityCheck.objects.filter(
        project=enrolment.project, labeler=enrolment.user, purpose=Purpose.SCREENING
    )
    return checks.filter(agrees=True).count(), checks.count()


def grade_screening(enrolment: Enrolment) -> bool:
    """Admit or fail a person who has answered everything. Gives whether they passed."""
    right, total = screening_score(enrolment)
    mark = enrolment.project.screening_pass_mark
    verdict = quality.screening_verdict(right, total, mark=mark)
    set_status(enrolment, Status.ACTIVE if verdict.ok else Status.FAILED, reason=verdict.reason, by=None)
    return verdict.ok


# --- The running window -----------------------------------------------------------------------
def _checks(enrolment: Enrolment) -> list[tuple[datetime, bool]]:
    """(when, agreed) of the gold answers since the last readmission, oldest first."""
    rows = QualityCheck.objects.filter(
        project=enrolment.project, labeler=enrolment.user, purpose=Purpose.GOLD
    )
    if enrolment.window_from is not None:
        rows = rows.filter(at__gte=enrolment.window_from)
    return list(rows.order_by("at", "id").values_list("at", "agrees"))


def window_verdict(enrolment: Enrolment) -> quality.Verdict:
    project = enrolment.project
    agreed = [agrees for _, agrees in _checks(enrolment)]
    return quality.window_verdict(agreed, window=project.gold_window, mark=project.gold_mark)


def _doubtful_since(enrolment: Enrolment) -> datetime | None:
    """Where the last good window ended: the last gold answer before the present window, else its start.

    Everything that the present window covers is in doubt, not only what came after its last miss.
    """
    before = _checks(enrolment)[: -max(enrolment.project.gold_window, 1)]
    return before[-1][0] if before else enrolment.window_from


def _quarantine(enrolment: Enrolment, reason: str) -> int:
    rows = Label.objects.filter(
        project=enrolment.project,
        labeler=enrolment.user,
        purpose=Purpose.WORK,
        quarantined_at__isnull=True,
    )
    since = _doubtful_since(enrolment)
    if since is not None:
        rows = rows.filter(submitted_at__gt=since)
    return rows.update(quarantined_at=timezone.now(), quarantine_reason=reason[:300])


def release_quarantine(enrolment: Enrolment) -> int:
    rows = Label.objects.filter(
        project=enrolment.project, labeler=enrolment.user, quarantined_at__isnull=False
    )
    return rows.update(quarantined_at=None, quarantine_reason="")


@transaction.atomic
def pause(enrolment: Enrolment, *, by: User | None, reason: str) -> Enrolment:
    """Stop serving a person: live leases go back, labels since the last good window are set aside.

    `by` None means the gold window did it. Pausing someone who is paused only changes nothing.
    """
    enrolment = Enrolment.objects.select_for_update(of=("self",)).get(pk=enrolment.pk)
    if enrolment.status == Status.PAUSED:
        return enrolment
    released = leases.release(Q(labeler=enrolment.user, project=enrolment.project))
    quarantined = _quarantine(enrolment, reason)
    set_status(enrolment, Status.PAUSED, reason=reason, by=by)
    audit.note(
        "labels.quarantined",
        enrolment.user.username,
        project=enrolment.project,
        by=by,
        labels=quarantined,
        released=released,
    )
    return enrolment


@transaction.atomic
def readmit(enrolment: Enrolment, *, by: User | None, release_quarantine: bool) -> Enrolment:
    """Let a paused or failed person work again. Their gold window starts anew.

    Someone who was paused before their screening was over goes on with it.
    """
    enrolment = Enrolment.objects.select_for_update(of=("self",)).get(pk=enrolment.pk)
    if enrolment.status not in {Status.PAUSED, Status.FAILED}:
        return enrolment
    never_in = enrolment.status == Status.PAUSED and enrolment.admitted_at is None
    unfinished = never_in and not screening_is_over(enrolment)
    enrolment.window_from = timezone.now()
    enrolment.save(update_fields=["window_from"])
    set_status(enrolment, Status.SCREENING if unfinished else Status.ACTIVE, by=by)
    if release_quarantine:
        _release_noted(enrolment, by)
    return enrolment


def _release_noted(enrolment: Enrolment, by: User | None) -> None:
    labels = release_quarantine(enrolment)
    audit.note("labels.released", enrolment.user.username, project=enrolment.project, by=by, labels=labels)


def reassess(enrolments: Sequence[Enrolment]) -> None:
    """Judge people again after a gold was corrected.

    Who is active and now falls under the mark is paused; a pause or failure that a rule (not a
    person) imposed and that no longer follows from the answers is lifted, labels released.
    """
    for enrolment in enrolments:
        by_rule = enrolment.status_changed_by_id is None
        if enrolment.status == Status.ACTIVE:
            verdict = window_verdict(enrolment)
            if not verdict.ok:
                pause(enrolment, by=None, reason=verdict.reason)
        elif enrolment.status == Status.PAUSED and by_rule and window_verdict(enrolment).ok:
            set_status(enrolment, Status.ACTIVE, by=None)
            _release_noted(enrolment, None)
        elif enrolment.status == Status.FAILED and by_rule:
            right, total = screening_score(enrolment)
            if quality.reaches(right, total, enrolment.project.screening_pass_mark):
                set_status(enrolment, Status.ACTIVE, by=None)
