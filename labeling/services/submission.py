"""What a page sends as a finished judgement, and whether it is one. Pure: no saves, no clock."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from labeling.errors import BadSubmission, LabelingError
from labeling.models import Label, Project
from labeling.records import Rating, first_error

Finish = Label.FinishReason
MAX_NOTE = 4000
MAX_KEY = 64


class AnswerUnconfirmed(LabelingError):
    """No error found, but the final answer is not the current guess of the answer. Is that right?"""

    code = "confirm_answer"


@dataclass(frozen=True)
class Submission:
    """`ratings` counts from the first step; steps not judged are null or left out at the end."""

    idempotency_key: str
    finish_reason: str
    ratings: Sequence[Rating] = ()
    step_reasons: dict[str, str] = field(default_factory=dict)
    note: str = ""
    key_disputed: bool = False
    answer_confirmed: bool = False
    total_time_ms: int = 0
    active_time_ms: int = 0


def checked(submission: Submission, *, steps: int, project: Project) -> list[Rating]:
    """The ratings, one per step, or BadSubmission with the cure."""
    _check_frame(submission)
    ratings = _check_ratings(submission.ratings, steps)
    _check_reasons(submission.step_reasons, ratings, project.reasons)
    if submission.finish_reason in {Finish.GIVE_UP, Finish.BAD_PROBLEM}:
        if not submission.note.strip():
            raise BadSubmission(_("Please say why, in a few words."), field="note")
        if project.mode == Project.Mode.FIRST_ERROR:
            _check_nothing_after_error(ratings)
    elif project.mode == Project.Mode.FULL:
        _check_full(submission.finish_reason, ratings)
    else:
        _check_first_error(submission.finish_reason, ratings)
    return ratings


def _check_frame(submission: Submission) -> None:
    if not submission.idempotency_key or len(submission.idempotency_key) > MAX_KEY:
        raise BadSubmission(
            _("Send an idempotency_key of 1 to %d characters.") % MAX_KEY, field="idempotency_key"
        )
    if submission.finish_reason not in Finish.values:
        allowed = ", ".join(Finish.values)
        raise BadSubmission(_("finish_reason must be one of: %s.") % allowed, field="finish_reason")
    if len(submission.note) > MAX_NOTE:
        raise BadSubmission(_("The note is longer than %d characters: shorten it.") % MAX_NOTE, field="note")
    for name in ("total_time_ms", "active_time_ms"):
        if getattr(submission, name) < 0:
            raise BadSubmission(_("%s must not be negative.") % name, field=name)


def _check_ratings(given: Sequence[Any], steps: int) -> list[Rating]:
    ratings = list(given)
    if len(ratings) > steps:
        raise BadSubmission(
            _("%(given)d ratings were sent for %(steps)d steps.") % {"given": len(ratings), "steps": steps},
            field="ratings",
        )
    for index, rating in enumerate(ratings):
        if rating is not None and (type(rating) is not int or rating not in (-1, 0, 1)):
            message = _("The rating of step %d must be 1, 0, -1 or null.") % (index + 1)
            raise BadSubmission(message, field="ratings", step=index)
    return ratings + [None] * (steps - len(ratings))


def _check_reasons(reasons: dict[str, str], ratings: Sequence[Rating], known: Sequence[str]) -> None:
    for key, reason in reasons.items():
        index = int(key) if key.isascii() and key.isdigit() else -1
        if not 0 <= index < len(ratings) or ratings[index] not in (0, -1):
            message = _("A reason can only stand at a step rated 0 or -1; %s is none.") % key
            raise BadSubmission(message, field="step_reasons")
        if reason not in known:
            message = _("“%(reason)s” is not one of this project's reasons: %(known)s.")
            raise BadSubmission(message % {"reason": reason, "known": ", ".join(known)}, field="step_reasons")


def _refuse_gap(ratings: Sequence[Rating]) -> None:
    if None in ratings:
        index = ratings.index(None)
        raise BadSubmission(_("Step %d is not rated yet.") % (index + 1), field="ratings", step=index)


def _check_nothing_after_error(ratings: Sequence[Rating]) -> None:
    stop = first_error(ratings)
    if stop is not None and any(rating is not None for rating in ratings[stop + 1 :]):
        message = _("Step %d is the first bad one: leave the steps after it unrated.") % (stop + 1)
        raise BadSubmission(message, field="ratings", step=stop)


def _check_first_error(finish: str, ratings: Sequence[Rating]) -> None:
    stop = first_error(ratings)
    if finish == Finish.FOUND_ERROR:
        if stop is None:
            raise BadSubmission(_("Rate the first bad step -1, or finish as “no error”."), field="ratings")
        _refuse_gap(ratings[: stop + 1])
        _check_nothing_after_error(ratings)
        return
    if stop is not None:
        message = _("Step %d is rated -1: finish as “found the first error”.") % (stop + 1)
        raise BadSubmission(message, field="finish_reason", step=stop)
    _refuse_gap(ratings)


def _check_full(finish: str, ratings: Sequence[Rating]) -> None:
    _refuse_gap(ratings)
    found = first_error(ratings) is not None
    if found != (finish == Finish.FOUND_ERROR):
        message = (
            _("A step is rated -1: finish as “found the first error”.")
            if found
            else _("No step is rated -1: finish as “no error”.")
        )
        raise BadSubmission(message, field="finish_reason")
