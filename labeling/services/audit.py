"""The log of who changed what; call it inside the transaction of the change."""

from typing import Any

from labeling.models import AuditEntry, Project, User


def note(
    action: str, subject: object, *, project: Project | None, by: User | None = None, **detail: Any
) -> AuditEntry:
    """Write one entry. `by` None means that a rule of the house did it, not a person."""
    return AuditEntry.objects.create(
        action=action, subject=str(subject)[:120], project=project, actor=by, detail=detail
    )
