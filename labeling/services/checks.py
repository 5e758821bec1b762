"""Judging a gold or screening label at submit, and what follows from it for the person."""

from collections.abc import Sequence

from labeling import quality, records
from labeling.models import Assignment, Enrolment, Gold, Label, QualityCheck, QueueItem
from labeling.services import standing

Purpose = QueueItem.Purpose
NO_JUDGEMENT = (Label.FinishReason.GIVE_UP, Label.FinishReason.BAD_PROBLEM)


def judge(
    enrolment: Enrolment, assignment: Assignment, label: Label, ratings: Sequence[records.Rating]
) -> None:
    """Grade one label on meaning, once per assignment, and act on the verdict.

    A give-up or bad-problem report on a screening question is an answer that does not agree. On a
    running gold question it says nothing (the person cannot know that it is one): no check is kept.
    """
    if label.purpose == Purpose.WORK:
        return
    gold = Gold.objects.filter(solution_id=assignment.solution_id).first()
    if gold is not None:
        _keep_check(assignment, gold, label, ratings)
    if label.purpose == Purpose.SCREENING:
        if enrolment.status == Enrolment.Status.SCREENING and standing.screening_is_over(enrolment):
            standing.grade_screening(enrolment)
    elif enrolment.status == Enrolment.Status.ACTIVE:
        verdict = standing.window_verdict(enrolment)
        if not verdict.ok:
            standing.pause(enrolment, by=None, reason=verdict.reason)


def agreement_of(label: Label, gold: Gold, ratings: Sequence[records.Rating]) -> quality.Agreement | None:
    if label.finish_reason in NO_JUDGEMENT:
        return quality.NO_AGREEMENT if label.purpose == Purpose.SCREENING else None
    return quality.agreement(ratings, accepted=gold.accepted, expected_error=gold.first_error)


def _keep_check(assignment: Assignment, gold: Gold, label: Label, ratings: Sequence[records.Rating]) -> None:
    result = agreement_of(label, gold, ratings)
    if result is None:
        QualityCheck.objects.filter(assignment=assignment).delete()
        return
    values = {
        "gold": gold,
        "gold_revision": gold.revision,
        "agrees": result.agrees,
        "off_by": result.off_by,
        "missed_error": result.missed_error,
    }
    # A reopened label is judged again in its old place of the window.
    QualityCheck.objects.update_or_create(
        assignment=assignment,
        defaults=values,
        create_defaults={
            **values,
            "project_id": label.project_id,
            "labeler_id": assignment.labeler_id,
            "purpose": label.purpose,
            "at": label.submitted_at,
        },
    )


def ratings_of(label: Label) -> list[records.Rating]:
    """The ratings of a native label, from the first step to the last one rated."""
    return [step["completions"][0]["rating"] for step in label.record["label"]["steps"]]
