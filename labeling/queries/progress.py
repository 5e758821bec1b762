"""How far a labeler is, without telling work from gold."""

from dataclasses import dataclass
from datetime import datetime, time

from django.utils import timezone

from labeling.models import Enrolment, Label, QueueItem
from labeling.queries.labels import current_labels

Purpose = QueueItem.Purpose


@dataclass(frozen=True)
class Progress:
    phase: str  # "screening" or "work"
    done: int  # solutions judged in this phase
    total: int | None  # questions of the screening; None at work
    today: int  # solutions judged since midnight in the person's time zone


def _start_of_today() -> datetime:
    return timezone.make_aware(datetime.combine(timezone.localdate(), time.min))


def progress(enrolment: Enrolment, *, screening_total: int | None = None) -> Progress:
    """Gold counts as work here: the numbers must not give it away."""
    screening = enrolment.status == Enrolment.Status.SCREENING
    mine = current_labels(enrolment.project).filter(labeler=enrolment.user, assignment__isnull=False)
    phase = mine.filter(purpose=Purpose.SCREENING) if screening else mine.exclude(purpose=Purpose.SCREENING)
    return Progress(
        phase="screening" if screening else "work",
        done=phase.count(),
        total=screening_total if screening else None,
        today=_today(enrolment),
    )


def _today(enrolment: Enrolment) -> int:
    rows = Label.objects.filter(labeler=enrolment.user, submitted_at__gte=_start_of_today(), is_current=True)
    return rows.filter(project=enrolment.project).count()
