"""Both designs, both read-outs, two and three classes, all losses: trained, saved, loaded, resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from models_prm.config import Stage, TrainConfig
from models_prm.errors import Cancelled, ModelError, RecipeError
from models_prm.prm import CARD, Prm, load_prm, new_head, read_card
from models_prm.records import Progress, ScoringItem
from models_prm.scoring import PrmScorer
from models_prm.train import train_prm
from models_prm.training.modelcard import README
from tests.models_prm.prm_make import random_prm, small_config, sums_file, write_lines
from tests.models_prm.test_prm import foreign_base
from tests.models_prm.test_resume import assert_same


def reached(asked: Iterator[int], stop_at: int) -> bool:
    """Whether this is the time to stop, counting the times it was asked."""
    return next(asked) == stop_at


ITEM = ScoringItem("k", "Ada has 5 pens. How many?", ("We add 2 and 3.", "2 + 3 = 5"))
SHORT = {"pretrain": Stage(epochs=0), "train": Stage(steps=6, lr=3e-3, batch_tokens=512)}


@pytest.mark.parametrize("design", ["label", "head"])
@pytest.mark.parametrize("readout", ["mark", "before"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_design_trains_and_scores_after_loading(
    tmp_path: Path, design: str, readout: str, classes: int
) -> None:
    config = small_config(
        tmp_path, sums_file(tmp_path, 12), design=design, readout=readout, classes=classes, **SHORT
    )
    result = train_prm(config)
    card = read_card(result.model_dir)
    assert (card["design"], card["readout"]) == (design, readout)
    assert card["classes"] == ([-1, 1] if classes == 2 else [-1, 0, 1])
    scorer = PrmScorer.load(result.model_dir)
    (scores,) = scorer.score([ITEM])
    assert len(scores.probs) == 2
    for probs in scores.probs:
        assert sum(probs) == pytest.approx(1.0)
        assert (probs[1] == 0.0) == (classes == 2)
    assert 0 < result.metrics["loss"] < 5
    config = json.loads((result.model_dir / "config.json").read_text(encoding="utf-8"))
    kind = "Qwen2ForTokenClassification" if design == "head" else "Qwen2ForCausalLM"
    assert config["architectures"] == [kind]


def test_a_saved_head_is_read_the_same_by_the_library_itself(tmp_path: Path) -> None:
    """The directory is an ordinary token classification model: class names, logits at the step marks."""
    from transformers import AutoModelForTokenClassification

    prm = random_prm()
    prm.head = new_head(prm.lm, prm.classes)
    torch.nn.init.normal_(prm.head.weight)
    prm.save(tmp_path / "m")
    theirs: Any = AutoModelForTokenClassification.from_pretrained(tmp_path / "m")
    assert theirs.config.id2label == {0: "bad", 1: "okay", 2: "good"}
    ids = [
        *prm.encoder.prompts([ITEM.problem])[0],
        *(i for s in prm.encoder.steps(ITEM.steps, [0, 1]) for i in s),
    ]
    marks = [i for i, token in enumerate(ids) if token == prm.encoder.step_id]
    with torch.no_grad():
        expected = theirs.eval()(torch.tensor([ids])).logits[0, marks].softmax(-1)
    (scores,) = PrmScorer.load(tmp_path / "m").score([ITEM])
    torch.testing.assert_close(torch.tensor(scores.probs), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_a_head_goes_on_other_families_too(tmp_path: Path, architecture: str) -> None:
    base = foreign_base(tmp_path / "base", architecture)
    config = small_config(tmp_path, sums_file(tmp_path, 12), base=str(base), design="head", **SHORT)
    (scores,) = PrmScorer.load(train_prm(config).model_dir).score([ITEM])
    assert len(scores.probs) == 2


OPTIONS: list[dict[str, Any]] = [
    {"design": "head", "readout": "before", "loss": "focal", "average": "solution"},
    {"classes": 2, "loss": "mse", "class_weights": "balanced", "neutral": "bad"},
    {
        "design": "head",
        "classes": 2,
        "autocast": True,
        "train": Stage(steps=6, batch_tokens=512, accumulate=3),
    },
    {"dtype": "bfloat16", "design": "head"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(map(str, o.values()))[:40])
def test_a_stopped_run_ends_like_an_unbroken_one_with_every_option(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    data = sums_file(tmp_path, 16)
    settings = {**SHORT, **options, "evaluate_every": 2, "keep_best": True}
    whole = train_prm(small_config(tmp_path, data, output_dir=tmp_path / "whole", **settings))
    broken = small_config(tmp_path, data, output_dir=tmp_path / "broken", **settings)
    for stop_at in (1, 3):
        asked = iter(range(1000))
        with pytest.raises(Cancelled):
            train_prm(broken, should_stop=partial(reached, asked, stop_at))
    result = train_prm(broken)
    assert result.resumed_at == 4
    assert_same(result, whole)


def test_soft_targets_are_trained_on_and_measured_as_they_are(tmp_path: Path) -> None:
    """The best a model can do is to say 0.75 everywhere; flooring would teach it to say 0."""
    lines = [
        {
            "prompt": f"Problem {i} with {i % 7} pens.",
            "completions": ["We count.", "Done."],
            "labels": [0.75, 0.75],
        }
        for i in range(30)
    ]
    settings = {
        "classes": 2,
        "train": Stage(steps=40, lr=1e-2, batch_tokens=512),
        "pretrain": Stage(epochs=0),
    }
    for loss in ("cross_entropy", "mse"):
        config = small_config(
            tmp_path,
            write_lines(tmp_path / "soft.jsonl", lines),
            output_dir=tmp_path / loss,
            loss=loss,
            **settings,
        )
        result = train_prm(config)
        assert result.metrics["loss"] == pytest.approx(result.metrics["loss_of_targets"], abs=0.02)
        assert result.metrics["squared_error_good"] < 0.01
        (scores,) = PrmScorer.load(result.model_dir).score(
            [ScoringItem("k", "Problem 3 with 3 pens.", ("We count.",))]
        )
        assert scores.probs[0][2] == pytest.approx(0.75, abs=0.1)


def test_the_sources_are_reported_before_training(tmp_path: Path) -> None:
    told: list[Progress] = []
    train_prm(small_config(tmp_path, sums_file(tmp_path, 12), **SHORT), on_progress=told.append)
    first = told[0]
    assert first.stage == "prepare"
    assert "sums.jsonl: rows 60, problems 12, labels 72, bad 0.5, okay 0.1667, good 0.3333" in first.message


def test_the_readme_says_what_the_model_is(tmp_path: Path) -> None:
    config = small_config(
        tmp_path, sums_file(tmp_path, 12), design="head", readout="before", splitter="blank_line", **SHORT
    )
    result = train_prm(config)
    text = (result.model_dir / README).read_text(encoding="utf-8")
    card = result.card
    assert len(card["data_sha256"]) == 64
    for wanted in (
        "bad (-1), okay (0), good (+1)",
        "classification head",
        "at the last token before the step mark",
        "`<|step|>` after each step",
        "| splitter of the steps | blank_line |",
        card["data_sha256"],
        card["fingerprint"],
        f"| auroc_bad | {result.metrics['auroc_bad']:.5g} |",
        "| loss | cross_entropy |",
    ):
        assert wanted in text
    assert str(tmp_path) not in text


def test_other_data_gives_another_snapshot_digest(tmp_path: Path) -> None:
    digests = set()
    for count in (12, 13):
        folder = tmp_path / str(count)
        folder.mkdir()
        digests.add(train_prm(small_config(folder, sums_file(folder, count), **SHORT)).card["data_sha256"])
    assert len(digests) == 2


def test_settings_that_came_later_leave_the_old_fingerprint(tmp_path: Path) -> None:
    """Digest of a recipe without them, as it was before they were there: such a model is still known as
    finished."""
    one = TrainConfig(data=(Path("a"),), output_dir=Path("o"))
    assert one.fingerprint() == "bcfa9ff0b7a8fded5fa730d48798925441f3825f8edd28b6bae08be951f87599"
    for change in ({"design": "head"}, {"loss": "mse"}, {"classes": 2}, {"train": Stage(accumulate=2)}):
        assert (
            TrainConfig(data=(Path("a"),), output_dir=Path("o"), **change).fingerprint() != one.fingerprint()
        )
    assert (
        TrainConfig(data=(Path("a"),), output_dir=Path("o"), splitter="x").fingerprint() == one.fingerprint()
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"design": "tree"}, "design 'tree' is unknown: use label or head"),
        ({"readout": "after"}, "use mark or before"),
        ({"loss": "hinge"}, "use cross_entropy or focal or mse"),
        ({"kind": "rm"}, "use prm or orm"),
        ({"classes": 4}, "classes must be 2"),
        ({"focal_gamma": -1.0}, "focal_gamma must not"),
        ({"train": {"accumulate": 0}}, "accumulate must be at least 1"),
        ({"lora": {"rank": 4}}, "lora.rank needs a base"),
        ({"lora": {"alpha": 0}}, "alpha positive"),
        ({"lora": {"ranks": 4}}, "unknown key lora.ranks"),
    ],
)
def test_a_wrong_design_is_refused_by_key(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    from models_prm.config import _build

    with pytest.raises(RecipeError, match=message):
        _build({"data": ["x"], "output_dir": "o", **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"design": "forest"}, "design must be label or head"),
        ({"readout": "after"}, "readout mark or before"),
        ({"classes": [-1, 1]}, "with one label token each"),
        (
            {"design": "head", "classes": [-1, 1], "label_tokens": ["<|bad|>", "<|good|>"]},
            "3 rows for 2 classes",
        ),
    ],
)
def test_a_card_that_does_not_fit_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    prm = random_prm()
    if changes.get("design") == "head":
        prm.head = new_head(prm.lm, prm.classes)
    prm.save(tmp_path)
    card = json.loads((tmp_path / CARD).read_text(encoding="utf-8"))
    (tmp_path / CARD).write_text(json.dumps(card | changes), encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        load_prm(tmp_path)


def test_the_state_of_a_model_goes_out_and_in_again() -> None:
    one, two = random_prm(0), random_prm(1)
    for prm in (one, two):
        prm.head = new_head(prm.lm, prm.classes)
    two.load_state_dict(one.state_dict())
    (first,), (second,) = (
        PrmScorer(Prm(p.lm, p.encoder, 128, head=p.head)).score([ITEM]) for p in (one, two)
    )
    assert first == second
