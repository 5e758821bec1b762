"""Answers that graders leave in doubt: a person settles what their solutions are graded."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.errors import NotAllowedNow
from labeling.models import AnswerCheck, Solution, User
from labeling.services import audit

BY_PERSON = "person"
"""`Solution.graded_by` where a person decided."""


@transaction.atomic
def settle_answer(check: AnswerCheck, *, by: User, grade: str) -> int:
    """A person's word on one answer: every solution of the problem that gives it gets this grade, also later.

    How many solutions there are now. Raises NotAllowedNow when it has been settled already.
    """
    check = _locked(check)
    if check.decision:
        raise NotAllowedNow(_("Somebody has settled this answer already: take that back first."))
    check.decision, check.decided_by, check.decided_at = grade, by, timezone.now()
    check.save(update_fields=["decision", "decided_by", "decided_at"])
    changed = _solutions(check).update(grade=grade, graded_by=BY_PERSON)
    _note("answer.settled", check, by=by, grade=grade, solutions=changed)
    return changed


@transaction.atomic
def reopen_answer(check: AnswerCheck, *, by: User) -> int:
    """Take the decision back: its solutions get what the graders' rule says, until someone decides anew.

    How many solutions there are now. Raises NotAllowedNow when nothing is settled.
    """
    check = _locked(check)
    if not check.decision:
        raise NotAllowedNow(_("This answer is not settled: there is nothing to take back."))
    before = check.decision
    check.decision, check.decided_by, check.decided_at = "", None, None
    check.save(update_fields=["decision", "decided_by", "decided_at"])
    changed = _solutions(check).update(grade=check.grade, graded_by=check.graded_by)
    _note("answer.reopened", check, by=by, grade=check.grade, before=before, solutions=changed)
    return changed


def _locked(check: AnswerCheck) -> AnswerCheck:
    """An import that writes into the problem's pools holds the same lock: neither overlooks the other."""
    rows = AnswerCheck.objects.select_for_update(of=("self",)).select_related("problem__project")
    return rows.get(pk=check.pk)


def _solutions(check: AnswerCheck) -> QuerySet[Solution]:
    return Solution.objects.filter(problem=check.problem_id, answer=check.answer)


def _note(action: str, check: AnswerCheck, *, by: User, **detail: object) -> None:
    subject = f"problem {check.problem_id}: {check.answer}"
    audit.note(action, subject, project=check.problem.project, by=by, **detail)
