"""Numbers and states of the bridge in words and badges."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import ordinal
from django.utils.translation import gettext as _

from selection.models import Generation, ModelVersion, Pick
from selection.queries import PickState

register = template.Library()

DASH = "–"
BADGES = {
    "right": "badge-good",
    "wrong": "badge-bad",
    "unknown": "",
    ModelVersion.Status.TRAINING: "badge-info",
    ModelVersion.Status.PROMOTED: "badge-good",
    ModelVersion.Status.REJECTED: "badge-bad",
    ModelVersion.Status.FAILED: "badge-bad",
    Generation.State.LABELING: "badge-info",
    Pick.Cause.CONVINCING_WRONG: "badge-bad",
    Pick.Cause.MOST_CONVINCING: "badge-info",
    Pick.Cause.UNCERTAIN: "badge-neutral",
}


@register.filter
def number(value: float | None, digits: int = 3) -> str:
    """A measure with fixed digits; a dash where it is not defined."""
    return DASH if value is None else f"{value:.{digits}f}"


@register.filter
def share(value: float | None) -> str:
    """A share in [0, 1] as a percentage with one digit; a dash where it is not defined."""
    return DASH if value is None else f"{100 * value:.1f}%"


@register.filter
def share_of(part: int, whole: int) -> str:
    """ "12 (40.0%)"; a dash of nothing."""
    return f"{part} ({share(part / whole)})" if whole else DASH


@register.filter
def share_with_interval(point: Mapping[str, Any]) -> str:
    """An accuracy with its 95% interval: 78.2% (75.0–81.1)."""
    low, high = point["interval"]
    return f"{share(point['accuracy'])} ({100 * low:.1f}{DASH}{100 * high:.1f})"


@register.filter
def signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.3f}".replace("-", "−")


@register.filter
def strategy_name(strategy: str) -> str:
    names = {
        "convincing_wrong": _("convincing wrong answers"),
        "uniform": _("uniform"),
        "random_wrong": _("random wrong answers"),
        "uncertainty": _("most uncertain"),
        "blind_comparison": _("blind comparison"),
    }
    return names.get(strategy, strategy)


@register.filter
def count_name(reason: str) -> str:
    """What a count of a training snapshot counts."""
    names = {
        "train": _("trained on"),
        "held_out": _("held out"),
        "give_up": _("left out: given up"),
        "bad_problem": _("left out: bad problem"),
        "quarantined": _("left out: set aside"),
        "extra": _("left out: extra"),
        "gold_or_screening": _("left out: gold and screening"),
        "test_or_bad_problem": _("left out: test split or bad problem"),
        "unfinished": _("left out: unfinished"),
    }
    return names.get(reason, reason)


@register.filter
def badge(state: str) -> str:
    return BADGES.get(state, "")


@register.filter
def rank_words(pick: Pick) -> str:
    """ "2nd of 10 in its problem"; nothing for a pick without a score, whose rank would mean nothing."""
    if pick.score is None:
        return ""
    return _("%(rank)s of %(of)d in its problem") % {"rank": ordinal(pick.rank), "of": pick.of}


@register.filter
def pick_state(state: PickState) -> str:
    words = {
        "found_error": _("first error at step %s") % (", ".join(map(str, state.steps)) or DASH),
        "solution": _("all steps good"),
        "give_up": _("gave up"),
        "bad_problem": _("bad problem"),
        "waiting": _("waiting"),
        "in_progress": _("in progress"),
        "held": _("held: problem reported"),
        "not_judged": _("not judged"),
    }
    return words.get(state.kind, state.kind)


@register.filter
def pick_badge(state: PickState) -> str:
    kinds = {"found_error": "badge-bad", "solution": "badge-good", "in_progress": "badge-info"}
    return kinds.get(state.kind, "")


@register.filter
def days_left(left: object) -> str:
    """A time in round words: hours below two days, else days."""
    seconds = getattr(left, "total_seconds", lambda: 0.0)()
    hours = seconds / 3600
    if hours < 1:
        return _("less than an hour")
    if hours < 48:
        return _("about %d hours") % round(hours)
    return _("about %d days") % round(hours / 24)
