"""What an import did, counted by outcome."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

OUTCOMES: dict[str, Promise] = {
    "records": _("records read"),
    "problems_new": _("new problems"),
    "problems_known": _("problems already here"),
    "answers_filled": _("missing answers filled in"),
    "answers_differ": _("answers that differ (the first one was kept)"),
    "no_answer": _("problems without an answer"),
    "moved_to_test": _("problems moved to the test split"),
    "test_kept": _("problems that stay in the test split"),
    "solutions_new": _("new solutions"),
    "solutions_known": _("solutions already in the pool"),
    "solutions_repeated": _("records with a solution that came before"),
    "grade_right": _("new solutions graded right"),
    "grade_wrong": _("new solutions graded wrong"),
    "grade_unknown": _("new solutions whose grade cannot be told"),
    "answers_to_check": _("answers that graders leave in doubt (a person decides)"),
    "labels_new": _("new labels"),
    "labels_unchanged": _("labels already here, unchanged"),
    "gold_new": _("new gold questions"),
    "gold_unchanged": _("gold questions already here, unchanged"),
    "gold_differ": _("gold questions that differ (the one here was kept)"),
}
"""The outcomes in the order in which they are shown."""


@dataclass(frozen=True)
class ImportSummary:
    """Outcome counts of one imported file; `imported_file` is the id of its row."""

    kind: str
    format: str
    name: str
    sha256: str
    imported_file: int
    seconds: float
    counts: Counter[str] = field(default_factory=Counter)

    def lines(self) -> list[tuple[str, int]]:
        """(what, how many) of every outcome that happened, in order, for a person."""
        return titled(self.counts)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"counts": dict(self.counts)}


def titled(counts: dict[str, int]) -> list[tuple[str, int]]:
    return [(str(title), counts[name]) for name, title in OUTCOMES.items() if counts.get(name)]


def headline(kind: str, counts: dict[str, int]) -> tuple[str, int]:
    """The one outcome that a person looks for first: what is new of the kind that was imported."""
    name = f"{kind}_new"
    return str(OUTCOMES.get(name, name)), counts.get(name, 0)
