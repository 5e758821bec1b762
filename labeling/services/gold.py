"""Correcting gold: everyone who answered it is judged again."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from labeling.errors import BadSubmission
from labeling.models import Enrolment, Gold, Label, QualityCheck, User
from labeling.services import audit, checks, standing


def check_gold(accepted: Sequence[Sequence[int]], first_error: int | None, *, steps: int) -> None:
    """Refuse expected ratings that contradict themselves, with the cure."""
    reach = steps if first_error is None else first_error + 1
    if first_error is not None and not 0 <= first_error < steps:
        raise BadSubmission(_("The first error must be one of the %d steps.") % steps, field="first_error")
    if len(accepted) < reach or len(accepted) > steps:
        message = _("Give the accepted ratings of steps 1 to %d, one list per step.") % reach
        raise BadSubmission(message, field="accepted")
    for index, allowed in enumerate(accepted[:reach]):
        if not set(allowed) <= {-1, 0, 1}:
            message = _("Step %d: accepted ratings are 1, 0 and -1.") % (index + 1)
            raise BadSubmission(message, field="accepted", step=index)
        if (index == first_error) != (-1 in allowed):
            message = _("Step %d: -1 is accepted at the first error and nowhere before it.") % (index + 1)
            raise BadSubmission(message, field="accepted", step=index)


@transaction.atomic
def correct_gold(gold: Gold, *, accepted: Sequence[Sequence[int]], first_error: int | None, by: User) -> Gold:
    """Change what a gold expects, judge every answer to it again, and reassess those people.

    Screening questions are graded again too: who failed by the old gold alone is admitted.
    """
    gold = (
        Gold.objects.select_for_update(of=("self",))
        .select_related("solution__problem__project")
        .get(pk=gold.pk)
    )
    check_gold(accepted, first_error, steps=len(gold.solution.steps))
    project = gold.solution.problem.project
    before = {"accepted": gold.accepted, "first_error": gold.first_error}
    gold.accepted = [list(allowed) for allowed in accepted]
    gold.first_error = first_error
    gold.revision += 1
    gold.save(update_fields=["accepted", "first_error", "revision"])
    changed = _judge_again(gold)
    audit.note("gold.corrected", gold.pk, project=project, by=by, before=before, changed=changed)
    people = QualityCheck.objects.filter(gold=gold).values("labeler")
    enrolments = Enrolment.objects.filter(project=project, user__in=people).select_related("user", "project")
    standing.reassess(list(enrolments))
    return gold


def _judge_again(gold: Gold) -> int:
    """Grade all current answers to the gold again; gives how many verdicts changed."""
    changed = 0
    labels = Label.objects.filter(assignment__quality_check__gold=gold, is_current=True)
    for label in labels.select_related("assignment__quality_check"):
        check: QualityCheck = label.assignment.quality_check  # type: ignore[union-attr]
        result = checks.agreement_of(label, gold, checks.ratings_of(label))
        if result is None:
            continue
        changed += result.agrees != check.agrees
        check.agrees, check.off_by, check.missed_error = result.agrees, result.off_by, result.missed_error
        check.gold_revision = gold.revision
        check.save(update_fields=["agrees", "off_by", "missed_error", "gold_revision"])
    return changed
