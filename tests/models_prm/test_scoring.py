"""Scoring a stream of solutions."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from models_prm.encoding import forward
from models_prm.encoding.collate import Batch
from models_prm.encoding.packed import PackedBatch
from models_prm.fakes import FakeScorer
from models_prm.interfaces import StepScorer
from models_prm.prm import Prm
from models_prm.records import Progress, ScoringItem
from models_prm.scoring import PrmScorer
from tests.models_prm.prm_make import random_prm


@pytest.fixture(scope="module")
def prm() -> Prm:
    return random_prm()


words = st.sampled_from(["We add.", "3 + 4 = 7", "So 7.", "caf\u00e9 <|step|>", "", "x" * 40])
solutions = st.lists(
    st.tuples(st.sampled_from(["How many?", "Why?"]), st.lists(words, max_size=5)), max_size=12
)


@settings(max_examples=25, deadline=None)
@given(solutions, st.integers(1, 400), st.integers(1, 5))
def test_batched_scores_equal_those_one_by_one(
    pool: list[tuple[str, list[str]]], batch_tokens: int, window: int
) -> None:
    prm = random_prm()
    items = [ScoringItem(str(i), problem, tuple(steps)) for i, (problem, steps) in enumerate(pool)]
    scorer = PrmScorer(prm, window=window)
    results = list(scorer.score(items, batch_tokens=batch_tokens))
    assert [r.key for r in results] == [i.key for i in items]
    for item, result in zip(items, results, strict=True):
        (alone,) = PrmScorer(prm, packing="none").score([item])
        assert len(result.probs) == len(alone.probs) == len(item.steps)
        for one, two in zip(result.probs, alone.probs, strict=True):
            assert one == pytest.approx(two, abs=1e-5)


def test_probabilities_sum_to_one(prm: Prm) -> None:
    (result,) = PrmScorer(prm).score([ScoringItem("k", "q", ("a", "b"))])
    assert [sum(p) for p in result.probs] == pytest.approx([1.0, 1.0])


def test_equal_solutions_cost_one_pass(prm: Prm, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer, steps = PrmScorer(prm), list[int]()
    original = prm.label_logits

    def counting(hidden: Tensor, batch: Batch) -> Tensor:
        steps.append(len(batch.rows))
        return original(hidden, batch)

    monkeypatch.setattr(prm, "label_logits", counting)
    results = list(scorer.score([ScoringItem(str(i), "q", ("a", "b")) for i in range(50)]))
    assert steps == [2]
    assert len({r.probs for r in results}) == 1
    assert len(results) == 50


def test_steps_beyond_the_context_are_dropped_whole_and_counted() -> None:
    prm = random_prm(max_length=64)
    (result,) = PrmScorer(prm).score([ScoringItem("k", "q", tuple("abcdefgh"[i] * 15 for i in range(8)))])
    assert len(result.probs) == 3
    assert result.dropped == 5


def test_scores_that_do_not_match_the_steps_are_refused(prm: Prm, monkeypatch: pytest.MonkeyPatch) -> None:
    from models_prm.errors import MarkerError

    original = prm.label_logits
    monkeypatch.setattr(prm, "label_logits", lambda h, b: original(h, b)[:-1])
    with pytest.raises(MarkerError, match="2 steps went in but 1 scores came out"):
        list(PrmScorer(prm).score([ScoringItem("k", "q", ("a", "b"))]))


def test_items_are_read_no_further_ahead_than_a_window(prm: Prm) -> None:
    taken = 0

    def stream() -> Iterator[ScoringItem]:
        nonlocal taken
        for i in range(1000):
            taken += 1
            yield ScoringItem(str(i), f"q{i}", ("a",))

    results = PrmScorer(prm, window=10).score(stream())
    next(results)
    assert taken == 10


def test_memory_does_not_grow_with_the_pool(prm: Prm) -> None:
    def peak(count: int) -> int:
        stream = (ScoringItem(str(i), f"q{i // 4}", (f"{i} + 1", "a" * 50)) for i in range(count))
        tracemalloc.start()
        try:
            for _ in PrmScorer(prm, window=40).score(stream, batch_tokens=512):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(80)  # what is made once and kept
    assert peak(1200) < 2 * peak(120)


def test_a_problem_is_computed_once_and_a_shared_step_once(prm: Prm, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    original = forward.packed_states

    def counting(base: Any, batch: PackedBatch) -> Tensor:
        counted.append(len(batch.ids))
        return original(base, batch)

    monkeypatch.setattr(forward, "packed_states", counting)
    scorer, encoder = PrmScorer(prm), prm.encoder
    assert forward.packs(prm.lm)
    counted.clear()
    items = [ScoringItem(str(i), "How many pens?", ("We add.", f"{i} + 1")) for i in range(5)]
    list(scorer.score(items))
    ends = encoder.steps([i.steps[1] for i in items], [1] * 5)
    shared = len(encoder.prompts(["How many pens?"])[0]) + len(encoder.steps(["We add."], [0])[0])
    assert sum(counted) <= shared + sum(map(len, ends))


def test_progress_counts_solutions(prm: Prm) -> None:
    told: list[Progress] = []
    items = [ScoringItem(str(i), "q", ("a",)) for i in range(25)]
    list(PrmScorer(prm, window=10).score(items, on_progress=told.append, total=25))
    assert [(p.done, p.total) for p in told] == [(10, 25), (20, 25), (25, 25)]


def test_both_scorers_keep_the_same_promise(prm: Prm) -> None:
    items = [ScoringItem("a", "q", ("x", "y")), ScoringItem("b", "q", ())]
    for scorer in (PrmScorer(prm), FakeScorer()):
        assert isinstance(scorer, StepScorer)
        results = {r.key: r.probs for r in scorer.score(items)}
        assert [len(results["a"]), len(results["b"])] == [2, 0]
        assert all(0 <= p <= 1 for probs in results.values() for step in probs for p in step)


def test_the_fake_scorer_repeats_itself_and_crashes_on_request() -> None:
    items = [ScoringItem(str(i), "q", ("x", f"y{i}")) for i in range(4)]
    first = list(FakeScorer().score(items))
    assert first == list(FakeScorer().score(items))
    assert first[0].probs[0] == first[1].probs[0]
    assert first[0].probs[1] != first[1].probs[1]
    scorer = FakeScorer(fail_at=2)
    with pytest.raises(RuntimeError, match="item 2"):
        list(scorer.score(items))
    assert [i.key for i in scorer.seen] == ["0", "1"]
