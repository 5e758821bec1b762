"""Drafts, submitted labels and their reopening: the writes behind the labeling page."""

import json
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling import records
from labeling.errors import AlreadySubmitted, BadSubmission, NotAllowedNow, NotYours, StaleDraft
from labeling.models import Assignment, Enrolment, Label, QueueItem, Solution, User
from labeling.services import audit, checks, leases, problems, standing
from labeling.services.submission import AnswerUnconfirmed, Submission, checked

__all__ = ["AnswerUnconfirmed", "Submission", "reopen", "save_draft", "submit", "undo_until"]

# A submitted label can be taken back for this long.
UNDO_WINDOW = timedelta(minutes=10)
MAX_DRAFT_BYTES = 64 * 1024
Status = Assignment.Status
Purpose = QueueItem.Purpose


def _locked(user: User, assignment_id: int) -> tuple[Enrolment, Assignment]:
    """The person's enrolment and assignment, locked in the order of the house."""
    found = Assignment.objects.filter(pk=assignment_id, labeler=user).select_related("project").first()
    enrolment = found and standing.locked_enrolment(user, found.project)
    if not enrolment:
        raise NotYours
    rows = Assignment.objects.select_for_update(of=("self",)).select_related(
        "item", "solution__problem", "project"
    )
    return enrolment, rows.get(pk=assignment_id)


# --- Drafts -----------------------------------------------------------------------------------
@transaction.atomic
def save_draft(user: User, assignment_id: int, *, version: int, draft: dict[str, Any]) -> Assignment:
    """Keep the page's unfinished work and extend what the person holds.

    A lease that ran out is taken up again where its place is still free; where it is not, the draft
    is kept all the same, and a submit will count as an extra. Raises StaleDraft with the newer one.
    """
    if len(json.dumps(draft).encode()) > MAX_DRAFT_BYTES:
        raise BadSubmission(_("The draft is larger than 64 KiB."), field="draft")
    enrolment, assignment = _locked(user, assignment_id)
    if assignment.status == Status.SUBMITTED:
        raise AlreadySubmitted
    if version != assignment.draft_version:
        raise StaleDraft(draft=assignment.draft, version=assignment.draft_version)
    now = timezone.now()
    ended = assignment.status != Status.LEASED
    if ended and _may_work(enrolment, assignment) and leases.take_place(assignment.item):
        assignment.status = Status.LEASED
        assignment.lease_expires_at = leases.lease_end(assignment.project, now)
    assignment.draft = draft
    assignment.draft_version += 1
    assignment.opened_at = assignment.opened_at or now
    assignment.save(update_fields=["status", "lease_expires_at", "draft", "draft_version", "opened_at"])
    leases.extend(user, assignment.project, now)
    return assignment


def _may_work(enrolment: Enrolment, assignment: Assignment) -> bool:
    screening = assignment.item.purpose == Purpose.SCREENING
    needed = Enrolment.Status.SCREENING if screening else Enrolment.Status.ACTIVE
    return enrolment.status == needed


# --- Submitting -------------------------------------------------------------------------------
@transaction.atomic
def submit(user: User, assignment_id: int, submission: Submission) -> Label:
    """Write one judgement. The same key again gives the same label and writes nothing.

    A late one (its lease ran out or was released) counts as usual where a place is still free, and
    is kept as an extra otherwise; from a paused person it is kept as an extra and set aside.
    """
    enrolment, assignment = _locked(user, assignment_id)
    before = Label.objects.filter(idempotency_key=submission.idempotency_key).first()
    if before is not None:
        if before.assignment_id != assignment.pk:
            raise BadSubmission(_("This idempotency_key was used for another solution: make a new one."))
        return before
    if assignment.status == Status.SUBMITTED:
        raise AlreadySubmitted
    ratings = checked(submission, steps=len(assignment.solution.steps), project=assignment.project)
    _confirm_answer(submission, assignment)
    is_extra = assignment.status != Status.LEASED and not (
        _may_work(enrolment, assignment) and leases.take_place(assignment.item, also_held=True)
    )
    label = _write(enrolment, assignment, submission, ratings, is_extra=is_extra, now=timezone.now())
    checks.judge(enrolment, assignment, label, ratings)
    if label.finish_reason == Label.FinishReason.BAD_PROBLEM:
        problems.hold_if_reported(label.problem)
    return label


def _confirm_answer(submission: Submission, assignment: Assignment) -> None:
    fine = submission.finish_reason == Label.FinishReason.SOLUTION
    wrong = assignment.solution.grade == Solution.Grade.WRONG
    if fine and wrong and not submission.answer_confirmed:
        raise AnswerUnconfirmed


def _times(submission: Submission, assignment: Assignment, now: datetime) -> tuple[int, int]:
    """(total, active) milliseconds: never more than the wall time since the claim, active within total."""
    wall = max(0, int((now - assignment.claimed_at).total_seconds() * 1000))
    total = min(submission.total_time_ms, wall)
    return total, min(submission.active_time_ms, total)


