"""MATH problems: the lines of MATH and math_splits, and the list of problems with `final_answer`."""

from collections.abc import Mapping
from typing import Any

from labeling.formats.fields import Fields
from labeling.formats.rows import ProblemRow


def recognise(data: Mapping[str, Any]) -> bool:
    own = {"final_answer", "unique_id", "level", "subject", "type"}
    return isinstance(data.get("problem"), str) and "steps" not in data and bool(own & data.keys())


def parse_problem(data: Mapping[str, Any]) -> ProblemRow:
    """`answer` or `final_answer`; where there is neither, the importer looks into the solution's box."""
    fields = Fields(data)
    row = ProblemRow(
        text=fields.text("problem"),
        answer=fields.answer("answer") or fields.answer("final_answer"),
        solution=fields.optional_text("solution"),
        external_id=fields.word("unique_id", 200),
        subject=fields.word("subject", 80) or fields.word("type", 80),
        level=fields.word("level", 20).removeprefix("Level "),
    )
    fields.done()
    return row
