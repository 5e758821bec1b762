"""Votes: classes of equal answers, weights, ties, and what N voters expect."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.answers import GraderPool
from models_prm.evaluation import votes
from models_prm.evaluation.votes import Ballots, as_weights, classes_of, vote, vote_curve


def test_notation_and_number_make_a_class_without_a_grader() -> None:
    answers = ["0.5", r"\frac{1}{2}", "10{,}000", "10000", r"\text{yes}", "Yes", None, " ", "-3", "3"]
    assert classes_of(answers) == [0, 0, 1, 1, 2, 2, None, None, 3, 4]


def test_negative_answers_vote_for_themselves() -> None:
    """NVIDIA/TensorRT-LLM issue 3236 lost them."""
    assert classes_of(["-3", "3", "-3", r"-3", "−3"]) == [0, 1, 0, 0, 0]


@settings(deadline=None)
@given(st.permutations(["a1", "a2", "b1", "c1", "a3"]))
def test_classes_do_not_depend_on_the_order_even_if_equality_is_not_transitive(order: list[str]) -> None:
    """a1 = a2 and a2 = a3 but not a1 = a3: the three are one class, whoever comes first."""
    known = {frozenset(("a1", "a2")), frozenset(("a2", "a3"))}
    classes = classes_of(order, lambda a, b: frozenset((a, b)) in known)
    groups: dict[int | None, set[str]] = {}
    for answer, number in zip(order, classes, strict=True):
        groups.setdefault(number, set()).add(answer)
    assert sorted(map(sorted, groups.values())) == [["a1", "a2", "a3"], ["b1"], ["c1"]]


def test_the_grader_joins_what_notation_does_not_and_is_not_asked_about_numbers() -> None:
    asked: list[tuple[str, str]] = []

    with GraderPool(time_limit_s=30) as pool:
        equal = votes.equal_by(pool.grade)

        def counted(a: str, b: str) -> bool:
            asked.append((a, b))
            return equal(a, b)

        classes = classes_of(["x^2-1", "(x+1)(x-1)", "4", "5", "6", "x^2"], counted)
    assert classes == [0, 0, 1, 2, 3, 4]
    assert not [pair for pair in asked if pair[0].isdigit() and pair[1].isdigit()]


def test_no_answer_is_no_vote_and_tied_winners_share() -> None:
    assert votes.majority_accuracy(["a", None, None], {"a": 1.0}) == 1.0
    assert votes.majority_accuracy(["a", "b"], {"a": 1.0, "b": 0.0}) == 0.5
    assert votes.majority_accuracy([None], {}) == 0.0
    assert vote(Ballots.of([0, None, None], [True, False, False])) == 1.0
    assert vote(Ballots.of([0, 1], [True, False])) == 0.5
    assert vote(Ballots.of([None], [False])) == 0.0


def test_the_representative_of_a_class_is_its_best_scored_member() -> None:
    classes, correct = [0, 0, 0, 1], [True, False, False, False]
    assert vote(Ballots.of(classes, correct, [0.9, 0.3, 0.3, 0.5])) == 1.0
    assert vote(Ballots.of(classes, correct, [0.3, 0.9, 0.3, 0.5])) == 0.0
    assert vote(Ballots.of(classes, correct, [0.9, 0.9, 0.3, 0.5])) == 0.5, "two are best: by expectation"
    assert vote(Ballots.of(classes, correct)) == pytest.approx(1 / 3)


def test_weights_can_overrule_heads_and_the_best_member_can_overrule_weights() -> None:
    ballots = Ballots.of([0, 0, 0, 1], [False] * 3 + [True], [0.2, 0.2, 0.2, 0.5])
    assert (vote(ballots, "count"), vote(ballots, "sum"), vote(ballots, "max")) == (0.0, 0.0, 1.0)
    heavier = Ballots.of([0, 0, 0, 1], [False] * 3 + [True], [0.2, 0.2, 0.2, 0.7])
    assert vote(heavier, "sum") == 1.0


def test_raw_logits_are_no_weights() -> None:
    """A sum of raw logits lets a low score take votes away from its own answer."""
    for bad in (-0.5, 1.5, math.nan):
        with pytest.raises(ValueError, match="as_weights for logits"):
            Ballots.of([0, 1], [True, False], [bad, 0.5])


def test_weights_are_made_of_probabilities_logarithms_and_logits() -> None:
    weights, how = as_weights([[0.2, 1.0, np.nan]])
    assert (weights.tolist(), how) == ([[0.2, 1.0, 0.0]], "as they are")
    weights, how = as_weights([[-2000.0, -2001.0, -np.inf, np.nan]])
    assert how == "exp"
    assert weights[0] == pytest.approx([1.0, math.exp(-1), 0.0, 0.0]), "no underflow"
    weights, how = as_weights([[-800.0, 0.0, 3.0, np.inf]])
    assert how == "sigmoid"
    assert weights[0] == pytest.approx([0.0, 0.5, 1 / (1 + math.exp(-3)), 1.0])


ballots = st.lists(
    st.tuples(st.none() | st.integers(0, 2), st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    min_size=1,
    max_size=6,
)


@settings(deadline=None)
@given(ballots, st.sampled_from(["count", "sum", "max"]), st.integers(0, 2))
def test_the_curve_is_the_mean_over_all_subsets(
    rows: list[tuple[int | None, bool, float]], how: votes.How, lost: int
) -> None:
    names = {c: i for i, c in enumerate(dict.fromkeys(c for c, _, _ in rows if c is not None))}
    made = Ballots.of(
        [None if c is None else names[c] for c, _, _ in rows],
        [right for _, right, _ in rows],
        [w for _, _, w in rows],
        len(rows) + lost,
    )
    counts = list(range(1, len(rows) + lost + 1))
    values, variances = vote_curve(made, counts, how=how)
    assert not variances.any()
    for n, value in zip(counts, values, strict=True):
        expected = [
            one_vote(rows, subset, made.right, names, how)
            for subset in itertools.combinations(range(len(rows) + lost), n)
        ]
        assert value == pytest.approx(np.mean(expected))


def one_vote(rows, subset, right, names, how) -> float:  # type: ignore[no-untyped-def]
    """The definition, one subset at a time."""
    tally: dict[int, float] = {}
    for i in subset:
        if i < len(rows) and rows[i][0] is not None:
            k, weight = names[rows[i][0]], rows[i][2]
            gained = {
                "count": tally.get(k, 0) + 1,
                "sum": tally.get(k, 0) + weight,
                "max": max(tally.get(k, 0), weight),
            }
            tally[k] = gained[how]
    top = max(tally.values(), default=0)
    won = [k for k, v in tally.items() if v == top and top > 0]
    return float(np.mean([right[k] for k in won])) if won else 0.0


def test_a_drawn_curve_is_near_the_exact_one_says_its_error_and_repeats() -> None:
    rng = np.random.default_rng(1)
    classes = [int(c) for c in rng.choice(4, 20, p=[0.4, 0.35, 0.15, 0.1])]
    made = Ballots.of(classes, [c == 1 for c in classes])
    counts = [1, 5, 10, 20]
    values, variances = vote_curve(made, counts, how="count", draws=4000, seed=7)
    again, _ = vote_curve(made, counts, how="count", draws=4000, seed=7)
    assert values.tolist() == again.tolist()
    assert values[0] == pytest.approx(classes.count(1) / 20)
    assert (variances == 0).tolist() == [True, False, False, True]
    subsets = np.array(list(itertools.combinations(range(20), 5)))
    exact = (votes.winners(votes._tally(made, subsets, "count")) @ made.right).mean()
    assert abs(values[1] - exact) < 4 * variances[1] ** 0.5


def test_counts_beyond_the_slots_are_refused() -> None:
    with pytest.raises(ValueError, match="between 1 and 2"):
        vote_curve(Ballots.of([0, 1], [True, False]), [3])
