"""Words and numbers of the lead's pages."""

from typing import Any

from django import template
from django.utils.translation import gettext as _

from labeling.models import Enrolment, QualityCheck

register = template.Library()
BADGES = {
    Enrolment.Status.ACTIVE: "badge-good",
    Enrolment.Status.SCREENING: "badge-info",
    Enrolment.Status.PAUSED: "badge-bad",
    Enrolment.Status.FAILED: "badge-bad",
}


@register.filter
def standing_badge(status: str) -> str:
    return BADGES.get(Enrolment.Status(status), "")


@register.filter
def percent(value: float) -> str:
    return f"{100 * value:.0f}%"


@register.filter
def share(right: int, total: int) -> str:
    return percent(right / total) if total else "–"


@register.filter
def seconds(milliseconds: int | None) -> str:
    return "–" if milliseconds is None else _("%d s") % round(milliseconds / 1000)


@register.filter
def check_verdict(check: QualityCheck) -> str:
    """What a gold answer came to, in words."""
    if check.agrees:
        return _("agrees")
    if check.missed_error:
        return _("passed the error")
    if check.off_by:
        return _("%+d steps off") % check.off_by
    return _("disagrees")


@register.filter
def detail_text(detail: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in detail.items())
