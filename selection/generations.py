"""The state machine of a generation. Every step is claimed by a conditional update: only one caller wins."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.errors import NotAllowedNow
from selection.models import Generation

S = Generation.State

NEXT: dict[str, set[str]] = {
    S.DRAFTED: {S.SAMPLING, S.SCORING, S.PICKING, S.FAILED},
    S.SAMPLING: {S.SCORING, S.PICKING, S.FAILED},
    S.SCORING: {S.PICKING, S.FAILED},
    S.PICKING: {S.LABELING, S.FAILED},
    S.LABELING: {S.TRAINING, S.FAILED},
    S.TRAINING: {S.EVALUATING, S.FAILED},
    S.EVALUATING: {S.PROMOTED, S.REJECTED, S.FAILED},
    # The lead may overrule the verdict, both ways.
    S.PROMOTED: {S.REJECTED},
    S.REJECTED: {S.PROMOTED},
    # A failed generation goes on where it failed.
    S.FAILED: {S.DRAFTED, S.SAMPLING, S.SCORING, S.PICKING, S.TRAINING, S.EVALUATING},
}
OPENING = (S.DRAFTED, S.SAMPLING, S.SCORING, S.PICKING)
CLOSING = (S.TRAINING, S.EVALUATING)
OVER = (S.PROMOTED, S.REJECTED)


def may(before: str, after: str) -> bool:
    return after in NEXT.get(before, set())


def advance(generation: Generation, before: str, after: str, **columns: Any) -> None:
    """Move from one state to the next, together with its columns.

    Raises NotAllowedNow if the table forbids the move or somebody else has moved the generation already.
    """
    claimed = may(before, after) and Generation.objects.filter(pk=generation.pk, state=before).update(
        state=after, **columns
    )
    generation.refresh_from_db()
    if not claimed:
        raise NotAllowedNow(
            _("Generation %(number)s is “%(state)s”: it cannot go from “%(before)s” to “%(after)s”.")
            % {
                "number": generation.number,
                "state": generation.get_state_display(),
                "before": S(before).label,
                "after": S(after).label,
            }
        )


def fail(generation: Generation, reason: str) -> None:
    """Remember where and why; nothing happens to one that is over or waits for labelers."""
    generation.refresh_from_db()
    state = generation.state
    if state in (*OPENING, *CLOSING):
        Generation.objects.filter(pk=generation.pk, state=state).update(
            state=S.FAILED, failed_in=state, failure=reason
        )
        generation.refresh_from_db()


def go_on(generation: Generation) -> None:
    """Back into the state in which it failed."""
    if generation.state == S.FAILED:
        advance(generation, S.FAILED, generation.failed_in, failure="", failed_in="")


def close_now() -> dict[str, Any]:
    """Columns of a generation that ends."""
    return {"closed_at": timezone.now()}
