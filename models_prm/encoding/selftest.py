"""Two examples that every loaded scorer must order rightly: a reversed head is found before it picks
anything.

Public trainers have taken the order of classes from the order of arguments (OpenRLHF issue 510): such a model
trains well and scores P(bad) as P(good). A model of ours carries two examples from its own training data in
its card; for others there is a sum that any process reward model of school mathematics tells apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models_prm.errors import ModelError
from models_prm.interfaces import StepScorer
from models_prm.records import ScoringItem


@dataclass(frozen=True)
class Pair:
    """Two solutions as (problem, steps): the last step of `good` is right, that of `bad` is wrong."""

    good: tuple[str, tuple[str, ...]]
    bad: tuple[str, tuple[str, ...]]

    def as_json(self) -> dict[str, Any]:
        """For the card."""
        return {
            name: {"problem": problem, "steps": list(steps)}
            for name, (problem, steps) in (("good", self.good), ("bad", self.bad))
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Pair:
        """From the card. Raises ModelError when it is damaged."""
        try:
            good, bad = (
                (str(plain[k]["problem"]), tuple(map(str, plain[k]["steps"]))) for k in ("good", "bad")
            )
        except (KeyError, TypeError) as error:
            raise ModelError(f"self_test of the card is damaged ({error})") from error
        return cls(good, bad)


_PROBLEM = "Ada has 2 apples and buys 3 more. How many apples does she have now?"
PLAIN = Pair(
    (
        _PROBLEM,
        ("Ada starts with 2 apples and buys 3 more.", "2 + 3 = 5, so she has 5 apples. The answer is 5."),
    ),
    (
        _PROBLEM,
        ("Ada starts with 2 apples and buys 3 more.", "2 - 3 = 17, so she has 17 apples. The answer is 17."),
    ),
)


def self_test(scorer: StepScorer, pair: Pair = PLAIN) -> None:
    """Score both examples. Raises ModelError unless each step has one score and the good one's last is
    higher."""
    items = [ScoringItem("good", *pair.good), ScoringItem("bad", *pair.bad)]
    found = {result.key: result for result in scorer.score(items)}
    last: dict[str, float] = {}
    for item in items:
        result = found.get(item.key)
        count = -1 if result is None else len(result.probs) + result.dropped
        if result is None or count != len(item.steps):
            raise ModelError(
                f"{scorer.name}: self-test failed: {len(item.steps)} steps went in, "
                f"{max(count, 0)} scores came out"
            )
        if not result.dropped:
            last[item.key] = result.probs[-1][2]
    if len(last) == len(items) and not last["good"] > last["bad"]:
        raise ModelError(
            f"{scorer.name}: self-test failed: p(good) is {last['good']:.4f} for a right step and "
            f"{last['bad']:.4f} for a wrong one: are the classes in the card (or label ids) the wrong "
            "way round?"
        )


def choose_pair(
    candidates: Sequence[tuple[str, tuple[str, ...], float, float]], margin: float = 0.1
) -> Pair | None:
    """The two examples for a card, of candidates (problem, steps, verdict, p(good) of the last step); the
    verdict is the share of labels +1 less that of labels -1.

    The right step that the model is surest of and the wrong one it is surest of; None where they are closer
    than `margin`: a model that has learned next to nothing has no order that rounding could not turn.
    """
    right = [c for c in candidates if c[2] > 0.5]
    wrong = [c for c in candidates if c[2] < -0.5]
    if not right or not wrong:
        return None
    best = max(right, key=lambda c: (c[3], c[0], c[1]))
    worst = min(wrong, key=lambda c: (c[3], c[0], c[1]))
    if best[3] - worst[3] < margin:
        return None
    return Pair((best[0], best[1]), (worst[0], worst[1]))
