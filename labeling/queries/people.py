"""Reading people: what the lead sees of each labeler, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from labeling import quality
from labeling.models import AuditEntry, Enrolment, Label, Project, QualityCheck, QueueItem, User
from labeling.queries.labels import JUDGED, current_labels, recent_labels

Finish, Purpose = Label.FinishReason, QueueItem.Purpose
MS_PER_HOUR = 3_600_000


@dataclass(frozen=True)
class LabelerRow:
    """One labeler in one project. Counts are of current labels; gold and screening are beside `labels`."""

    user: User
    enrolment: Enrolment
    screening_right: int
    screening_total: int
    gold_right: int
    gold_total: int
    gold_low: float  # Wilson's 95% interval of the share of gold that agreed
    gold_high: float
    window_right: int  # the latest `gold_window` gold answers since the last readmission
    window_total: int
    labels: int  # work, finish reason found_error or solution, extras not counted
    give_ups: int
    bad_problems: int
    quarantined: int
    steps: int  # steps rated in all their labels, gold and screening too
    active_hours: float  # idle time excluded, over the same labels as `steps`
    last_seen: datetime | None

    @property
    def steps_per_hour(self) -> float | None:
        return self.steps / self.active_hours if self.active_hours else None

    @property
    def gold_accuracy(self) -> float | None:
        return self.gold_right / self.gold_total if self.gold_total else None


@dataclass(frozen=True)
class LabelerDetail:
    row: LabelerRow
    checks: list[QualityCheck]  # newest first, gold and screening
    labels: QuerySet[Label]  # newest first; slice before use
    history: list[AuditEntry] = field(default_factory=list)  # newest first


@dataclass
class _Checks:
    """The checks of one person in order of time."""

    screening: list[bool] = field(default_factory=list)
    gold: list[tuple[datetime, bool]] = field(default_factory=list)


def _all_checks(project: Project, users: Iterable[int]) -> dict[int, _Checks]:
    found: dict[int, _Checks] = defaultdict(_Checks)
    rows = QualityCheck.objects.filter(project=project, labeler__in=users).order_by("at", "id")
    for labeler, purpose, agrees, at in rows.values_list("labeler_id", "purpose", "agrees", "at"):
        if purpose == Purpose.SCREENING:
            found[labeler].screening.append(agrees)
        else:
            found[labeler].gold.append((at, agrees))
    return found


def _label_sums(project: Project, users: Iterable[int]) -> dict[int, dict[str, Any]]:
    work = Q(purpose=Purpose.WORK, is_extra=False)
    rows = (
        current_labels(project)
        .filter(labeler__in=users, assignment__isnull=False)
        .values("labeler_id")
        .annotate(
            labels=Count("pk", filter=work & Q(finish_reason__in=JUDGED)),
            give_ups=Count("pk", filter=work & Q(finish_reason=Finish.GIVE_UP)),
            bad_problems=Count("pk", filter=work & Q(finish_reason=Finish.BAD_PROBLEM)),
            quarantined=Count("pk", filter=Q(quarantined_at__isnull=False)),
            steps=Coalesce(Sum(F("n_good") + F("n_neutral") + F("n_bad")), 0),
            active_ms=Coalesce(Sum("active_time_ms"), 0),
        )
        .order_by()
    )
    return {row.pop("labeler_id"): row for row in map(dict, rows)}


NO_LABELS = {"labels": 0, "give_ups": 0, "bad_problems": 0, "quarantined": 0, "steps": 0, "active_ms": 0}


def _row(enrolment: Enrolment, checks: _Checks, sums: dict[str, Any]) -> LabelerRow:
    gold = [agrees for _at, agrees in checks.gold]
    low, high = quality.wilson(sum(gold), len(gold))
    since = enrolment.window_from
    recent = [agrees for at, agrees in checks.gold if since is None or at >= since]
    window = recent[-enrolment.project.gold_window :] if enrolment.project.gold_window else []
    counts = {name: value for name, value in sums.items() if name != "active_ms"}
    return LabelerRow(
        user=enrolment.user,
        enrolment=enrolment,
        screening_right=sum(checks.screening),
        screening_total=len(checks.screening),
        gold_right=sum(gold),
        gold_total=len(gold),
        gold_low=low,
        gold_high=high,
        window_right=sum(window),
        window_total=len(window),
        active_hours=sums["active_ms"] / MS_PER_HOUR,
        last_seen=enrolment.last_seen_at,
        **counts,
    )


def _rows(project: Project, enrolments: list[Enrolment]) -> list[LabelerRow]:
    users = [enrolment.user_id for enrolment in enrolments]
    checks, sums = _all_checks(project, users), _label_sums(project, users)
    return [
        _row(each, checks.get(each.user_id, _Checks()), sums.get(each.user_id, NO_LABELS))
        for each in enrolments
    ]


def labeler_rows(project: Project) -> list[LabelerRow]:
    """Every enrolled person, by user name: three queries, however many people and labels."""
    enrolments = Enrolment.objects.filter(project=project).select_related("user", "project")
    return _rows(project, list(enrolments.order_by("user__username")))


def labeler_detail(enrolment: Enrolment, *, history: int = 50) -> LabelerDetail:
    """One person: their row, every check with its gold, their labels, and what was done about them."""
    project, user = enrolment.project, enrolment.user
    checks = QualityCheck.objects.filter(project=project, labeler=user)
    entries = AuditEntry.objects.filter(project=project, subject=user.username)
    return LabelerDetail(
        row=_rows(project, [enrolment])[0],
        checks=list(checks.select_related("gold", "assignment__solution__problem").order_by("-at", "-id")),
        labels=recent_labels(user, project),
        history=list(entries.select_related("actor")[:history]),
    )
