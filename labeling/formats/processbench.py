"""ProcessBench: solutions with the person's first wrong step (`label`, from 0; -1: no error).

As gold, steps before the error accept +1 and 0 and the error accepts -1 only: the data say where the first
error is, not how good the steps before it are. Source: QwenLM/ProcessBench.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.fields import Fields
from labeling.formats.gold import accepted_up_to
from labeling.formats.rows import GoldRow, ProblemRow, SolutionRow


def recognise(data: Mapping[str, Any]) -> bool:
    return {"problem", "steps", "label", "final_answer_correct"} <= data.keys()


def parse_solution(data: Mapping[str, Any]) -> SolutionRow:
    fields = Fields(data)
    row = _solution(fields)
    fields.done()
    return row


def parse_gold(data: Mapping[str, Any]) -> GoldRow:
    fields = Fields(data)
    solution = _solution(fields)
    label = fields.data.get("label")
    fields.done()
    first_error = label if isinstance(label, int) and label >= 0 else None
    return GoldRow(solution, accepted_up_to(first_error, len(solution.steps or ())), first_error)


def _solution(fields: Fields) -> SolutionRow:
    steps = fields.steps("steps")
    label = fields.integer("label")
    if label is not None and steps and not -1 <= label < len(steps):
        message = _("there is no step {label}: the solution has {n} steps, counted from 0.")
        cure = _("write the number of the first wrong step, or -1.")
        fields.fault("label", message.format(label=label, n=len(steps)), cure)
    right = fields.boolean("final_answer_correct", optional=True)
    return SolutionRow(
        # The identifier names the solution, not the problem: several items share one problem.
        problem=ProblemRow(text=fields.text("problem")),
        steps=steps,
        external_id=fields.word("id", 200),
        generator=fields.word("generator", 200),
        is_correct=right,
        extra={"label": label} if right is None else {"label": label, "final_answer_correct": right},
    )
