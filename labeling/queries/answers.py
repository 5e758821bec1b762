"""Reading the answers that a person should grade, or has graded."""

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from labeling.models import AnswerCheck, Problem, Project, Solution


def answer_checks(project: Project, *, settled: bool = False) -> QuerySet[AnswerCheck]:
    """Answers to check, those of most solutions first; or the settled ones, the latest first.

    Each with `n_solutions`, how many give the answer. Answers to problems that are bad are left out.
    """
    equal = Solution.objects.filter(problem=OuterRef("problem"), answer=OuterRef("answer"))
    counted = equal.order_by().values("problem").annotate(n=Count("pk")).values("n")
    rows = _checks(project, settled=settled).select_related("problem", "decided_by")
    order = ["-decided_at", "-pk"] if settled else ["-n_solutions", "pk"]
    return rows.annotate(n_solutions=Coalesce(Subquery(counted), 0)).order_by(*order)


def answers_to_check(project: Project) -> int:
    """How many answers wait for a person."""
    return _checks(project, settled=False).count()


def _checks(project: Project, *, settled: bool) -> QuerySet[AnswerCheck]:
    rows = AnswerCheck.objects.filter(problem__project=project).exclude(problem__status=Problem.Status.BAD)
    return rows.exclude(decision="") if settled else rows.filter(decision="")
