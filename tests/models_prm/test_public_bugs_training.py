"""Bugs of public trainers of process reward models, each with a small input of our own and the right
behaviour."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.config import Stage
from models_prm.data import load_rows
from models_prm.encoding.collate import Piece, collate, encode_trees, pieces, sequence
from models_prm.encoding.selftest import Pair, choose_pair, self_test
from models_prm.encoding.tokenizer import StepEncoder, add_marks
from models_prm.encoding.tree import StepTree, build_trees
from models_prm.errors import MarkerError, ModelError
from models_prm.fakes import FakeScorer
from models_prm.prm import CARD, load_prm, new_head
from models_prm.records import LabeledSolution, ScoringItem, rows_from_prm800k
from models_prm.scoring import PrmScorer
from models_prm.train import train_prm
from models_prm.training.losses import places
from models_prm.training.stepwise import rows_of
from tests.models_prm.prm_make import (
    completion,
    random_prm,
    record,
    small_config,
    step,
    sum_record,
    write_lines,
)

HERE = Path()


def pieces_of(encoder: StepEncoder, trees: list[StepTree], limit: int = 256) -> list[Piece]:
    return [
        piece
        for encoded in encode_trees(encoder, trees)
        for piece in pieces(encoded, max_length=limit, pack_tokens=limit, packing="tree")
    ]


def test_b1_exactly_the_step_ends_carry_a_target_and_ignored_places_never_become_labels() -> None:
    """trl#2127: a boolean column turned every -100 into True."""
    prm = random_prm()
    trees = build_trees(
        rows_of({"prompt": "q", "completions": ["a b c", "d e f g"], "labels": [True, False]})
    )
    batch = collate(
        [sequence(p, prm.encoder.step_id) for p in pieces_of(prm.encoder, trees)], prm.encoder.pad_id
    )
    rows, columns, mass = places(batch, small_config(HERE, HERE))
    assert len(rows) == 2 < batch.ids.size
    assert mass.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert [int(i) for i in batch.ids[rows, columns]] == [prm.encoder.step_id] * 2


def merging_tokenizer() -> Any:
    """A byte-pair tokenizer of another maker in which a tag alone and after a space are different tokens, and
    in which the tag melts together with a full stop before it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(
        ["So 7. \u043a\u0438", "\u043a\u0438", ".\n\n", "So 7.\n\n"] * 20, trainer=trainer
    )
    make: Any = PreTrainedTokenizerFast
    return make(tokenizer_object=core)


def test_b2_marks_are_found_whatever_the_tokenizer_makes_of_their_surroundings() -> None:
    """OpenRLHF#683, #509, #740: the tag's id after a space was another one, no position matched, the loss was
    NaN."""
    tokenizer = merging_tokenizer()
    assert tokenizer(" \u043a\u0438")["input_ids"] != tokenizer("\u043a\u0438")["input_ids"]
    add_marks(tokenizer)
    encoder = StepEncoder(tokenizer)
    tree = StepTree("How many? \u043a\u0438")
    tree.add(["So 7. \u043a\u0438", "\u043a\u0438", "So 7.\n\n"])
    (piece,) = pieces_of(encoder, [tree])
    assert len(sequence(piece, encoder.step_id).markers) == 3


def test_b2_a_count_that_differs_is_refused_before_training_with_both_numbers() -> None:
    encoder = random_prm().encoder
    (encoded,) = encode_trees(encoder, [build_trees([LabeledSolution("q", ("a", "b"), (1, 1), "g")])[0]])
    encoded.nodes[1].remove(encoder.step_id)
    (piece,) = pieces(encoded, max_length=200, pack_tokens=200, packing="tree")
    with pytest.raises(MarkerError, match="2 steps but 1 step marks"):
        sequence(piece, encoder.step_id)


def test_b3_truncation_keeps_whole_steps_with_their_own_labels() -> None:
    """OpenRLHF#652: five steps of 20 tokens and a limit of 64 leave three steps, none of them half."""
    encoder = random_prm().encoder
    steps = tuple("abcde"[i] * 19 for i in range(5))
    problem = "?"
    row = LabeledSolution(problem, steps, (1, -1, 0, 1, 1), "g")
    lengths = [len(ids) for ids in encoder.steps(steps, range(5))]
    limit = len(encoder.prompts([problem])[0]) + sum(lengths[:3]) + 2
    parts = pieces_of(encoder, build_trees([row]), limit)
    batch = collate([sequence(p, encoder.step_id) for p in parts], encoder.pad_id)
    _, columns, mass = places(batch, small_config(HERE, HERE))
    assert mass.argmax(1).tolist() == [2, 0, 1]
    assert batch.ids.shape[1] == columns[-1] + 1
    assert batch.ids[0, -1] == encoder.step_id


