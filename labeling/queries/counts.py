"""The one definition of every count: dashboards, manifests and tests all read it here.

Always, per generation: wanted = labels + give_ups + bad_problems + in_progress + waiting + held + closed.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce

from labeling.models import Assignment, Enrolment, Label, Problem, Project, QualityCheck, QueueItem, Solution
from labeling.queries.labels import JUDGED, current_labels

Finish, Purpose, State = Label.FinishReason, QueueItem.Purpose, QueueItem.State


@dataclass(frozen=True)
class GenerationCounts:
    """Of the work items of one generation (gold is not counted); imported labels are in no generation."""

    items: int  # solutions queued
    wanted: int  # judgements asked for: items times overlap
    labels: int  # current, counted, finish reason found_error or solution
    give_ups: int
    bad_problems: int
    in_progress: int  # live leases; a reopened label counts as its label, not here
    waiting: int  # free places
    held: int  # free places of problems under report
    closed: int  # places never filled: the round was closed, or the problem decided bad
    extras: int  # came after their place was gone; beside the sum
    quarantined: int  # of labels, give_ups and bad_problems, those set aside

    @property
    def settled(self) -> int:
        return self.labels + self.give_ups + self.bad_problems

    @property
    def reconciles(self) -> bool:
        free = self.waiting + self.held + self.closed
        return self.wanted == self.settled + self.in_progress + free


def _free(state: QueueItem.State) -> Coalesce:
    return Coalesce(Sum(F("wanted") - F("taken"), filter=Q(state=state)), 0)


def _label_counts() -> dict[str, Count]:
    counted = Q(is_extra=False)
    return {
        "labels": Count("pk", filter=counted & Q(finish_reason__in=JUDGED)),
        "give_ups": Count("pk", filter=counted & Q(finish_reason=Finish.GIVE_UP)),
        "bad_problems": Count("pk", filter=counted & Q(finish_reason=Finish.BAD_PROBLEM)),
        "extras": Count("pk", filter=Q(is_extra=True)),
        "quarantined": Count("pk", filter=counted & Q(quarantined_at__isnull=False)),
    }


def generation_counts(project: Project, generation: int) -> GenerationCounts:
    items: dict[str, Any] = QueueItem.objects.filter(
        project=project, generation=generation, purpose=Purpose.WORK
    ).aggregate(
        items=Count("pk"),
        waiting=_free(State.OPEN),
        held=_free(State.HELD),
        closed=_free(State.CLOSED),
        # Last: the expressions above mean the column of this name.
        wanted=Coalesce(Sum("wanted"), 0),
    )
    native = current_labels(project).filter(
        generation=generation, purpose=Purpose.WORK, assignment__isnull=False
    )
    in_progress = Assignment.objects.filter(
        project=project,
        item__generation=generation,
        item__purpose=Purpose.WORK,
        status=Assignment.Status.LEASED,
        submitted_at__isnull=True,
    ).count()
    return GenerationCounts(in_progress=in_progress, **items, **native.aggregate(**_label_counts()))


@dataclass(frozen=True)
class ProjectCounts:
    problems: int
    problems_held: int
    problems_bad: int
    solutions: int
    labels: int  # native work labels, as in GenerationCounts, over all generations
    give_ups: int
    bad_problems: int
    extras: int
    quarantined: int
    imported: int  # labels that came from files
    gold_right: int
    gold_total: int
    people: dict[str, int]  # enrolments by status
    generations: dict[int, GenerationCounts]


def _problem_counts(project: Project) -> dict[str, int]:
    return Problem.objects.filter(project=project).aggregate(
        problems=Count("pk"),
        problems_held=Count("pk", filter=Q(status=Problem.Status.HELD)),
        problems_bad=Count("pk", filter=Q(status=Problem.Status.BAD)),
    )


def _people(project: Project) -> dict[str, int]:
    rows = Enrolment.objects.filter(project=project).values_list("status").annotate(n=Count("pk")).order_by()
    return {**dict.fromkeys(Enrolment.Status.values, 0), **dict(rows)}


def generation_numbers(project: Project) -> list[int]:
    """The generations that have work in the queue, in order."""
    rows = QueueItem.objects.filter(project=project, purpose=Purpose.WORK)
    return list(rows.order_by("generation").values_list("generation", flat=True).distinct())


def project_counts(project: Project) -> ProjectCounts:
    native = current_labels(project).filter(purpose=Purpose.WORK, assignment__isnull=False)
    gold = QualityCheck.objects.filter(project=project, purpose=Purpose.GOLD).aggregate(
        gold_right=Count("pk", filter=Q(agrees=True)), gold_total=Count("pk")
    )
    return ProjectCounts(
        solutions=Solution.objects.filter(problem__project=project).count(),
        imported=current_labels(project).filter(assignment__isnull=True).count(),
        people=_people(project),
        generations={n: generation_counts(project, n) for n in generation_numbers(project)},
        **_problem_counts(project),
        **native.aggregate(**_label_counts()),
        **gold,
    )
