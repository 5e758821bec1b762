"""The verdict on a new model, from made-up scores on both sides."""

from typing import Any

import numpy as np
import pytest

from selection import compare


def parts(before_skill: float, after_skill: float, *, problems: int = 40, seed: int = 0) -> list[Any]:
    """Per problem twelve ratings, a third bad; a skill of 0 is noise, 3 nearly perfect."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(problems):
        bad = rng.random(12) < 0.33
        before, after = (
            1 / (1 + np.exp(-(skill * (2 * bad - 1) + rng.normal(size=12))))
            for skill in (before_skill, after_skill)
        )
        made.append((before, after, bad))
    return made


def test_a_clearly_better_model_is_promoted_with_its_numbers() -> None:
    found = compare.paired_difference(parts(0.2, 1.5))
    good, reason = compare.verdict(found)
    assert good
    assert found["difference"] > 0.2
    assert found["interval"][0] > 0
    assert reason.startswith("No worse")
    assert "480 ratings" in reason


def test_a_clearly_worse_model_is_rejected() -> None:
    good, reason = compare.verdict(compare.paired_difference(parts(1.5, 0.2)))
    assert not good
    assert reason.startswith("Worse")


def test_a_difference_within_chance_is_no_reason_to_reject() -> None:
    verdicts = [compare.verdict(compare.paired_difference(parts(0.8, 0.8, seed=s)))[0] for s in range(20)]
    # A 95% interval lies wholly below zero by chance in 2.5 of 100.
    assert sum(verdicts) >= 17


@pytest.mark.parametrize("problems", [1, 2, compare.FEW_PROBLEMS - 1])
def test_few_problems_give_no_interval_and_no_claim(problems: int) -> None:
    found = compare.paired_difference(parts(3, 0, problems=problems))
    good, reason = compare.verdict(found)
    assert found["interval"] is None
    assert good
    assert "too few to judge" in reason


def test_ratings_of_one_kind_speak_neither_for_nor_against() -> None:
    one_kind = [(b, a, np.zeros(12, bool)) for b, a, _bad in parts(1, 0)]
    good, reason = compare.verdict(compare.paired_difference(one_kind))
    assert good
    assert "all of one kind" in reason


def test_the_first_model_has_nothing_to_beat() -> None:
    assert compare.verdict(None) == (True, "There is no model before it to compare with.")


def test_the_same_models_give_the_same_interval_again() -> None:
    assert compare.paired_difference(parts(0.5, 1)) == compare.paired_difference(parts(0.5, 1))
