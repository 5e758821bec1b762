"""Text to ids, trees to sequences, sequences to batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.encoding.collate import (
    Piece,
    collate,
    cut_batches,
    encode_trees,
    pieces,
    plan_batches,
    sequence,
)
from models_prm.encoding.tokenizer import LABELS, SOLUTION, STEP, StepEncoder, add_marks, train_tokenizer
from models_prm.encoding.tree import StepTree
from models_prm.errors import MarkerError, ModelError
from models_prm.training.losses import targets


@pytest.fixture(scope="module")
def encoder() -> StepEncoder:
    return StepEncoder(train_tokenizer(["We add 3 and 4.", "So it is 7."] * 5, 300))


def pack(encoder: StepEncoder, tree: StepTree, **options: Any) -> list[Piece]:
    (encoded,) = encode_trees(encoder, [tree])
    sizes = {"max_length": 200, "pack_tokens": 200, "packing": "tree", **options}
    return list(pieces(encoded, **sizes))


def path_ids(piece: Piece, encoder: StepEncoder, slot: int) -> list[int]:
    """Ids that the step mark of a node attends to, in order of their positions."""
    s = sequence(piece, encoder.step_id)
    seen = [j for j in range(s.markers[slot] + 1) if s.ancestors[s.owner[s.markers[slot]], s.owner[j]]]
    assert s.positions[seen].tolist() == list(range(len(seen)))
    return [int(i) for i in s.ids[seen]]


def test_text_that_looks_like_a_mark_stays_text(encoder: StepEncoder) -> None:
    marks = [SOLUTION, STEP, *LABELS]
    reserved = {encoder.solution_id, encoder.step_id, *encoder.label_ids}
    for ids in encoder.texts([f"a {mark} b" for mark in marks]):
        assert not reserved & set(ids)
    piece = pack(encoder, tree_of([f"one {STEP}", f"{STEP}{STEP}"]))[0]
    assert len(sequence(piece, encoder.step_id).markers) == 2


def tree_of(*paths: list[str], problem: str = "How many?") -> StepTree:
    tree = StepTree(problem)
    for path in paths:
        tree.add(path)
    return tree


def test_every_text_survives_the_round_trip(encoder: StepEncoder) -> None:
    for text in [
        "caf\u00e9 \U0001f642",
        "a\u2028b\x00c",
        "  two  spaces ",
        "$\\frac{1}{2}$\n\n# Answer\n\n7",
    ]:
        assert encoder.tokenizer.decode(encoder.texts([text])[0]) == text


def test_a_lone_surrogate_does_not_stop_the_encoder(encoder: StepEncoder) -> None:
    assert encoder.texts(["a\ud800b"]) == encoder.texts(["a?b"])


def test_a_tokenizer_without_marks_is_refused() -> None:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    make: Any = PreTrainedTokenizerFast
    bare = make(tokenizer_object=Tokenizer(models.BPE()), unk_token="<unk>")
    with pytest.raises(ModelError, match="does not know the tokens"):
        StepEncoder(bare)
    assert add_marks(bare) == 6
    assert StepEncoder(bare).step_id >= 0


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from([STEP, "7.", " ki"])


def test_numbered_steps_begin_with_their_place_on_their_path(encoder: StepEncoder) -> None:
    numbered = StepEncoder(encoder.tokenizer, numbered=True)
    (encoded,) = encode_trees(numbered, [tree_of(["a", "b"], ["a", "c"], ["d"])])
    assert [encoder.tokenizer.decode(ids[:-1]) for ids in encoded.nodes] == ["1:a", "2:b", "2:c", "1:d"]
    assert encode_trees(encoder, [tree_of(["a"])])[0].nodes == encoder.steps(["a"], [0])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(texts, min_size=1, max_size=4), min_size=1, max_size=5), texts, st.booleans())
def test_ids_in_a_pack_equal_the_ids_of_the_solution_alone(
    paths: list[list[str]], problem: str, numbered: bool
) -> None:
    encoder = StepEncoder(train_tokenizer(["We add 3 and 4."] * 3, 300), numbered=numbered)
    tree = tree_of(*paths, problem=problem)
    together = {
        node: path_ids(piece, encoder, slot)
        for piece in pack(encoder, tree, max_length=10_000, pack_tokens=60)
        for slot, node in enumerate(piece.nodes)
    }
    assert sorted(together) == list(range(len(tree.texts)))
    for path in paths:
        (alone,) = pack(encoder, tree_of(path, problem=problem), max_length=10_000, pack_tokens=10_000)
        assert together[tree.add(path)[-1]] == path_ids(alone, encoder, len(path) - 1)


@pytest.mark.parametrize("packing", ["tree", "none"])
def test_every_label_is_counted_exactly_once(encoder: StepEncoder, packing: str) -> None:
    tree = tree_of(
        *[[f"step {i}" for i in range(k)] + [f"other {k} {j}"] for k in range(6) for j in range(3)]
    )
    for counts in tree.counts:
        counts[2] = 1.0
    parts = pack(encoder, tree, pack_tokens=60, packing=packing)
    fresh = [node for p in parts for node, new in zip(p.nodes, p.fresh, strict=True) if new]
    assert sorted(fresh) == list(range(len(tree.texts)))
    batch = collate([sequence(p, encoder.step_id) for p in parts], encoder.pad_id)
    assert targets(batch).sum() == len(tree.texts)
    if packing == "none":
        assert not any(p.branching for p in parts)


def test_only_step_ends_carry_targets(encoder: StepEncoder) -> None:
    tree = tree_of(["We add 3 and 4.", "So it is 7."])
    tree.counts[0][2], tree.counts[1][0] = 1.0, 1.0
    batch = collate([sequence(p, encoder.step_id) for p in pack(encoder, tree)], encoder.pad_id)
    assert targets(batch).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert [int(i) for i in batch.ids[batch.rows, batch.columns]] == [encoder.step_id] * 2
    assert (batch.ids == encoder.step_id).sum() == 2


def test_truncation_keeps_whole_steps(encoder: StepEncoder) -> None:
    steps = ["abcdefghij"[i] * 19 for i in range(5)]
    (prompt,), lengths = encoder.prompts(["q"]), [len(s) for s in encoder.steps(steps, range(5))]
    limit = len(prompt) + sum(lengths[:3]) + lengths[3] - 1
    (piece,) = pack(encoder, tree_of(steps, problem="q"), max_length=limit)
    assert piece.nodes == [0, 1, 2]
    assert sequence(piece, encoder.step_id).ids[-1] == encoder.step_id


def test_a_problem_longer_than_the_context_gives_nothing(encoder: StepEncoder) -> None:
    assert pack(encoder, tree_of(["a"], problem="xyz " * 100), max_length=64) == []


def test_a_mark_too_many_is_refused(encoder: StepEncoder) -> None:
    (encoded,) = encode_trees(encoder, [tree_of(["one", "two"])])
    encoded.nodes[0].insert(0, encoder.step_id)
    (piece,) = pieces(encoded, max_length=200, pack_tokens=200, packing="tree")
    with pytest.raises(MarkerError, match="2 steps but 3 step marks"):
        sequence(piece, encoder.step_id)


def test_padding_attends_to_itself_only(encoder: StepEncoder) -> None:
    long, short = tree_of(["a b c d", "e"], ["f"]), tree_of(["g"])
    batch = collate([sequence(pack(encoder, t)[0], encoder.step_id) for t in (long, short)], encoder.pad_id)
    size = len(batch.sequences[1])
    assert batch.mask[1, 0, size:].sum() == batch.ids.shape[1] - size
    assert not np.triu(batch.mask[:, 0], 1).any()
    assert batch.mask.any(-1).all()


@settings(deadline=None)
@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 1000), st.integers(0, 5))
def test_batches_take_every_sequence_once_within_the_budget(
    lengths: list[int], budget: int, seed: int
) -> None:
    batches = plan_batches(lengths, budget, np.random.default_rng(seed))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or max(lengths[i] for i in b) * len(b) <= budget for b in batches)


def test_batches_are_not_sorted_by_length_over_the_epoch() -> None:
    lengths = list(np.random.default_rng(0).integers(10, 100, size=2000))
    batches = plan_batches(lengths, 500, np.random.default_rng(1))
    means = [float(np.mean([lengths[i] for i in batch])) for batch in batches]
    assert abs(np.corrcoef(range(len(means)), means)[0, 1]) < 0.15


def test_consecutive_batches_keep_their_order() -> None:
    assert list(cut_batches([2, 0, 1], [5, 9, 4], 10)) == [[2, 0], [1]]
