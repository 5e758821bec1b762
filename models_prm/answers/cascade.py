"""How the graders' votes become one verdict. Pure: no process, no clock, no heavy import.

Order, cheapest and surest first:

1. `string`, `normalised`, `number`: in the caller's process, in microseconds.
2. `exact`: our own parser with rational and interval arithmetic; decides wherever it has a proof.
3. `paper`: the conservative rules of openai/prm800k; their "wrong" only means "not shown equal".
4. `math-verify`: the widest reader, but known to equate some different answers; asked last.
"""

from __future__ import annotations

from collections.abc import Mapping

from models_prm.answers.normalise import normalise, plain_number
from models_prm.answers.verdict import Grade, Verdict

RIGHT, WRONG, UNKNOWN = Verdict.RIGHT, Verdict.WRONG, Verdict.UNKNOWN
SLOW_GRADERS = ("exact", "paper", "math-verify")
# Longer texts are whole solutions or accidents, not answers.
MAX_ANSWER_CHARS = 20_000


def quick_grade(answer: str | None, truth: str | None) -> Grade | None:
    """The grade of a pair that needs no algebra, or None: ask the slow graders."""
    if truth is None or not truth.strip():
        return Grade(UNKNOWN, "no truth")
    if answer is None or not answer.strip():
        return Grade(WRONG, "no answer")
    if answer.strip() == truth.strip():
        return Grade(RIGHT, "string", {"string": RIGHT})
    if max(len(answer), len(truth)) > MAX_ANSWER_CHARS:
        return Grade(UNKNOWN, "too long", {"string": WRONG})
    votes = quick_votes(answer, truth)
    for name in ("normalised", "number"):
        if votes[name] is RIGHT:
            return Grade(RIGHT, name, votes)
    return Grade(WRONG, "number", votes) if votes["number"] is WRONG else None


def quick_votes(answer: str, truth: str) -> dict[str, Verdict]:
    """The votes of the graders on surfaces. A different string proves nothing, so it is no vote for wrong."""
    left, right = normalise(answer), normalise(truth)
    return {
        "string": UNKNOWN,
        "normalised": RIGHT if left == right and left else UNKNOWN,
        "number": _as_numbers(answer, truth),
    }


def _as_numbers(answer: str, truth: str) -> Verdict:
    left, right = plain_number(answer), plain_number(truth)
    if left is None or right is None:
        return UNKNOWN
    if left == right:
        return RIGHT
    # 100,200 may be one number or two; as two it equals 200,100.
    listed = sorted(answer.split(",")) == sorted(truth.split(","))
    return UNKNOWN if listed and "," in truth else WRONG


def decide(votes: Mapping[str, Verdict]) -> tuple[Verdict, str]:
    """The verdict that a full set of votes gives, and the grader that decided it."""
    for name in ("normalised", "number"):
        if votes.get(name) is RIGHT:
            return RIGHT, name
    if votes.get("number") is WRONG:
        return WRONG, "number"
    exact, paper, math_verify = (votes.get(name, UNKNOWN) for name in SLOW_GRADERS)
    if exact is not UNKNOWN:
        return exact, "exact"
    if math_verify is RIGHT:
        return RIGHT, "math-verify"
    if paper is RIGHT:
        return (UNKNOWN, "graders disagree") if math_verify is WRONG else (RIGHT, "paper")
    if math_verify is WRONG:
        return WRONG, "math-verify"
    return UNKNOWN, "no grader could tell"
