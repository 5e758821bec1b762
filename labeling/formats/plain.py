"""Plain JSON lines: `problem`, `answer` (the right one), `solution` (a text) or `steps` (a list).

Of a problem, `solution` is the reference solution. Of a pool, it is the sampled solution, and
`given_answer`, `is_correct`, `generator`, `id`, `splitter` (what made the steps) and `finish` ("stop" or
"length") may stand beside it.
"""

from collections.abc import Mapping
from typing import Any

from labeling.formats.fields import Fields
from labeling.formats.rows import ProblemRow, SolutionRow


def recognise_problem(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("problem"), str) and "steps" not in data


def recognise_solution(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("problem"), str) and bool({"solution", "steps"} & data.keys())


def parse_problem(data: Mapping[str, Any]) -> ProblemRow:
    fields = Fields(data)
    row = _problem(fields, fields.optional_text("solution"), fields.word("id", 200))
    fields.done()
    return row


def parse_solution(data: Mapping[str, Any]) -> SolutionRow:
    fields = Fields(data)
    has_steps = data.get("steps") is not None
    right = fields.boolean("is_correct", optional=True)
    row = SolutionRow(
        problem=_problem(fields, None, ""),
        steps=fields.steps("steps") if has_steps else None,
        text=None if has_steps else fields.text("solution"),
        answer=fields.answer("given_answer"),
        external_id=fields.word("id", 200),
        generator=fields.word("generator", 200),
        is_correct=right,
        splitter=fields.word("splitter", 24),
        extra=_extra(data, right),
    )
    fields.done()
    return row


def _extra(data: Mapping[str, Any], right: bool | None) -> dict[str, Any]:
    """The file's own verdict, and why the sample ended: one that was cut off may not win a best-of-N."""
    finish = {"finish": data["finish"]} if data.get("finish") in {"stop", "length"} else {}
    return finish if right is None else {"is_correct": right, **finish}


def _problem(fields: Fields, solution: str | None, external_id: str) -> ProblemRow:
    return ProblemRow(
        text=fields.text("problem"),
        answer=fields.answer("answer"),
        solution=solution,
        external_id=external_id,
        subject=fields.word("subject", 80),
        level=fields.word("level", 20),
    )
