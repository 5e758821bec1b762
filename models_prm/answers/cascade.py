"""How the graders' votes become one verdict. Pure: no process, no clock, no heavy import.

Order, cheapest and surest first:

1. `string`, `normalised`, `number`: in the caller's process, in microseconds.
2. `exact`: our own parser with rational and interval arithmetic; decides wherever it has a proof, and then
   the others are asked only for the record (`every_vote`).
3. `rounded`, under lenient strictness only: a decimal that is the true value rounded.
4. `paper`: the conservative rules of openai/prm800k; their "wrong" only means "not shown equal".
5. `math-verify`: the widest reader, but known to equate some different answers; asked last.
"""

from __future__ import annotations

from collections.abc import Mapping

from models_prm.answers.normalise import normalise, plain_number
from models_prm.answers.verdict import Grade, Strictness, Verdict

RIGHT, WRONG, UNKNOWN = Verdict.RIGHT, Verdict.WRONG, Verdict.UNKNOWN
SLOW_GRADERS = ("exact", "paper", "math-verify")
_LENIENT_GRADERS = ("exact", "rounded", "paper", "math-verify")
# Longer texts are whole solutions or accidents, not answers.
MAX_ANSWER_CHARS = 20_000


def quick_grade(
    answer: str | None, truth: str | None, strictness: Strictness = Strictness.VALUE
) -> Grade | None:
    """The grade of a pair that needs no algebra, or None: ask the slow graders."""
    if truth is None or not truth.strip():
        return Grade(UNKNOWN, "no truth")
    if answer is None or not any(letter.isalnum() or letter > "\x7f" for letter in answer):
        return Grade(WRONG, "no answer")
    if answer.strip() == truth.strip():
        return Grade(RIGHT, "string", {"string": RIGHT})
    if max(len(answer), len(truth)) > MAX_ANSWER_CHARS:
        return Grade(UNKNOWN, "too long", {"string": WRONG})
    votes = quick_votes(answer, truth)
    if votes["normalised"] is RIGHT:
        return Grade(RIGHT, "normalised", votes)
    if votes["number"] is RIGHT and strictness is not Strictness.FORM:
        return Grade(RIGHT, "number", votes)
    if votes["number"] is WRONG and strictness is not Strictness.LENIENT:
        return Grade(WRONG, "number", votes)
    return None


def slow_graders(strictness: Strictness) -> tuple[str, ...]:
    """The graders of the worker process, in the order in which they are asked."""
    return _LENIENT_GRADERS if strictness is Strictness.LENIENT else SLOW_GRADERS


def next_grader(votes: Mapping[str, Verdict], strictness: Strictness, *, every_vote: bool) -> str | None:
    """Whom to ask next, None when the verdict stands (with `every_vote`: when all have been asked)."""
    name = next((name for name in slow_graders(strictness) if name not in votes), None)
    return name if every_vote or not _settled(votes, strictness) else None


def _settled(votes: Mapping[str, Verdict], strictness: Strictness) -> bool:
    exact = votes.get("exact", UNKNOWN)
    if strictness is Strictness.FORM:
        return exact is WRONG or (exact is RIGHT and "paper" in votes)
    if strictness is Strictness.LENIENT:
        return exact is RIGHT or votes.get("rounded") is RIGHT or (exact is WRONG and "rounded" in votes)
    return exact is not UNKNOWN


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


def decide(votes: Mapping[str, Verdict], strictness: Strictness = Strictness.VALUE) -> tuple[Verdict, str]:
    """The verdict that a set of votes gives, and the grader that decided it."""
    verdict, by = _by_value(votes)
    if strictness is Strictness.FORM and verdict is RIGHT and by != "normalised":
        form = votes.get("paper", UNKNOWN)
        return (RIGHT, by) if form is RIGHT else (form, "form")
    if strictness is Strictness.LENIENT and verdict is not RIGHT and votes.get("rounded") is RIGHT:
        return RIGHT, "rounded"
    return verdict, by


def _by_value(votes: Mapping[str, Verdict]) -> tuple[Verdict, str]:
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
