"""GSM8K problems: `question`, and an `answer` that is a worked solution ending in `#### N`."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.fields import Fields
from labeling.formats.rows import ProblemRow

MARKS = ("####", "\nA:")
"""What stands before the final answer: in GSM8K itself, and in its example solutions."""


def recognise(data: Mapping[str, Any]) -> bool:
    answer = data.get("answer")
    return isinstance(data.get("question"), str) and isinstance(answer, str) and MARKS[0] in answer


def parse_problem(data: Mapping[str, Any]) -> ProblemRow:
    fields = Fields(data)
    row = worked_problem(fields, "question", "answer")
    fields.done()
    return row


def worked_problem(fields: Fields, question: str, solution: str) -> ProblemRow:
    """A problem from its text and its worked solution; the answer is what stands after the last mark."""
    worked = fields.text(solution)
    answer = next(
        (found for mark in MARKS if (found := worked.rpartition(mark)[2].strip()) != worked.strip()), ""
    )
    if worked and not answer:
        message = _("no final answer after ####.")
        fields.fault(solution, message, _("end the solution with a line such as #### 18."))
    return ProblemRow(text=fields.text(question), answer=answer or None, solution=worked)
