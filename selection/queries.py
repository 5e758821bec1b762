"""Reads for the researcher's pages. Counts of people's work come from labeling.queries.counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Value
from django.db.models.functions import Floor, Least
from django.utils import timezone

from labeling.models import Assignment, Job, Label, Pool, Project, QueueItem, Solution
from labeling.queries.counts import GenerationCounts, generation_counts
from selection.generations import S
from selection.models import Generation, ModelVersion, Pick, Score, ScoreSet

BINS = 24
GRADE_COUNTS = {
    "n": Count("solutions"),
    **{grade: Count("solutions", filter=Q(solutions__grade=grade)) for grade in Solution.Grade.values},
    "problems": Count("solutions__problem", distinct=True),
}


def pools_with_counts(project: Project) -> QuerySet[Pool, Any]:
    """Pools with `n`, `right`, `wrong`, `unknown` and `problems`, and their score sets."""
    return Pool.objects.filter(project=project).annotate(**GRADE_COUNTS).prefetch_related("score_sets__model")


def score_sets(pool: Pool) -> QuerySet[ScoreSet]:
    return pool.score_sets.select_related("model", "job").order_by("-model_id")


def active_jobs(project: Project) -> list[Job]:
    """Jobs of the bridge that wait or run."""
    busy = [Job.Status.QUEUED, Job.Status.RUNNING]
    return list(Job.objects.filter(project=project, status__in=busy).order_by("pk")[:5])


@dataclass
class Bin:
    """One column of the histogram: solutions by grade, and how many of them were picked as wrong."""

    right: int = 0
    wrong: int = 0
    unknown: int = 0
    picked: int = 0


def score_bins(generation: Generation) -> list[Bin]:
    """Scores of the pool from 0 to 1 in BINS equal steps; empty where the selector has no complete scores."""
    score_set = ScoreSet.objects.filter(
        pool=generation.pool_id, model=generation.selector_id, is_complete=True
    ).first()
    if score_set is None:
        return []
    bins = [Bin() for _ in range(BINS)]
    rows = (
        score_set.scores.filter(value__isnull=False)
        .annotate(bin=Least(Floor(F("value") * float(BINS)), Value(float(BINS - 1))))
        .values_list("bin", "solution__grade")
        .annotate(n=Count("pk"))
        .order_by()
    )
    for position, grade, n in rows:
        setattr(bins[int(position)], grade, n)
    wrong = generation.picks.filter(solution__grade=Solution.Grade.WRONG)
    for value in wrong.values_list("score", flat=True):
        if value is not None:
            bins[min(int(value * BINS), BINS - 1)].picked += 1
    return bins


def causes_of(generation: Generation) -> list[tuple[str, int]]:
    """Label and number of each cause, most frequent first."""
    rows = generation.picks.order_by().values_list("cause").annotate(n=Count("pk")).order_by("-n")
    return [(str(Pick.Cause(cause).label), n) for cause, n in rows]


@dataclass(frozen=True)
class Work:
    """How far the labeling of a generation is."""

    counts: GenerationCounts
    people: int
    left: timedelta | None  # at the pace of the last week; None while there is none

    @property
    def percent(self) -> int:
        """Judgements made, of those that can still be made; rounded down, so that 100 means all."""
        reachable = self.counts.wanted - self.counts.closed
        return 100 * self.counts.settled // reachable if reachable else 100

    @property
    def is_complete(self) -> bool:
        return self.counts.in_progress + self.counts.waiting + self.counts.held == 0


def work_of(generation: Generation) -> Work:
    counts = generation_counts(generation.project, generation.number)
    labels = Label.objects.filter(
        project=generation.project,
        generation=generation.number,
        purpose=QueueItem.Purpose.WORK,
        is_current=True,
    )
    people = labels.exclude(labeler=None).aggregate(n=Count("labeler", distinct=True))["n"]
    return Work(counts, people, _left(labels, counts))


def _left(labels: QuerySet[Label], counts: GenerationCounts) -> timedelta | None:
    """What waits, at the pace of the last seven days (or since the first label)."""
    now = timezone.now()
    recent = labels.filter(submitted_at__gte=now - timedelta(days=7)).order_by("submitted_at")
    first, n = recent.first(), recent.count()
    todo = counts.waiting + counts.in_progress
    if first is None or first.submitted_at is None or n < 5 or not todo:
        return None
    return (now - first.submitted_at) / n * todo


@dataclass
class PickState:
    """What became of a pick, in the words of its template: a kind and the steps it concerns."""

    kind: str
    steps: list[int] = field(default_factory=list)  # first errors, from 1


def pick_states(picks: Sequence[Pick]) -> dict[int, list[PickState]]:
    """By pick: one state per judgement, or one that says why there is none yet."""
    items = {pick.item_id: pick for pick in picks if pick.item_id is not None}
    states: dict[int, list[PickState]] = {pick.pk: [] for pick in picks}
    labels = Label.objects.filter(assignment__item__in=items, is_current=True, is_extra=False)
    for item, finish, error in labels.order_by("pk").values_list(
        "assignment__item", "finish_reason", "first_error"
    ):
        steps = [] if error is None else [error + 1]
        states[items[item].pk].append(PickState(str(finish), steps))
    busy = Assignment.objects.filter(item__in=items, status=Assignment.Status.LEASED)
    leased = set(busy.filter(submitted_at__isnull=True).values_list("item", flat=True))
    for pick in picks:
        if not states[pick.pk]:
            states[pick.pk] = [PickState(_no_label(pick, leased))]
    return states


def _no_label(pick: Pick, leased: set[int]) -> str:
    if pick.item is None or pick.item.state == QueueItem.State.CLOSED:
        return "not_judged"
    if pick.item_id in leased:
        return "in_progress"
    return "held" if pick.item.state == QueueItem.State.HELD else "waiting"


def latest_generation(project: Project) -> Generation | None:
    related = ("project", "pool", "selector", "trained", "open_job", "close_job")
    return Generation.objects.filter(project=project).select_related(*related).order_by("-number").first()


def is_busy(generation: Generation) -> bool:
    """Whether a machine works on it (people may be working all the time)."""
    return generation.state not in (S.LABELING, S.PROMOTED, S.REJECTED, S.FAILED)


def models_of(project: Project) -> QuerySet[ModelVersion]:
    return ModelVersion.objects.filter(project=project).select_related("snapshot", "job").order_by("-id")


def step_scores_of(solution: Solution) -> list[Score]:
    """Complete scores by process models, the newest model first. An outcome model judges the whole: what it
    says at each step is no score of that step."""
    rows = Score.objects.filter(
        solution=solution, score_set__is_complete=True, score_set__model__kind=ModelVersion.Kind.PRM
    )
    return list(rows.select_related("score_set__model").order_by("-score_set__model_id"))
