"""Reading labels: which ones count as data, and a person's own recent ones."""

from django.db.models import Q, QuerySet

from labeling.models import Label, Project, QueueItem, User

# The finish reasons whose ratings are a judgement of the solution.
JUDGED = (Label.FinishReason.FOUND_ERROR, Label.FinishReason.SOLUTION)


def current_labels(project: Project) -> QuerySet[Label]:
    """The final revision of every label, imported ones too."""
    return Label.objects.filter(project=project, is_current=True)


def usable_labels(project: Project, *, generation: int | None = None) -> QuerySet[Label]:
    """Labels that training and export of results may use, in order of their making.

    Current, not quarantined, not an extra, of ordinary work, and finished with a judgement; an
    imported line counts as well when it names no finish reason.
    """
    rows = current_labels(project).filter(
        Q(finish_reason__in=JUDGED) | Q(finish_reason="", assignment__isnull=True),
        quarantined_at__isnull=True,
        is_extra=False,
        purpose=QueueItem.Purpose.WORK,
    )
    if generation is not None:
        rows = rows.filter(generation=generation)
    return rows.order_by("id")


def recent_labels(user: User, project: Project) -> QuerySet[Label]:
    """A person's own current labels, newest first, with what a list of them shows."""
    rows = current_labels(project).filter(labeler=user, assignment__isnull=False)
    return rows.select_related("problem", "assignment", "solution").order_by("-submitted_at", "-id")
