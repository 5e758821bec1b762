"""The tables of the bridge: models, the data they were trained on, scores, generations and picks."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from labeling.models import Job, Pool, Project, QueueItem, Solution, User


class TrainingSnapshot(models.Model):
    """The exact labels (ids and revisions) that one training run saw, frozen as a file."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="snapshots")
    label_ids = models.JSONField()
    counts = models.JSONField(default=dict)  # used, and excluded by reason
    held_out = models.JSONField(default=list)  # ids of the problems kept for evaluation
    path = models.CharField(max_length=300)  # below STEPMARK_HOME
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"snapshot {self.pk}"


class ModelVersion(models.Model):
    class Kind(models.TextChoices):
        PRM = "prm", _("process reward model")
        ORM = "orm", _("outcome reward model")

    class Status(models.TextChoices):
        TRAINING = "training", _("training")
        READY = "ready", _("ready")
        PROMOTED = "promoted", _("promoted")
        REJECTED = "rejected", _("rejected")
        FAILED = "failed", _("failed")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="model_versions")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=4, choices=Kind.choices, default=Kind.PRM)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.TRAINING)
    status_reason = models.CharField(max_length=300, blank=True)
    base = models.CharField(max_length=300, blank=True)
    recipe = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=0)
    snapshot = models.ForeignKey(TrainingSnapshot, null=True, blank=True, on_delete=models.PROTECT)
    metrics = models.JSONField(default=dict)
    path = models.CharField(max_length=300, blank=True)  # below STEPMARK_HOME
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="one_model_per_name")
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.name


class ScoreSet(models.Model):
    """One model's scores of one pool. They count only when `is_complete`: all appear in one switch."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="score_sets")
    model = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="score_sets")
    is_complete = models.BooleanField(default=False)
    n_scored = models.PositiveIntegerField(default=0)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pool", "model"], name="one_score_set_per_pool_and_model")
        ]

    def __str__(self) -> str:
        return f"scores {self.pk}"


class Score(models.Model):
    score_set = models.ForeignKey(ScoreSet, on_delete=models.CASCADE, related_name="scores")
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="scores")
    value = models.FloatField(null=True)  # product over steps of 1 - p(-1); null: no step to score
    step_probs = models.JSONField()  # per step [p(-1), p(0), p(+1)]

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["score_set", "solution"], name="one_score_per_solution")
        ]
        indexes: ClassVar = [models.Index(fields=["score_set", "-value"])]

    def __str__(self) -> str:
        return f"score {self.value}"


class Generation(models.Model):
    """One round of collection: a state machine whose every step is claimed by a conditional update."""

    class State(models.TextChoices):
        DRAFTED = "drafted", _("drafted")
        SAMPLING = "sampling", _("sampling")
        SCORING = "scoring", _("scoring")
        PICKING = "picking", _("picking")
        LABELING = "labeling", _("labeling")
        TRAINING = "training", _("training")
        EVALUATING = "evaluating", _("evaluating")
        PROMOTED = "promoted", _("promoted")
        REJECTED = "rejected", _("rejected")
        FAILED = "failed", _("failed")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="generations")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFTED)
    failure = models.TextField(blank=True)
    failed_in = models.CharField(max_length=12, blank=True)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="generations")
    # The model whose scores picked this batch; null for strategies that need none.
    selector = models.ForeignKey(
        ModelVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="selected_generations"
    )
    trained = models.ForeignKey(
        ModelVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="closed_generations"
    )
    strategy = models.CharField(max_length=40)
    size = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)  # shares, per-problem cap, random slice, overlap
    seed = models.BigIntegerField(default=0)
    evaluation = models.JSONField(default=dict)  # {"before": {...}, "after": {...}, "verdict": "..."}
    open_job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    close_job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "number"], name="one_generation_per_number")
        ]
        ordering: ClassVar = ["-number"]

    def __str__(self) -> str:
        return f"generation {self.number}"


class Pick(models.Model):
    """A solution of the batch and why it was picked."""

    class Cause(models.TextChoices):
        CONVINCING_WRONG = "convincing_wrong", _("convincing wrong")
        MOST_CONVINCING = "most_convincing", _("most convincing left")
        RANDOM_SLICE = "random_slice", _("random slice")
        UNIFORM = "uniform", _("uniform")
        RANDOM_WRONG = "random_wrong", _("random wrong")
        UNCERTAIN = "uncertain", _("uncertain")
        PRM_CHOICE = "prm_choice", _("best by the process model")
        ORM_CHOICE = "orm_choice", _("best by the outcome model")
        VOTE_CHOICE = "vote_choice", _("majority vote")

    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="picks")
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="picks")
    item = models.OneToOneField(QueueItem, null=True, on_delete=models.SET_NULL, related_name="pick")
    cause = models.CharField(max_length=20, choices=Cause.choices)
    score = models.FloatField(null=True, blank=True)
    rank = models.PositiveIntegerField()  # from 1, by score within its problem
    of = models.PositiveIntegerField()  # candidates of the problem
    position = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["generation", "solution"], name="one_pick_per_solution")
        ]
        ordering: ClassVar = ["position"]

    def __str__(self) -> str:
        return f"{self.cause} {self.solution_id}"
