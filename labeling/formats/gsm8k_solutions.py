"""GSM8K example model solutions: per line one problem and, under each model's name, a graded solution."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.fields import Fields
from labeling.formats.gsm8k import worked_problem
from labeling.formats.rows import SolutionRow


def recognise(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("question"), str) and bool(_models(data))


def parse_solutions(data: Mapping[str, Any]) -> list[SolutionRow]:
    """One row per model, in the order of the line; the model's name is the generator."""
    fields = Fields(data)
    problem = worked_problem(fields, "question", "ground_truth")
    rows = []
    for name in _models(data):
        model = Fields(data[name], f"{name}.", fields.faults)
        right = model.boolean("is_correct", optional=True)
        rows.append(
            SolutionRow(
                problem=problem,
                text=model.text("solution"),
                generator=name[:200],
                is_correct=right,
                extra={} if right is None else {"is_correct": right},
            )
        )
    if not rows:
        cure = _('write {"solution": text, "is_correct": true or false} under a model\'s name.')
        fields.fault("", _("there is no model solution in this line."), cure)
    fields.done()
    return rows


def _models(data: Mapping[str, Any]) -> list[str]:
    return [name for name, value in data.items() if isinstance(value, dict) and "solution" in value]
