"""What simulated labelers say: accurate as often as stated, and wrong in natural ways."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.simulate import Habits, Truth, judge

CLEAN = Truth((1, 0, 1), None, 3)
BROKEN = Truth((1, -1), 1, 4)


def first_bad(ratings: tuple[int, ...]) -> int | None:
    return next((i for i, rating in enumerate(ratings) if rating == -1), None)


def test_the_accurate_one_says_what_the_oracle_says() -> None:
    habits = Habits(accuracy=1.0)
    assert judge(CLEAN, habits, Random(0)).ratings == (1, 0, 1)
    assert judge(CLEAN, habits, Random(0)).finish_reason == "solution"
    assert judge(BROKEN, habits, Random(0)).ratings == (1, -1)
    assert judge(BROKEN, habits, Random(0)).finish_reason == "found_error"


@given(
    seed=st.integers(0, 10_000),
    n_steps=st.integers(1, 8),
    error=st.one_of(st.none(), st.integers(0, 7)),
    mode=st.sampled_from(["first_error", "full"]),
)
def test_a_mistaken_judgement_is_complete_and_never_the_truth(
    seed: int, n_steps: int, error: int | None, mode: str
) -> None:
    if error is not None and error >= n_steps:
        error = n_steps - 1
    ratings = (1,) * n_steps if error is None else (*(1,) * error, -1)
    made = judge(Truth(ratings, error, n_steps), Habits(accuracy=0.0), Random(seed), mode=mode)
    assert first_bad(made.ratings) != error
    assert (made.finish_reason == "found_error") == (first_bad(made.ratings) is not None)
    if mode == "full" or made.finish_reason == "solution":
        assert len(made.ratings) == n_steps
    else:
        assert made.ratings[-1] == -1


@pytest.mark.parametrize("accuracy", [0.6, 0.95])
def test_accuracy_is_the_share_of_solutions_judged_as_the_oracle_does(accuracy: float) -> None:
    rng, n = Random(1), 4000
    right = sum(first_bad(judge(BROKEN, Habits(accuracy=accuracy), rng).ratings) == 1 for _ in range(n))
    assert right / n == pytest.approx(accuracy, abs=0.02)


def test_give_ups_and_bad_problems_come_as_often_as_asked_and_carry_a_reason() -> None:
    rng, habits = Random(2), Habits(give_up=0.1, bad_problem=0.2)
    made = [judge(CLEAN, habits, rng) for _ in range(4000)]
    for reason, share in (("give_up", 0.1), ("bad_problem", 0.2)):
        found = [judgement for judgement in made if judgement.finish_reason == reason]
        assert len(found) / len(made) == pytest.approx(share, abs=0.02)
        assert all(judgement.note for judgement in found)


def test_same_seed_same_judgements() -> None:
    def day(seed: int) -> list[tuple[int, ...]]:
        rng = Random(seed)
        return [judge(BROKEN, Habits(accuracy=0.5), rng).ratings for _ in range(50)]

    assert day(3) == day(3) != day(4)


def test_a_chance_outside_zero_and_one_is_refused() -> None:
    with pytest.raises(ValueError, match="accuracy"):
        Habits(accuracy=95)
