"""The benchmark against TRL's trainer is fair: both get the same tokens, labels and weights."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import pytest
import torch

from benchmarks.train_vs_trl import CLASSES, IGNORED, Writer, make_encoder, make_prm
from models_prm.prm import classifier

if importlib.util.find_spec("trl") is None:
    pytest.skip("trl is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def trainer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from trl.experimental.prm import PRMTrainer
    return PRMTrainer


@pytest.mark.parametrize("kind", ["solutions", "alternatives"])
def test_rows_have_the_same_tokens_and_labels_on_both_sides(trainer: Any, kind: str) -> None:
    encoder = make_encoder()
    for row in getattr(Writer(3), kind)(12):
        theirs = trainer.tokenize_row(
            {
                "prompt": f"{row.problem} {encoder.marks.solution}",
                "completions": row.steps,
                "labels": row.labels,
            },
            encoder.tokenizer,
            encoder.marks.step,
            None,
            None,
            False,
            False,
        )
        steps = encoder.steps(row.steps, range(len(row.steps)))
        assert theirs["input_ids"] == [*encoder.prompts([row.problem])[0], *(i for ids in steps for i in ids)]
        marks = [i for i, token in enumerate(theirs["input_ids"]) if token == encoder.step_id]
        assert [theirs["labels"][i] for i in marks] == list(row.labels)
        ours = [IGNORED if rating is None else int(rating == 1) for rating in row.ours().ratings]
        assert ours == list(row.labels)


def test_both_begin_with_the_same_weights() -> None:
    encoder = make_encoder()
    one, two = make_prm(encoder, 5), make_prm(encoder, 5)
    assert two.head is not None
    theirs = classifier(two.lm, two.head, CLASSES)
    for name, value in one.lm.base_model.state_dict().items():
        assert torch.equal(value, theirs.base_model.state_dict()[name])
    assert one.head is not None
    assert torch.equal(one.head.weight, theirs.score.weight)
    assert theirs.config.id2label == {0: "bad", 1: "good"}