def test_b3_a_problem_that_fills_the_context_is_dropped_and_counted_and_the_loss_is_finite(
    tmp_path: Path,
) -> None:
    """trl#5826: a row whose labels were all cut away made the loss NaN."""
    long = record("17 " * 200, step(completion("a", 1), chosen=0), step(completion("b", -1), chosen=0))
    config = small_config(
        tmp_path,
        write_lines(tmp_path / "d.jsonl", [sum_record(i) for i in range(8)] + [long]),
        held_out_fraction=0.0,
        pretrain=Stage(epochs=0),
        train=Stage(epochs=1.0, batch_tokens=256),
    )
    result = train_prm(config)
    assert result.card["train"]["ratings_too_long"] == 2
    assert all(math.isfinite(loss) for loss in result.losses)


words = st.lists(
    st.sampled_from(["So 7.", ".", "\n\n", " \u043a\u0438", "7", " ", "", "\\frac12"]), min_size=1, max_size=5
)


@pytest.fixture(scope="module")
def merging_prm() -> Any:
    prm = random_prm()
    tokenizer = merging_tokenizer()
    add_marks(tokenizer)
    prm.encoder = StepEncoder(tokenizer)
    prm.lm.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return prm


@settings(max_examples=40, deadline=None)
@given(steps=words)
def test_b4_a_solution_has_the_same_ids_and_marks_in_training_and_in_scoring(
    merging_prm: Any, steps: list[str]
) -> None:
    """ProcessBench PR 12: joining separators before tokenizing cost four points of F1. The scorer is asked
    what it feeds to the model, and the trainer likewise."""
    prm = merging_prm
    seen: list[torch.Tensor] = []
    handle = prm.lm.base_model.embed_tokens.register_forward_hook(
        lambda m, args, out: seen.append(args[0].flatten())
    )
    scorer = PrmScorer(prm, packing="none")
    (scores,) = scorer.score([ScoringItem("k", "How many?", tuple(steps))])
    handle.remove()
    (row,) = rows_of({"prompt": "How many?", "completions": steps, "labels": [True] * len(steps)})
    (piece,) = pieces_of(prm.encoder, build_trees([row]), 1000)
    trained = sequence(piece, prm.encoder.step_id)
    assert seen[-1][: len(trained)].tolist() == trained.ids.tolist()
    assert len(scores.probs) == len(steps) == len(trained.markers)


def test_b5_soft_labels_are_targets_as_they_are() -> None:
    """TRL's tokenize_row casts 0.75 to 0."""
    (row,) = rows_of({"prompt": "q", "completions": ["a", "b", "c"], "labels": [1.0, 0.75, 0.25]})
    prm = random_prm()
    (piece,) = pieces_of(prm.encoder, build_trees([row]))
    _, _, mass = places(collate([sequence(piece, prm.encoder.step_id)], 0), small_config(HERE, HERE))
    assert mass[:, 2].tolist() == [1.0, 0.75, 0.25]
    assert mass[:, 0].tolist() == [0.0, 0.25, 0.75]


GOOD, BAD = ("We add.", "2 + 3 = 5"), ("We add.", "2 + 3 = 9")


def test_b6_a_reversed_head_is_caught_when_the_model_is_loaded(tmp_path: Path) -> None:
    """OpenRLHF#510: the class that means good came from the order of arguments."""
    prm = random_prm()
    prm.classes = (-1, 1)
    prm.head = new_head(prm.lm, prm.classes)
    torch.nn.init.normal_(prm.head.weight)
    high, low = GOOD, BAD
    if last_score(PrmScorer(prm), high) < last_score(PrmScorer(prm), low):
        high, low = low, high
    prm.card["self_test"] = Pair(("q", high), ("q", low)).as_json()
    prm.save(tmp_path)
    assert last_score(PrmScorer.load(tmp_path), high) == pytest.approx(last_score(PrmScorer(prm), high))
    card = json.loads((tmp_path / CARD).read_text(encoding="utf-8"))
    card["classes"].reverse()
    card["label_tokens"].reverse()
    (tmp_path / CARD).write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ModelError, match="the wrong way round"):
        load_prm(tmp_path)
    (tmp_path / CARD).write_text(json.dumps(card | {"self_test": None}), encoding="utf-8")
    turned = last_score(PrmScorer(load_prm(tmp_path)), high)
    assert turned == pytest.approx(1 - last_score(PrmScorer(prm), high), abs=1e-6)


