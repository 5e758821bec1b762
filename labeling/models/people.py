"""People, their projects, their standing in each, and the log of what was changed by whom."""

import uuid
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

SHARE = [MinValueValidator(0.0), MaxValueValidator(1.0)]


def new_public_id() -> str:
    return uuid.uuid4().hex


def default_reasons() -> list[str]:
    return [
        "wrong arithmetic",
        "wrong rule",
        "unjustified",
        "misreads the problem",
        "off topic",
        "hard to verify",
        "restates",
    ]


class User(AbstractUser):
    class Role(models.TextChoices):
        LABELER = "labeler", _("Labeler")
        LEAD = "lead", _("QC lead")
        RESEARCHER = "researcher", _("Researcher")

    role = models.CharField(max_length=16, choices=Role.choices, default=Role.LABELER)
    # The only name of a person that leaves the house in an export.
    public_id = models.CharField(max_length=32, unique=True, default=new_public_id, editable=False)
    time_zone = models.CharField(max_length=64, blank=True)

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username


class Project(models.Model):
    class Mode(models.TextChoices):
        FIRST_ERROR = "first_error", _("Stop at the first bad step")
        FULL = "full", _("Rate every step")

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=60, unique=True)
    is_practice = models.BooleanField(default=False)
    mode = models.CharField(max_length=16, choices=Mode.choices, default=Mode.FIRST_ERROR)
    guidelines = models.TextField(blank=True)
    guideline_version = models.PositiveIntegerField(default=1)
    reasons = models.JSONField(default=default_reasons)
    screening_questions = models.PositiveIntegerField(default=30)
    screening_pass_mark = models.FloatField(default=0.75, validators=SHARE)
    gold_per_generation = models.PositiveIntegerField(default=15)
    # Chance that the next solution is a gold question while one is left for this labeler.
    gold_share = models.FloatField(default=0.15, validators=SHARE)
    gold_window = models.PositiveIntegerField(default=10)
    gold_mark = models.FloatField(default=0.7, validators=SHARE)
    overlap = models.PositiveIntegerField(default=1)
    lease_minutes = models.PositiveIntegerField(default=30)
    hourly_rate = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return self.name


class Enrolment(models.Model):
    """One person's standing in one project."""

    class Status(models.TextChoices):
        SCREENING = "screening", _("in screening")
        ACTIVE = "active", _("active")
        FAILED = "failed", _("screening not passed")
        PAUSED = "paused", _("paused")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="enrolments")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="enrolments")
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.SCREENING)
    status_reason = models.CharField(max_length=300, blank=True)
    status_changed_at = models.DateTimeField(auto_now_add=True)
    status_changed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # When they first were let in to work: a pause before that does not skip the screening.
    admitted_at = models.DateTimeField(null=True, blank=True)
    # The running gold window starts after the last readmission: old misses do not pause twice.
    window_from = models.DateTimeField(null=True, blank=True)
    accepted_guidelines = models.PositiveIntegerField(default=0)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "user"], name="one_enrolment_per_person")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id}: {self.status}"


class SignInLink(models.Model):
    """A link that signs its owner in until it expires or is revoked. Only the digest is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"link of {self.user_id}"


class AuditEntry(models.Model):
    """Who changed what, when. Written in the same transaction as the change."""

    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=60, db_index=True)
    subject = models.CharField(max_length=120)
    detail = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
