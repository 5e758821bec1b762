"""Bad problems: reports pull a problem from every queue until the lead decides."""

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from labeling.errors import NotAllowedNow
from labeling.models import Enrolment, Gold, Label, Problem, QualityCheck, QueueItem, User
from labeling.services import audit, leases, standing

# So many different people must report a problem before it is pulled.
REPORTS_TO_HOLD = 2


def standing_reports(problem: Problem) -> int:
    """How many different people report the problem, since the lead last decided about it.

    Reports made in screening or set aside with a paused person's labels do not count.
    """
    reports = Label.objects.filter(
        problem=problem,
        is_current=True,
        finish_reason=Label.FinishReason.BAD_PROBLEM,
        quarantined_at__isnull=True,
        labeler__isnull=False,
    ).exclude(purpose=QueueItem.Purpose.SCREENING)
    if problem.decided_at is not None:
        reports = reports.filter(submitted_at__gt=problem.decided_at)
    return reports.values("labeler").distinct().count()


@transaction.atomic
def hold_if_reported(problem: Problem) -> bool:
    """Hold a problem that two people report: nothing of it is served, live leases go back."""
    problem = Problem.objects.select_for_update(of=("self",)).select_related("project").get(pk=problem.pk)
    reports = standing_reports(problem)
    if problem.status != Problem.Status.OK or reports < REPORTS_TO_HOLD:
        return False
    problem.status = Problem.Status.HELD
    problem.save(update_fields=["status"])
    items = QueueItem.objects.filter(solution__problem=problem)
    leases.lock_items(items)
    items.filter(state=QueueItem.State.OPEN).update(state=QueueItem.State.HELD)
    leases.release(Q(solution__problem=problem))
    audit.note("problem.held", problem.pk, project=problem.project, reports=reports)
    return True


@transaction.atomic
def decide_problem(problem: Problem, *, by: User, is_bad: bool) -> Problem:
    """The lead's word: a bad problem leaves the queue for good, a good one goes back into it.

    Gold on a bad problem is retired, and what people answered to it counts no more.
    """
    problem = Problem.objects.select_for_update(of=("self",)).select_related("project").get(pk=problem.pk)
    if problem.status == Problem.Status.BAD and is_bad:
        raise NotAllowedNow
    problem.status = Problem.Status.BAD if is_bad else Problem.Status.OK
    problem.decided_at = timezone.now()
    problem.save(update_fields=["status", "decided_at"])
    items = QueueItem.objects.filter(solution__problem=problem)
    leases.lock_items(items)
    if is_bad:
        items.exclude(state=QueueItem.State.CLOSED).update(state=QueueItem.State.CLOSED)
        leases.release(Q(solution__problem=problem))
        _retire_gold(problem)
    else:
        items.filter(state=QueueItem.State.HELD).update(state=QueueItem.State.OPEN)
    audit.note("problem.decided", problem.pk, project=problem.project, by=by, is_bad=is_bad)
    return problem


def _retire_gold(problem: Problem) -> None:
    Gold.objects.filter(solution__problem=problem).update(is_active=False, revision=F("revision") + 1)
    checks = QualityCheck.objects.filter(gold__solution__problem=problem)
    people = list(checks.values_list("labeler_id", flat=True).distinct())
    removed, _by_table = checks.delete()
    audit.note("gold.retired", f"problem {problem.pk}", project=problem.project, checks=removed)
    enrolments = Enrolment.objects.filter(project=problem.project, user__in=people)
    standing.reassess(list(enrolments.select_related("user", "project")))
