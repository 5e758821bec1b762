"""The picking rule as a table of cases, and what holds for any candidates."""

import dataclasses
import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.picking import STRATEGIES, Candidate, Picked, PickingError, PickRule, pick


def one(
    solution: int,
    problem: int = 1,
    *,
    grade: str = "wrong",
    score: float | None = 0.5,
    text: str = "",
    is_labeled: bool = False,
    split: str = "train",
) -> Candidate:
    return Candidate(solution, problem, grade, score, text or f"text {solution}", is_labeled, split)


def causes(picks: Sequence[Picked]) -> dict[int, str]:
    return {p.solution_id: p.cause for p in picks}


def test_most_picks_are_convincing_wrong_answers_and_the_rest_the_most_convincing_left() -> None:
    wrong = [one(i, score=i / 100, grade="wrong") for i in range(1, 21)]
    right = [one(i, score=i / 100, grade="right") for i in range(81, 101)]
    picked = causes(pick([*wrong, *right], PickRule(size=10)))
    assert {i for i, cause in picked.items() if cause == "convincing_wrong"} == set(range(13, 21))
    assert {i for i, cause in picked.items() if cause == "most_convincing"} == {99, 100}


def test_the_rest_may_be_wrong_answers_too() -> None:
    wrong = [one(i, score=0.9 + i / 1000) for i in range(10)]
    right = [one(i, score=0.1, grade="right") for i in range(10, 20)]
    picked = causes(pick([*wrong, *right], PickRule(size=10)))
    assert Counter(picked.values()) == {"convincing_wrong": 8, "most_convincing": 2}
    assert set(picked) == set(range(10))


@pytest.mark.parametrize("strategy", ["convincing_wrong", "random_wrong"])
def test_a_grade_that_is_not_known_never_counts_as_wrong(strategy: str) -> None:
    pool = [one(i, grade="unknown", score=0.9) for i in range(5)]
    picked = causes(pick(pool, PickRule(strategy, size=5)))
    assert set(picked.values()) <= {"most_convincing"}


def test_too_few_wrong_answers_leave_their_places_to_the_most_convincing() -> None:
    pool = [one(1, score=0.2), *(one(i, grade="right", score=i / 10) for i in range(2, 9))]
    picked = causes(pick(pool, PickRule(size=5)))
    assert picked == {
        1: "convincing_wrong",
        8: "most_convincing",
        7: "most_convincing",
        6: "most_convincing",
        5: "most_convincing",
    }


def test_unscored_solutions_are_never_convincing() -> None:
    pool = [one(1, score=None), one(2, score=float("nan")), one(3, score=0.0)]
    assert set(causes(pick(pool, PickRule(size=3)))) == {3}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_labeled_texts_and_test_problems_are_never_picked(strategy: str) -> None:
    pool = [
        one(1, text="same", is_labeled=True),
        one(2, text="same"),  # another copy of a labeled text
        one(3, problem=2, split="test"),
        one(4, problem=3, text="same"),  # equal text, other problem
        one(5, problem=4, text="a"),
        one(6, problem=4, text="a"),
    ]
    picked = set(causes(pick(pool, PickRule(strategy, size=10, random_share=0.5))))
    assert 4 in picked
    assert len(picked & {5, 6}) == 1
    assert picked <= {4, 5, 6}


def test_a_cap_keeps_any_problem_from_filling_the_batch() -> None:
    pool = [one(i, problem=1, score=0.9) for i in range(10)]
    pool += [one(10 + i, problem=2 + i, score=0.1) for i in range(6)]
    picked = pick(pool, PickRule(size=8, per_problem=2))
    problems = Counter(c.problem_id for c in pool if c.solution_id in causes(picked))
    assert problems[1] == 2
    assert len(picked) == 8


