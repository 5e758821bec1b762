"""Answers as mathematics, and what graders said about them in words."""

import re
from typing import NamedTuple

from django import template
from django.utils.translation import gettext as _

from labeling.models import AnswerCheck, Solution

register = template.Library()

DASH = "–"
BADGES = {Solution.Grade.RIGHT: "badge-good", Solution.Grade.WRONG: "badge-bad"}


class Said(NamedTuple):
    grader: str
    words: str
    badge: str


@register.filter
def as_math(answer: str | None) -> str:
    """An answer for a .math element: keys are often bare LaTeX, without the dollars around it."""
    if not answer:
        return DASH
    bare = "$" not in answer and re.search(r"[\\^_]", answer) is not None
    return f"${answer}$" if bare else answer


@register.filter
def grade_badge(grade: str) -> str:
    return BADGES.get(Solution.Grade(grade), "")


@register.filter
def said(check: AnswerCheck) -> list[Said]:
    """What each grader said. The paper's rules prove no difference: their "wrong" is put as it is meant."""
    names = {
        "exact": _("exact reader"),
        "rounded": _("rounding"),
        "paper": _("PRM800K rules"),
        "math-verify": _("Math-Verify"),
    }
    rows = []
    for grader, vote in check.votes.items():
        if grader == "paper" and vote == Solution.Grade.WRONG:
            rows.append(Said(names[grader], _("not shown equal"), ""))
        else:
            grade = Solution.Grade(vote)
            rows.append(Said(names.get(grader, grader), str(grade.label), BADGES.get(grade, "")))
    return rows
