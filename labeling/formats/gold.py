"""Stepmark's own gold questions: `problem`, `answer`, `steps`, `accepted`, `first_error`, `explanation`."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.fields import Fields
from labeling.formats.rows import GoldRow, ProblemRow, SolutionRow

RATINGS = (-1, 0, 1)


def recognise(data: Mapping[str, Any]) -> bool:
    return "problem" in data and "steps" in data and ("accepted" in data or "first_error" in data)


def accepted_up_to(first_error: int | None, steps: int) -> tuple[tuple[int, ...], ...]:
    """+1 and 0 for every good step, -1 alone for the first error, nothing after it."""
    if first_error is None:
        return ((1, 0),) * steps
    return (*(((1, 0),) * first_error), (-1,))


def parse_gold(data: Mapping[str, Any]) -> GoldRow:
    """Either of `accepted` and `first_error` may be left out; where both are given they must agree."""
    fields = Fields(data)
    steps = fields.steps("steps")
    solution = SolutionRow(
        problem=ProblemRow(text=fields.text("problem"), answer=fields.answer("answer")),
        steps=steps,
        external_id=fields.word("id", 200),
        generator=fields.word("generator", 200),
    )
    accepted = _accepted(fields)
    first_error = _first_error(fields, accepted, len(steps))
    fields.done()
    explanation = fields.optional_text("explanation") or ""
    return GoldRow(solution, accepted or accepted_up_to(first_error, len(steps)), first_error, explanation)


def _accepted(fields: Fields) -> tuple[tuple[int, ...], ...]:
    lists = fields.items("accepted", optional=True)
    for index, ratings in enumerate(lists):
        if not (isinstance(ratings, list) and ratings and all(_is_rating(rating) for rating in ratings)):
            message = _("this is no list of ratings.")
            fields.fault(f"accepted[{index}]", message, _("write a list such as [1, 0] or [-1]."))
            return ()
    return tuple(tuple(ratings) for ratings in lists)


def _is_rating(value: object) -> bool:
    return value in RATINGS and not isinstance(value, bool) and isinstance(value, int)


def _first_error(fields: Fields, accepted: tuple[tuple[int, ...], ...], steps: int) -> int | None:
    """The first error by field or by the accepted ratings. The two must agree, and fit the steps."""
    planted = next((index for index, ratings in enumerate(accepted) if -1 in ratings), None)
    given = fields.integer("first_error", optional=True)
    if not accepted:
        if "first_error" not in fields.data:
            cure = _("write the number of the first wrong step (from 0), or null.")
            fields.fault("first_error", _("neither first_error nor accepted is given."), cure)
        elif given is not None and not 0 <= given < steps:
            message = _("there is no step {label}: the solution has {n} steps, counted from 0.")
            cure = _("write the number of the first wrong step, or null.")
            fields.fault("first_error", message.format(label=given, n=steps), cure)
        return given
    if "first_error" in fields.data and given != planted:
        message = _("accepted puts the first error at {planted}, first_error at {given}.")
        cure = _("make the two agree.")
        fields.fault("first_error", message.format(planted=planted, given=given), cure)
    wanted = steps if planted is None else planted + 1
    if len(accepted) != wanted:
        message = _("{n} lists of ratings, but {wanted} steps to judge.").format(
            n=len(accepted), wanted=wanted
        )
        cure = _("give one list for every step up to and with the first error.")
        fields.fault("accepted", message, cure)
    if planted is not None and accepted[planted] != (-1,):
        cure = _("write [-1]; a step that may pass is no error.")
        fields.fault(f"accepted[{planted}]", _("the first error accepts other ratings too."), cure)
    return planted