def last_score(scorer: PrmScorer, steps: tuple[str, ...]) -> float:
    (found,) = scorer.score([ScoringItem("0", "q", steps)])
    return found.probs[-1][2]


def test_b6_a_trained_model_carries_two_examples_of_its_own_and_passes_them(tmp_path: Path) -> None:
    lines = [
        record(
            f"Problem {i}.",
            step(
                completion(f"We count {i % 9} rightly.", 1),
                completion(f"We count {i % 9} wrongly.", -1),
                chosen=0,
            ),
        )
        for i in range(40)
    ]
    config = small_config(
        tmp_path,
        write_lines(tmp_path / "d.jsonl", lines),
        pretrain=Stage(epochs=0),
        train=Stage(steps=40, lr=5e-3, batch_tokens=512),
    )
    result = train_prm(config)
    pair = Pair.from_json(result.card["self_test"])
    assert "rightly" in pair.good[1][-1]
    assert "wrongly" in pair.bad[1][-1]
    self_test(PrmScorer(load_prm(result.model_dir)), pair)


def test_b6_the_self_test_takes_any_scorer() -> None:
    self_test(FakeScorer(judge=lambda problem, steps, index: 0.9 if "17" in steps[index] else 0.1))
    with pytest.raises(ModelError, match="the wrong way round"):
        self_test(FakeScorer(judge=lambda problem, steps, index: 0.1 if "17" in steps[index] else 0.9))
    with pytest.raises(ModelError, match="the wrong way round"):
        self_test(FakeScorer(judge=lambda problem, steps, index: 0.5))


def test_b6_a_model_that_tells_nothing_apart_gets_no_self_test() -> None:
    assert choose_pair([("q", ("a",), 1.0, 0.5), ("q", ("b",), -1.0, 0.49)]) is None
    assert choose_pair([("q", ("a",), 1.0, 0.5), ("q", ("b",), 0.0, 0.1)]) is None
    pair = choose_pair([("q", ("a",), 1.0, 0.5), ("q", ("c",), 1.0, 0.9), ("q", ("b",), -1.0, 0.1)])
    assert pair == Pair(("q", ("c",)), ("q", ("b",)))


def test_b7_neutral_stays_neutral_unrated_is_left_out_and_a_prefix_counts_once() -> None:
    """TRL's converter calls 0 and null bad, repeats every prefix and makes rows without a step."""
    rows = rows_from_prm800k(
        record(
            "q",
            step(completion("first", 1), chosen=0),
            step(completion("chosen", 1), completion("neutral", 0), completion("unrated", None), chosen=0),
        )
    )
    assert all(row.steps and row.counted for row in rows)
    (tree,) = build_trees(rows)
    assert dict(zip(tree.texts, tree.counts, strict=True)) == {
        "first": [0, 0, 1],
        "chosen": [0, 0, 1],
        "neutral": [0, 1, 0],
    }


def test_b7_rows_that_repeat_their_prefix_are_counted_once_each(tmp_path: Path) -> None:
    lines = [
        {"prompt": "q", "completions": ["first", text], "labels": [True, label]}
        for text, label in (("chosen", True), ("other", False), ("third", False))
    ]
    (tree,) = build_trees(load_rows([write_lines(tmp_path / "d.jsonl", lines)]))
    assert np.array(tree.counts).sum() == 4
    assert tree.counts[0] == [0, 0, 1]


@pytest.mark.parametrize("readout", ["mark", "before"])
@pytest.mark.parametrize("design", ["label", "head"])
def test_b8_an_earlier_rating_changes_no_later_score(readout: str, design: str) -> None:
    """prm800k#7: ratings in the context would be shown in training and be absent in use. Same steps, first
    rating flipped: the logits of step three are equal to the bit."""
    prm = random_prm()
    prm.readout = readout
    if design == "head":
        prm.head = new_head(prm.lm, prm.classes)
    found = []
    for first in (1, -1):
        (piece,) = pieces_of(
            prm.encoder, build_trees([LabeledSolution("q", ("a", "b", "c"), (first, 1, 1), "g")])
        )
        batch = collate([sequence(piece, prm.encoder.step_id)], prm.encoder.pad_id)
        assert not np.isin(batch.ids, prm.encoder.label_ids).any()
        with torch.no_grad():
            found.append(prm.label_logits(prm.hidden(batch), batch)[2])
    assert torch.equal(*found)
