"""People: making them, signing them in by link, and (from `standing`) pausing and readmitting them."""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from labeling.models import Enrolment, Project, SignInLink, User
from labeling.services import audit
from labeling.services.queue import enrol
from labeling.services.standing import pause, readmit, release_quarantine

__all__ = [
    "accept_guidelines",
    "create_person",
    "enrol",
    "make_sign_in_link",
    "pause",
    "readmit",
    "release_quarantine",
    "revoke_links",
    "user_of_link",
]


@transaction.atomic
def create_person(
    username: str,
    role: str = User.Role.LABELER,
    *,
    project: Project | None = None,
    by: User | None = None,
    password: str | None = None,
    email: str = "",
    first_name: str = "",
    last_name: str = "",
) -> User:
    """Make a user; labelers are enrolled in `project`, or in every project where none is given.

    Without a password the person signs in by link only.
    """
    if role not in User.Role.values:
        raise ValueError(f"role {role!r} is none of {User.Role.values}")
    user = User.objects.create_user(
        username, email or None, password, role=role, first_name=first_name, last_name=last_name
    )
    if role == User.Role.LABELER:
        for each in [project] if project is not None else Project.objects.all():
            enrol(user, each)
    audit.note("person.created", username, project=project, by=by, role=role)
    return user


def accept_guidelines(enrolment: Enrolment) -> None:
    """Remember that the person accepted the present version of the guidelines."""
    version = enrolment.project.guideline_version
    Enrolment.objects.filter(pk=enrolment.pk).update(accepted_guidelines=version)
    enrolment.accepted_guidelines = version


# --- Sign-in links ----------------------------------------------------------------------------
def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def make_sign_in_link(user: User, *, days: int = 7, by: User | None = None) -> str:
    """A new token that signs the user in for `days` days. It is shown once; only its digest is kept."""
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(
        user=user, digest=_digest(token), expires_at=timezone.now() + timedelta(days=days), created_by=by
    )
    audit.note("link.made", user.username, project=None, by=by, days=days)
    return token


def user_of_link(token: str) -> User | None:
    """Whose token this is, or None when it is unknown, expired or revoked, or its owner is inactive."""
    now = timezone.now()
    link = (
        SignInLink.objects.filter(
            digest=_digest(token),
            expires_at__gt=now,
            revoked_at__isnull=True,
            user__is_active=True,
        )
        .select_related("user")
        .first()
    )
    if link is None:
        return None
    SignInLink.objects.filter(pk=link.pk).update(last_used_at=now)
    return link.user


@transaction.atomic
def revoke_links(user: User, *, by: User | None = None) -> int:
    """End all links of a person at once; gives how many were alive."""
    now = timezone.now()
    count = SignInLink.objects.filter(user=user, revoked_at__isnull=True, expires_at__gt=now).update(
        revoked_at=now
    )
    audit.note("link.revoked", user.username, project=None, by=by, links=count)
    return count
