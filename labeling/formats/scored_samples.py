"""Scored test samples as published with PRM800K: steps, per-step probabilities, PRM and ORM scores.

`answer` is the sample's own final answer (null or missing: none was found; `given_answer` in older files),
`ground_truth_answer` the right one. The scores are kept beside the solution and never shown to labelers.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.fields import Fields
from labeling.formats.rows import ProblemRow, SolutionRow

SCORES = ("prm_score", "orm_score")
CLASSES = {"-1", "0", "1"}


def recognise(data: Mapping[str, Any]) -> bool:
    return {"problem", "steps"} <= data.keys() and bool({"rating_probs", *SCORES} & data.keys())


def parse_solution(data: Mapping[str, Any]) -> SolutionRow:
    fields = Fields(data)
    steps = fields.steps("steps")
    right = fields.boolean("is_correct", optional=True)
    _check_probabilities(fields, len(steps))
    for name in SCORES:
        fields.number(name)
    kept = (*SCORES, "rating_probs", "is_correct", "finish")
    row = SolutionRow(
        problem=ProblemRow(
            text=fields.text("problem"),
            answer=fields.answer("ground_truth_answer"),
            external_id=fields.word("unique_id", 200),
            subject=fields.word("subject", 80),
            level=fields.word("level", 20).removeprefix("Level "),
        ),
        steps=steps,
        answer=fields.answer("answer") or fields.answer("given_answer"),
        is_correct=right,
        splitter=fields.word("splitter", 24),
        extra={name: data[name] for name in kept if data.get(name) is not None},
    )
    fields.done()
    return row


def _check_probabilities(fields: Fields, steps: int) -> None:
    """One object per step with a probability for "-1", "0" and "1"."""
    if fields.data.get("rating_probs") is None:
        return
    rows = fields.items("rating_probs")
    if len(rows) != steps:
        message = _("{n} rows of probabilities for {steps} steps.").format(n=len(rows), steps=steps)
        fields.fault("rating_probs", message, _("give one row for every step."))
    for index, row in enumerate(rows):
        if not (isinstance(row, dict) and row.keys() == CLASSES and all(map(_is_share, row.values()))):
            cure = _('write {"-1": p, "0": p, "1": p} with p from 0 to 1.')
            fields.fault(f"rating_probs[{index}]", _("these are no three probabilities."), cure)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e-6 <= value <= 1 + 1e-6
