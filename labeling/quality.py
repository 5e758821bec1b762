"""The rules of quality control: arithmetic on ratings, with no database, clock or network.

Agreement is judged on meaning (design section 5): where the first bad step falls, and whether
every rated step lies in the set of ratings that the gold accepts for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

Rating = int | None

# 97.5th percentile of the normal distribution: intervals cover 95%.
Z95 = 1.959963984540054
# An interval under the mark may pause before the window is full, but never on fewer questions.
EARLIEST_PAUSE = 5


@dataclass(frozen=True)
class Agreement:
    agrees: bool
    off_by: int | None  # given minus expected first error; None unless both have one
    missed_error: bool  # rated the planted error as fine


def first_error(ratings: Sequence[Rating]) -> int | None:
    return next((index for index, rating in enumerate(ratings) if rating == -1), None)


def agreement(
    ratings: Sequence[Rating], *, accepted: Sequence[Sequence[int]], expected_error: int | None
) -> Agreement:
    """Judge complete ratings against a gold.

    `accepted` holds one list of accepted ratings per step, up to and with the first error; a step
    beyond it, or with an empty list, accepts any rating.
    """
    given = first_error(ratings)
    pairs = zip(ratings, accepted, strict=False)
    fits = all(not allowed or rating is None or rating in allowed for rating, allowed in pairs)
    return Agreement(
        agrees=fits and given == expected_error,
        off_by=None if given is None or expected_error is None else given - expected_error,
        missed_error=expected_error is not None and (given is None or given > expected_error),
    )


NO_AGREEMENT = Agreement(agrees=False, off_by=None, missed_error=False)


def wilson(right: int, total: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval of a share, (low, high); (0, 1) where nothing is known."""
    if total == 0:
        return 0.0, 1.0
    share = right / total
    spread = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    middle = share + z * z / (2 * total)
    scale = 1 + z * z / total
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def reaches(right: int, total: int, mark: float) -> bool:
    """Whether right of total is at least the mark, safe against rounding (0.7 of 10 is 7)."""
    return right >= mark * total - 1e-9


@dataclass(frozen=True)
class Verdict:
    """`reason` is for the person it is about and for the lead; empty when all is well."""

    ok: bool
    right: int
    total: int
    reason: str = ""


def screening_verdict(right: int, total: int, *, mark: float) -> Verdict:
    if reaches(right, total, mark):
        return Verdict(True, right, total)
    reason = _(
        "%(right)d of %(total)d screening questions agreed (%(share).0f%%); %(mark).0f%% is needed."
    ) % {"right": right, "total": total, "share": 100 * right / total, "mark": 100 * mark}
    return Verdict(False, right, total, reason)


def window_verdict(checks: Sequence[bool], *, window: int, mark: float) -> Verdict:
    """Judge a labeler on their latest gold answers (oldest first, since the last readmission).

    Not ok when a full window is under the mark, or, before it is full, when at least
    EARLIEST_PAUSE answers put even the upper end of the 95% interval under it.
    """
    last = list(checks)[-window:] if window else []
    right, total = sum(last), len(last)
    full_and_low = window > 0 and total >= window and not reaches(right, total, mark)
    surely_low = total >= EARLIEST_PAUSE and wilson(right, total)[1] < mark
    if not (full_and_low or surely_low):
        return Verdict(True, right, total)
    reason = ngettext(
        "%(right)d of the last %(total)d gold question agreed (%(share).0f%%), "
        "under the mark of %(mark).0f%%.",
        "%(right)d of the last %(total)d gold questions agreed (%(share).0f%%), "
        "under the mark of %(mark).0f%%.",
        total,
    ) % {"right": right, "total": total, "share": 100 * right / total, "mark": 100 * mark}
    return Verdict(False, right, total, reason)
