"""Reading reported problems, for the lead who decides about them."""

from dataclasses import dataclass

from labeling.models import Label, Problem, Project


@dataclass(frozen=True)
class ReportedProblem:
    problem: Problem
    reports: list[Label]  # current bad_problem labels, oldest first; `note` is the reason given


def reported_problems(project: Project) -> list[ReportedProblem]:
    """Every problem with a report, those awaiting a decision first."""
    labels = (
        Label.objects.filter(project=project, is_current=True, finish_reason=Label.FinishReason.BAD_PROBLEM)
        .filter(assignment__isnull=False)
        .select_related("problem", "labeler")
        .order_by("submitted_at", "id")
    )
    by_problem: dict[int, ReportedProblem] = {}
    for label in labels:
        entry = by_problem.setdefault(label.problem_id, ReportedProblem(label.problem, []))
        entry.reports.append(label)
    waiting_first = {Problem.Status.HELD: 0, Problem.Status.OK: 1, Problem.Status.BAD: 2}
    return sorted(
        by_problem.values(),
        key=lambda entry: (waiting_first[Problem.Status(entry.problem.status)], entry.problem.pk),
    )