def test_per_problem_without_a_size_gives_every_problem_its_number() -> None:
    pool = [one(10 * p + i, problem=p, score=i / 10) for p in range(1, 6) for i in range(8)]
    picked = pick(pool, PickRule(per_problem=3))
    assert Counter(p.solution_id // 10 for p in picked) == dict.fromkeys(range(1, 6), 3)


def test_small_numbers_per_problem_keep_the_shares_on_average() -> None:
    pool = [
        one(10 * p + i, problem=p, score=i / 10, grade="wrong" if i < 4 else "right")
        for p in range(1, 2001)
        for i in range(8)
    ]
    counts = Counter(causes(pick(pool, PickRule(per_problem=2))).values())
    # 2000 problems, each 1 or 2 wrong ones with mean 1.6: the standard deviation of the sum is 22.
    assert abs(counts["convincing_wrong"] - 3200) < 110
    assert counts["convincing_wrong"] + counts["most_convincing"] == 4000
    one_each = Counter(causes(pick(pool, PickRule(per_problem=1))).values())
    assert abs(one_each["convincing_wrong"] - 1600) < 90


def test_five_per_problem_are_four_and_one() -> None:
    pool = [
        one(10 * p + i, problem=p, score=i / 10, grade="wrong" if i < 5 else "right")
        for p in range(1, 30)
        for i in range(9)
    ]
    picks = pick(pool, PickRule(per_problem=5))
    wrong = Counter(p.solution_id // 10 for p in picks if p.cause == "convincing_wrong")
    assert set(wrong.values()) == {4}


def test_the_random_slice_has_its_stated_size_and_follows_the_pool() -> None:
    rng = random.Random(3)
    pool = [
        one(i, problem=i, score=rng.random(), grade="right" if i % 4 == 0 else "wrong") for i in range(4000)
    ]
    picks = pick(pool, PickRule(size=2000, random_share=0.2))
    drawn = [p.solution_id for p in picks if p.cause == "random_slice"]
    assert len(drawn) == 400
    # A quarter of the pool is right; 400 draws have a standard deviation of 8.7.
    assert abs(sum(i % 4 == 0 for i in drawn) - 100) < 40
    assert Counter(p.cause for p in picks)["convincing_wrong"] == 1600


def test_a_text_sampled_often_is_drawn_more_often() -> None:
    pool = [one(i, text="often") for i in range(9)] + [one(9, text="rare")]
    batches = [causes(pick(pool, PickRule("uniform", size=1, seed=seed))) for seed in range(300)]
    hits = sum(9 not in batch for batch in batches)
    assert 240 < hits < 295


def test_uncertainty_takes_the_scores_nearest_one_half() -> None:
    pool = [one(i, score=i / 10) for i in range(11)]
    assert set(causes(pick(pool, PickRule("uncertainty", size=3)))) == {4, 5, 6}


def test_random_wrong_takes_wrong_answers_only() -> None:
    pool = [one(i, grade=("right", "wrong", "unknown")[i % 3], score=None) for i in range(30)]
    picked = causes(pick(pool, PickRule("random_wrong", size=30)))
    assert set(picked) == {i for i in range(30) if i % 3 == 1}


def test_ranks_count_all_solutions_of_the_problem_best_first() -> None:
    pool = [one(1, score=0.9, grade="right", is_labeled=True), one(2, score=0.8), one(3, score=0.1)]
    (best,) = (p for p in pick(pool, PickRule(size=1)) if p.solution_id == 2)
    assert (best.rank, best.of, best.score) == (2, 3, 0.8)


def test_another_seed_draws_another_batch() -> None:
    pool = [one(i) for i in range(200)]
    first, second = (set(causes(pick(pool, PickRule("uniform", size=20, seed=s)))) for s in (1, 2))
    assert first != second


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"strategy": "best"}, "choose one of"),
        ({}, "say how many"),
        ({"size": 0}, "at least 1"),
        ({"size": 3, "per_problem": 0}, "at least 1"),
        ({"size": 3, "wrong_share": 1.5}, "between 0 and 1"),
        ({"size": 3, "random_share": -0.1}, "between 0 and 1"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_refused(bad: dict[str, object], says: str) -> None:
    with pytest.raises(PickingError, match=says):
        PickRule(**bad)  # type: ignore[arg-type]


pools = st.lists(
    st.builds(
        Candidate,
        solution_id=st.integers(1, 10_000),
        problem_id=st.integers(1, 5),
        grade=st.sampled_from(["right", "wrong", "unknown"]),
        score=st.none() | st.floats(0, 1) | st.just(float("nan")),
        text_hash=st.sampled_from([f"t{i}" for i in range(12)]),
        is_labeled=st.booleans(),
        split=st.sampled_from(["train", "train", "test"]),
    ),
    max_size=60,
    unique_by=lambda c: c.solution_id,
)
rules = st.builds(
    PickRule,
    strategy=st.sampled_from(STRATEGIES),
    size=st.integers(1, 40),
    per_problem=st.none() | st.integers(1, 6),
    wrong_share=st.floats(0, 1),
    random_share=st.floats(0, 1),
    seed=st.integers(0, 2**60),
) | st.builds(PickRule, strategy=st.sampled_from(STRATEGIES), per_problem=st.integers(1, 6))


@given(pools, rules, st.randoms(use_true_random=False))
def test_whatever_the_pool_the_promises_hold(
    pool: list[Candidate], rule: PickRule, shuffler: random.Random
) -> None:
    picks = pick(pool, rule)
    by_id = {c.solution_id: c for c in pool}
    chosen = [by_id[p.solution_id] for p in picks]
    shuffled = list(pool)
    shuffler.shuffle(shuffled)
    assert pick(shuffled, rule) == picks
    assert len({(c.problem_id, c.text_hash) for c in chosen}) == len(chosen)
    assert not any(c.is_labeled or c.split == "test" for c in chosen)
    assert rule.size is None or len(picks) <= rule.size
    per_problem = Counter(c.problem_id for c in chosen)
    assert rule.per_problem is None or max(per_problem.values(), default=0) <= rule.per_problem
    for picked in picks:
        if picked.cause in {"convincing_wrong", "random_wrong"}:
            assert by_id[picked.solution_id].grade == "wrong"
        assert (
            1
            <= picked.rank
            <= picked.of
            == sum(c.problem_id == by_id[picked.solution_id].problem_id for c in pool)
        )


@given(pools, st.integers(1, 30), st.integers(0, 99))
def test_no_wrong_answer_left_behind_is_more_convincing(pool: list[Candidate], size: int, seed: int) -> None:
    pool = [dataclasses.replace(c, text_hash=str(c.solution_id)) for c in pool]
    picks = pick(pool, PickRule(size=size, seed=seed))
    worst = min((p.score for p in picks if p.cause == "convincing_wrong" and p.score is not None), default=0)
    chosen = {p.solution_id for p in picks}
    left = [
        c.score
        for c in pool
        if c.grade == "wrong" and not c.is_labeled and c.split == "train" and c.solution_id not in chosen
    ]
    if any(p.cause == "convincing_wrong" for p in picks):
        assert all(score is None or math.isnan(score) or score <= worst for score in left)