def _record(
    assignment: Assignment, ratings: list[records.Rating], finish: str, *, total_ms: int, now: datetime
) -> dict[str, Any]:
    item, solution, problem = assignment.item, assignment.solution, assignment.solution.problem
    question = records.build_question(
        problem=problem.text,
        solution=problem.ground_truth_solution,
        answer=problem.ground_truth_answer,
        steps=solution.steps,
        given_answer=solution.answer,
        verifier_score=item.verifier_score,
    )
    return records.build_record(
        labeler=assignment.labeler.public_id,
        at=now,
        generation=item.generation,
        is_gold=item.purpose == Purpose.GOLD,
        is_screening=item.purpose == Purpose.SCREENING,
        question=question,
        ratings=ratings,
        total_time_ms=total_ms,
        finish_reason=finish,
    )


def _quarantine(enrolment: Enrolment, old: Label | None, now: datetime) -> dict[str, Any]:
    """A correction stays where its label stands; a late label of a paused person is set aside."""
    if old is not None:
        return {"quarantined_at": old.quarantined_at, "quarantine_reason": old.quarantine_reason}
    if enrolment.status == Enrolment.Status.PAUSED:
        return {"quarantined_at": now, "quarantine_reason": enrolment.status_reason}
    return {}


def _write(
    enrolment: Enrolment,
    assignment: Assignment,
    submission: Submission,
    ratings: list[records.Rating],
    *,
    is_extra: bool,
    now: datetime,
) -> Label:
    item, old = assignment.item, assignment.labels.filter(is_current=True).first()
    total_ms, active_ms = _times(submission, assignment, now)
    record = _record(assignment, ratings, submission.finish_reason, total_ms=total_ms, now=now)
    assignment.labels.filter(is_current=True).update(is_current=False)
    label = Label.objects.create(
        project=assignment.project,
        problem=assignment.solution.problem,
        record=record,
        record_hash=records.record_hash(record),
        assignment=assignment,
        labeler=assignment.labeler,
        solution=assignment.solution,
        idempotency_key=submission.idempotency_key,
        revision=old.revision + 1 if old else 1,
        generation=item.generation,
        purpose=item.purpose,
        finish_reason=submission.finish_reason,
        total_time_ms=total_ms,
        active_time_ms=active_ms,
        submitted_at=now,
        step_reasons=submission.step_reasons,
        note=submission.note.strip(),
        key_disputed=submission.key_disputed,
        # A correction of a counted label counts, whatever happened to its lease meanwhile.
        is_extra=old.is_extra if old else is_extra,
        guideline_version=enrolment.accepted_guidelines or None,
        pick_cause=item.pick_cause,
        **_quarantine(enrolment, old, now),
        **asdict(records.rating_counts(record)),
    )
    assignment.status = Status.SUBMITTED
    assignment.submitted_at = now
    assignment.draft = {}
    assignment.draft_version += 1
    assignment.save(update_fields=["status", "submitted_at", "draft", "draft_version"])
    if old is not None:
        audit.note("label.revised", label, project=label.project, by=label.labeler, before=old.pk)
    return label


# --- Taking back ------------------------------------------------------------------------------
def undo_until(label: Label) -> datetime | None:
    """Until when a label can be reopened; None where it cannot be (imported, screening)."""
    if label.submitted_at is None or label.assignment_id is None or label.purpose == Purpose.SCREENING:
        return None
    return label.submitted_at + UNDO_WINDOW


def _draft_of(label: Label, assignment: Assignment) -> dict[str, Any]:
    steps = label.record["label"]["steps"]
    ratings = [step["completions"][0]["rating"] for step in steps]
    return {
        "ratings": ratings + [None] * (len(assignment.solution.steps) - len(ratings)),
        "reasons": label.step_reasons,
        "note": label.note,
        "active_ms": label.active_time_ms,
        "total_ms": label.total_time_ms,
    }


@transaction.atomic
def reopen(user: User, label_id: int) -> Assignment:
    """Take a label back for correction: its assignment is live again with the ratings as its draft.

    The label stands until the next submit makes revision 2; if none comes, it stays as it is.
    """
    label = Label.objects.filter(pk=label_id, labeler=user, assignment__isnull=False).first()
    if label is None or label.assignment_id is None:
        raise NotYours
    enrolment, assignment = _locked(user, label.assignment_id)
    now, until = timezone.now(), undo_until(label)
    if until is None:
        raise NotAllowedNow(_("Screening answers cannot be taken back."))
    if not Label.objects.filter(pk=label.pk, is_current=True).exists():
        raise NotAllowedNow(_("A newer version of this label exists."))
    if enrolment.status != Enrolment.Status.ACTIVE:
        raise NotAllowedNow(_("You cannot change labels at present."))
    if assignment.status == Status.LEASED:
        return assignment
    if now > until:
        raise NotAllowedNow(_("The time for taking this label back is over."))
    if assignment.item.state == QueueItem.State.CLOSED:
        raise NotAllowedNow(_("This round is closed: its labels can no longer be changed."))
    assignment.status = Status.LEASED
    assignment.lease_expires_at = leases.lease_end(assignment.project, now)
    assignment.draft = _draft_of(label, assignment)
    assignment.draft_version += 1
    assignment.save(update_fields=["status", "lease_expires_at", "draft", "draft_version"])
    audit.note("label.reopened", label, project=label.project, by=user)
    return assignment
