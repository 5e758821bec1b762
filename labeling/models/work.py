"""The work itself: the queue, who holds what, the submitted labels, the checks on them, and jobs."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from labeling.models.content import Gold, ImportedFile, Problem, Solution
from labeling.models.people import Project, User


class QueueItem(models.Model):
    """A solution waiting to be judged in one generation.

    Gold and screening items are ordinary items served to everyone, so that nothing a labeler
    can see (page, API, timing) tells them apart.
    """

    class Purpose(models.TextChoices):
        WORK = "work", _("work")
        GOLD = "gold", _("quality control")
        SCREENING = "screening", _("screening")

    class State(models.TextChoices):
        OPEN = "open", _("open")
        HELD = "held", _("held")  # its problem was reported as bad
        CLOSED = "closed", _("closed")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="queue")
    generation = models.IntegerField()
    purpose = models.CharField(max_length=12, choices=Purpose.choices, default=Purpose.WORK)
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="queue_items")
    position = models.PositiveIntegerField(default=0)
    # How many labelers shall judge it, and how many hold or have submitted it (work items only).
    wanted = models.PositiveIntegerField(default=1)
    taken = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    # Plain copies of what the bridge knew, so that an export needs no look across the border.
    pick_cause = models.CharField(max_length=40, blank=True)
    verifier_score = models.FloatField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "generation", "solution"], name="one_item_per_solution_and_generation"
            ),
            models.CheckConstraint(
                condition=~Q(purpose="work") | Q(taken__lte=F("wanted")), name="never_overfilled"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["project", "purpose", "state", "generation", "position"], name="queue_order"
            ),
            # What a claim walks: it never passes over the items that are already full.
            models.Index(
                fields=["project", "purpose", "state", "generation", "position"],
                condition=Q(taken__lt=F("wanted")),
                name="open_places",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.solution_id} in generation {self.generation}"


class Assignment(models.Model):
    """One solution given to one labeler, under a lease that activity extends."""

    class Status(models.TextChoices):
        LEASED = "leased", _("in progress")
        SUBMITTED = "submitted", _("submitted")
        EXPIRED = "expired", _("expired")  # the lease ran out; the slot went back to the queue
        RELEASED = "released", _("released")  # given back: paused, generation closed, problem held

    item = models.ForeignKey(QueueItem, on_delete=models.CASCADE, related_name="assignments")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="assignments")
    labeler = models.ForeignKey(User, on_delete=models.CASCADE, related_name="assignments")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.LEASED)
    claimed_at = models.DateTimeField()
    lease_expires_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(default=dict)
    draft_version = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["labeler", "solution"], name="never_the_same_solution_twice")
        ]
        indexes: ClassVar = [
            models.Index(fields=["labeler", "project", "status"]),
            models.Index(fields=["status", "lease_expires_at"]),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk} ({self.status})"


class Label(models.Model):
    """One submitted judgement: the PRM800K line itself, and columns to count and filter by.

    `record` is the whole PRM800K line and never changes; a correction is a new revision. What
    PRM800K has no field for stands in columns and goes to the side file of an export.
    """

    class FinishReason(models.TextChoices):
        FOUND_ERROR = "found_error", _("found the first error")
        SOLUTION = "solution", _("no error")
        BAD_PROBLEM = "bad_problem", _("bad problem")
        GIVE_UP = "give_up", _("gave up")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="labels")
    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="labels")
    record = models.JSONField()
    record_hash = models.CharField(max_length=64)

    # Native labels only; imported ones have neither.
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="labels"
    )
    labeler = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="labels")
    solution = models.ForeignKey(
        Solution, null=True, blank=True, on_delete=models.SET_NULL, related_name="labels"
    )
    idempotency_key = models.CharField(max_length=64, null=True, blank=True, unique=True)  # noqa: DJ001
    revision = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)

    generation = models.IntegerField(null=True, blank=True)
    purpose = models.CharField(
        max_length=12, choices=QueueItem.Purpose.choices, default=QueueItem.Purpose.WORK
    )
    finish_reason = models.CharField(max_length=12, choices=FinishReason.choices, blank=True)
    first_error = models.PositiveIntegerField(null=True, blank=True)  # from 0
    n_good = models.PositiveIntegerField(default=0)
    n_neutral = models.PositiveIntegerField(default=0)
    n_bad = models.PositiveIntegerField(default=0)
    n_unrated = models.PositiveIntegerField(default=0)
    total_time_ms = models.PositiveBigIntegerField(null=True, blank=True)
    active_time_ms = models.PositiveBigIntegerField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    # The side file: what goes beyond PRM800K.
    step_reasons = models.JSONField(default=dict)  # {"3": "wrong arithmetic"}: step from 0 -> reason
    note = models.TextField(blank=True)  # the reason of a give up or bad problem
    key_disputed = models.BooleanField(default=False)
    is_extra = models.BooleanField(default=False)  # came after its lease had gone to someone else
    guideline_version = models.PositiveIntegerField(null=True, blank=True)
    pick_cause = models.CharField(max_length=40, blank=True)
    quarantined_at = models.DateTimeField(null=True, blank=True)
    quarantine_reason = models.CharField(max_length=300, blank=True)
    side = models.JSONField(default=dict)  # keys of an imported line that PRM800K does not have
    source = models.ForeignKey(ImportedFile, null=True, blank=True, on_delete=models.SET_NULL)
    source_line = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "record_hash"], condition=Q(is_current=True), name="one_label_per_record"
            ),
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(is_current=True, assignment__isnull=False),
                name="one_current_label_per_assignment",
            ),
        ]
        indexes: ClassVar = [
            # These two hold every column that a count or a lead's table reads: a row's record is
            # long, and reading past it for 100,000 labels would take seconds.
            models.Index(
                fields=[
                    "project",
                    "is_current",
                    "generation",
                    "purpose",
                    "finish_reason",
                    "is_extra",
                    "quarantined_at",
                    "assignment",
                ],
                name="label_counts",
            ),
            models.Index(
                fields=[
                    "project",
                    "is_current",
                    "labeler",
                    "purpose",
                    "finish_reason",
                    "is_extra",
                    "quarantined_at",
                    "assignment",
                    "n_good",
                    "n_neutral",
                    "n_bad",
                    "active_time_ms",
                ],
                name="labeler_counts",
            ),
            models.Index(fields=["labeler", "submitted_at"]),
        ]

    def __str__(self) -> str:
        return f"label {self.pk}"


class QualityCheck(models.Model):
    """A gold or screening label judged against the gold: once per assignment, on meaning."""

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="quality_check")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    labeler = models.ForeignKey(User, on_delete=models.CASCADE, related_name="quality_checks")
    gold = models.ForeignKey(Gold, on_delete=models.CASCADE, related_name="checks")
    gold_revision = models.PositiveIntegerField(default=1)
    purpose = models.CharField(max_length=12, choices=QueueItem.Purpose.choices)
    agrees = models.BooleanField()
    off_by = models.IntegerField(null=True, blank=True)  # given minus expected first error
    missed_error = models.BooleanField(default=False)  # passed a planted error
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["project", "labeler", "purpose", "at"])]

    def __str__(self) -> str:
        return f"check {self.pk}: {self.agrees}"


class Job(models.Model):
    """Background work. This row, not the broker, is the truth: it survives a killed worker."""

    class Status(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    kind = models.CharField(max_length=40)
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    params = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    stage = models.CharField(max_length=120, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    cure = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    claimed_by = models.CharField(max_length=120, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["status", "heartbeat_at"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} ({self.status})"

    @property
    def is_over(self) -> bool:
        return self.status in {self.Status.DONE, self.Status.FAILED, self.Status.CANCELLED}
