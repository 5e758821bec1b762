"""A model's held-out report as rows for a page: each number with its n and what chance would give. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Fewer held-out ratings than this and a number says next to nothing.
FEW = 100


@dataclass(frozen=True)
class Measure:
    title: str | Promise
    value: float | None
    chance: float | None  # what a model without skill gets
    length_only: float | None  # what length and place alone get
    n: int
    what: str | Promise  # what is counted


def measures(report: Mapping[str, Any]) -> list[Measure]:
    """Rows of one report of `models_prm.evaluation.evaluate.evaluate_prm`; empty without one."""
    steps, length = report.get("steps"), report.get("length_only", {})
    if not steps:
        return []
    first, n = report.get("first_error", {}), steps["ratings"]
    rows = [
        Measure(_("step AUROC"), steps["auroc_bad"], 0.5, length.get("auroc_bad"), n, _("ratings")),
        Measure(
            _("average precision (bad steps)"),
            steps["average_precision_bad"],
            steps["prior_bad"],
            length.get("average_precision_bad"),
            n,
            _("ratings"),
        ),
        Measure(_("first error F1"), first.get("f1"), None, None, first.get("solutions", 0), _("solutions")),
        Measure(_("calibration error (ECE)"), steps["calibration_error_bad"], None, None, n, _("ratings")),
        Measure(_("log loss"), steps["loss"], steps["loss_of_prior"], None, n, _("ratings")),
    ]
    if agreed := report.get("agreement"):
        title = _("agreement with people on bad steps (kappa)")
        rows.append(Measure(title, agreed["kappa_bad"], 0.0, None, n, _("ratings")))
    return [row for row in rows if row.n]


@dataclass(frozen=True)
class Change:
    """One measure before and after, on the same held-out labels."""

    title: str | Promise
    before: float | None
    after: float | None


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The four numbers of a generation's page; `before` may be empty."""
    old = {str(row.title): row.value for row in measures(before)}
    rows = [Change(row.title, old.get(str(row.title)), row.value) for row in measures(after)[:4]]
    return [row for row in rows if row.before is not None or row.after is not None]


def held_out_n(report: Mapping[str, Any]) -> int:
    return int(report.get("steps", {}).get("ratings", 0))
