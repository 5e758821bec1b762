"""Bugs of public reward-model tools, as inputs of our own with the right behaviour: the scoring side."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_prm.data import load_rows
from models_prm.encoding.collate import encode_trees, pieces, sequence
from models_prm.encoding.packed import plan
from models_prm.encoding.tree import StepTree, build_trees
from models_prm.public.server import ScoreServerError, checked
from models_prm.records import ScoringItem
from models_prm.scoring import PrmScorer
from tests.models_prm.prm_make import completion, random_prm, record, step, write_lines

steps = st.lists(st.text("ab.\n <|step|>", min_size=0, max_size=12), min_size=1, max_size=5)


@settings(max_examples=50, deadline=None)
@given(st.text("ab? \n", max_size=12), steps)
def test_b4_training_and_scoring_make_the_same_ids(problem: str, texts: list[str]) -> None:
    """ProcessBench PR 12: joining separators to the text before tokenizing cost 4 points."""
    encoder = random_prm().encoder
    tree = StepTree(problem)
    tree.add(texts)
    (encoded,) = encode_trees(encoder, [tree])
    (piece,) = pieces(encoded, max_length=10_000, pack_tokens=10_000, packing="tree")
    trained = sequence(piece, encoder.step_id)
    (path,) = PrmScorer(random_prm(max_length=10_000))._paths(encoded)
    (batch,) = plan([path.ids], [path.reads], 10_000)
    assert batch.ids.tolist() == trained.ids.tolist()
    assert batch.positions.tolist() == trained.positions.tolist()
    assert batch.read.tolist() == trained.markers.tolist()


def test_b8_no_rating_is_in_the_input(tmp_path: Path) -> None:
    """prm800k issue 7: the score of step 3 is bit-equal when the first step's rating is flipped."""
    prm = random_prm()
    scores = []
    for rating in (1, -1):
        made = record(
            "How many?",
            step(completion("First.", rating), chosen=0),
            step(completion("Second.", 1), chosen=0),
            step(completion("Third.", -1), chosen=0),
        )
        made["label"]["steps"][0]["completions"][0]["rating"] = rating
        rows = load_rows([write_lines(tmp_path / f"{rating}.jsonl", [made])])
        (tree,) = build_trees(rows)
        tree.add(("First.", "Second.", "Third."))
        (values,) = PrmScorer(prm).score_trees([tree])
        scores.append(values)
    assert scores[0][2] is not None
    assert scores[0][2] == scores[1][2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "empty"),
        ([[0.5, 0.5]] * 7, "one vector per token"),
        ([[0.01] * 896] * 2, "hidden states"),
        ([[0.5, 0.5]] * 3, "1 too many"),
    ],
    ids=["a empty", "b one vector per token", "c hidden states", "d one score too many"],
)
def test_b14_wrong_numbers_of_a_server_are_named_and_refused(rows: list[list[float]], message: str) -> None:
    """vllm issues 16545 and 19956, ReasonFlux issue 20. Over HTTP: test_score_server."""
    with pytest.raises(ScoreServerError, match=message):
        checked({"data": [{"data": rows}]}, steps=2, tokens=7)


def test_b14_the_right_answer_is_taken() -> None:
    assert checked({"data": [{"data": [[0.25, 0.75], [1.0, 0.0]]}]}, 2, 7) == [
        (0.25, 0.0, 0.75),
        (1.0, 0.0, 0.0),
    ]


def test_a_probability_of_exactly_zero_keeps_its_step() -> None:
    """The Qwen card drops probabilities that are 0: here a step whose p(+1) underflows keeps its place."""
    import torch

    prm = random_prm()
    with torch.no_grad():
        rows = prm.lm.get_output_embeddings().weight
        rows[prm.encoder.label_ids[0]] *= 1e6
    results = list(PrmScorer(prm).score([ScoringItem("k", "q", ("a", "bb", "ccc", "dd"))]))
    values = [p for probs in results[0].probs for p in probs]
    assert 0.0 in values
    assert len(results[0].probs) == 4


@pytest.mark.parametrize("text", ["<|step|>", " <|step|> ", "<|good|>", "<|solution|><|step|>"])
def test_marker_text_of_a_person_adds_no_score(text: str) -> None:
    (result,) = PrmScorer(random_prm()).score([ScoringItem("k", f"What {text}?", (f"a{text}b", text))])
    assert len(result.probs) == 2
