"""A solution's steps as the paper's Figure 2 shows them: the model's score beside what people say. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from labeling.models import Label
from labeling.records import trajectory_ratings
from models_prm.aggregate import first_error, step_score

BANDS: list[tuple[str, str | Promise]] = [
    ("0.00–0.20", _("very likely wrong")),
    ("0.20–0.40", _("likely wrong")),
    ("0.40–0.60", _("unsure")),
    ("0.60–0.80", _("likely fine")),
    ("0.80–1.00", _("very likely fine")),
]
SIGNS = {1: "+", 0: "○", -1: "−"}
WORDS: dict[int, str | Promise] = {1: _("good"), 0: _("neutral"), -1: _("bad")}


@dataclass(frozen=True)
class Opinion:
    """How many people gave a step one rating."""

    rating: int
    sign: str
    word: str | Promise
    n: int


@dataclass(frozen=True)
class Step:
    """One step: `score` and its band (0 lowest to 4) are None without a score; `opinions` best first.

    `is_first_doubt`: the first step below one half; `first_errors`: people who place the first error here.
    """

    text: str
    score: float | None
    band: int | None
    word: str | Promise
    opinions: list[Opinion]
    is_first_doubt: bool
    first_errors: int


def step_rows(
    texts: Sequence[str], probs: Sequence[Sequence[float]], labels: Sequence[Label], threshold: float = 0.5
) -> list[Step]:
    """Rows of a solution's page; `probs` may be shorter than the solution, or empty."""
    scores = [step_score((p[0], p[1], p[2])) for p in probs]
    doubt = first_error(scores, threshold)
    ratings = [trajectory_ratings(label.record) for label in labels]
    rows = []
    for index, text in enumerate(texts):
        score = scores[index] if index < len(scores) else None
        band = None if score is None else min(4, int(score * 5))
        said = [given[index] for given in ratings if index < len(given)]
        rows.append(
            Step(
                text=text,
                score=score,
                band=band,
                word="" if band is None else BANDS[band][1],
                opinions=[Opinion(r, SIGNS[r], WORDS[r], said.count(r)) for r in (1, 0, -1) if said.count(r)],
                is_first_doubt=index == doubt,
                first_errors=sum(label.first_error == index for label in labels),
            )
        )
    return rows
