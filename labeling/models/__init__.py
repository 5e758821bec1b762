"""The tables of the people side, by theme. docs/decisions/0001-data-model.md tells why they are so."""

from labeling.models.content import AnswerCheck, Gold, ImportedFile, Pool, Problem, Solution
from labeling.models.people import AuditEntry, Enrolment, Project, SignInLink, User
from labeling.models.work import Assignment, Job, Label, QualityCheck, QueueItem

__all__ = [
    "AnswerCheck",
    "Assignment",
    "AuditEntry",
    "Enrolment",
    "Gold",
    "ImportedFile",
    "Job",
    "Label",
    "Pool",
    "Problem",
    "Project",
    "QualityCheck",
    "QueueItem",
    "SignInLink",
    "Solution",
    "User",
]
