"""What is judged: problems, pools of solutions, gold answers, and the files they came from."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from labeling.models.people import Project, User


class ImportedFile(models.Model):
    """One imported file; every row that it made points here, so a number can be traced to its line."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imported_files")
    kind = models.CharField(max_length=32)
    format = models.CharField(max_length=32)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    summary = models.JSONField(default=dict)
    imported_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.name


class Problem(models.Model):
    class Split(models.TextChoices):
        TRAIN = "train", _("train")
        TEST = "test", _("test")

    class Status(models.TextChoices):
        OK = "ok", _("in use")
        HELD = "held", _("held: reported as bad")
        BAD = "bad", _("bad")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="problems")
    text = models.TextField()
    # sha256 of the text with white space folded: one row per problem text and project.
    text_hash = models.CharField(max_length=64)
    ground_truth_answer = models.TextField(null=True, blank=True)  # noqa: DJ001 - null is "not known"
    # Never shown to labelers.
    ground_truth_solution = models.TextField(null=True, blank=True)  # noqa: DJ001
    dataset = models.CharField(max_length=60, blank=True)
    external_id = models.CharField(max_length=200, blank=True)
    split = models.CharField(max_length=8, choices=Split.choices, default=Split.TRAIN)
    subject = models.CharField(max_length=80, blank=True)
    level = models.CharField(max_length=20, blank=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.OK)
    # When the lead last decided on reports about it: only later reports count again.
    decided_at = models.DateTimeField(null=True, blank=True)
    source = models.ForeignKey(ImportedFile, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "text_hash"], name="one_problem_per_text")
        ]

    def __str__(self) -> str:
        return self.text[:60]


class Pool(models.Model):
    """All solutions sampled for a set of problems by one fixed generator."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pools")
    name = models.CharField(max_length=120)
    generator = models.CharField(max_length=200, blank=True)
    sampling = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="one_pool_per_name")
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return self.name


class Solution(models.Model):
    class Grade(models.TextChoices):
        RIGHT = "right", _("right")
        WRONG = "wrong", _("wrong")
        UNKNOWN = "unknown", _("cannot tell")

    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="solutions")
    # Gold questions made outside a pool have none.
    pool = models.ForeignKey(Pool, null=True, blank=True, on_delete=models.CASCADE, related_name="solutions")
    sample_index = models.PositiveIntegerField(default=0)
    external_id = models.CharField(max_length=200, blank=True)
    steps = models.JSONField()
    # sha256 of the steps with white space folded: equal texts are one solution to a labeler.
    text_hash = models.CharField(max_length=64, db_index=True)
    splitter = models.CharField(max_length=24, default="given")
    answer = models.TextField(null=True, blank=True)  # noqa: DJ001 - null is "no answer found"
    grade = models.CharField(max_length=8, choices=Grade.choices, default=Grade.UNKNOWN)
    # Which rule of the answer grader decided; "file": the file's own verdict; "person": a person settled it.
    graded_by = models.CharField(max_length=60, blank=True)
    generator = models.CharField(max_length=200, blank=True)
    # Numbers that came with the file (prm_score, orm_score, is_correct); never shown to labelers.
    extra = models.JSONField(default=dict)
    source = models.ForeignKey(ImportedFile, null=True, blank=True, on_delete=models.SET_NULL)
    source_line = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["pool", "problem", "sample_index"], name="one_solution_per_sample"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["pool", "grade"])]

    def __str__(self) -> str:
        return f"solution {self.pk}"


class AnswerCheck(models.Model):
    """An answer that graders contradict each other about, or that none could grade; a person settles it.

    One row per problem and answer text: the decision is about every solution of the problem that gives it,
    also about those that are imported later.
    """

    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="answer_checks")
    answer = models.TextField()
    # sha256 of the answer as it is written: a long text has no place in an index.
    answer_hash = models.CharField(max_length=64)
    # What each grader said: {"exact": "wrong", "math-verify": "right"}.
    votes = models.JSONField(default=dict)
    # What the graders' rule made of it: the grade until a person decides, and again when that is taken back.
    grade = models.CharField(max_length=8, choices=Solution.Grade.choices)
    graded_by = models.CharField(max_length=60, blank=True)
    # A person's word; "" until there is one.
    decision = models.CharField(max_length=8, choices=Solution.Grade.choices, blank=True)
    decided_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["problem", "answer_hash"], name="one_check_per_answer")
        ]
        indexes: ClassVar = [models.Index(fields=["problem", "decision"])]

    def __str__(self) -> str:
        return f"answer {self.answer[:40]!r} to problem {self.problem_id}"


class Gold(models.Model):
    """Expected ratings of one solution, for screening (generation -1) and quality control."""

    solution = models.OneToOneField(Solution, on_delete=models.CASCADE, related_name="gold")
    # One list of accepted ratings per step, up to and with the first error.
    accepted = models.JSONField()
    first_error = models.PositiveIntegerField(null=True, blank=True)  # from 0; null: no error
    explanation = models.TextField(blank=True)
    # -1: screening; n: only in that generation; null: in any generation from 0 on.
    generation = models.IntegerField(null=True, blank=True)
    is_active = models.BooleanField(default=True)
    revision = models.PositiveIntegerField(default=1)
    origin = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["generation", "is_active"])]

    def __str__(self) -> str:
        return f"gold of solution {self.solution_id}"
