"""What the label loss is, place by place, and that packing, cutting and sharing never change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from models_prm.config import TrainConfig
from models_prm.encoding.collate import Piece, collate, encode_trees, pieces, sequence
from models_prm.encoding.tree import build_trees
from models_prm.prm import Prm
from models_prm.records import LabeledSolution
from models_prm.training.losses import label_loss, label_sum, label_weight, loss_sum
from models_prm.training.material import weigh
from tests.models_prm.prm_make import random_prm, small_config

HERE = Path()


def config(**changes: Any) -> TrainConfig:
    return small_config(HERE, HERE, **changes)


def row(
    *steps: str, problem: str = "How many?", ratings: Sequence[int | None], **more: Any
) -> LabeledSolution:
    return LabeledSolution(problem, steps, tuple(ratings), problem, **more)


def prm_for(settings: TrainConfig) -> Prm:
    prm = random_prm()
    prm.classes, prm.readout = settings.class_order, settings.readout
    if settings.design == "head":
        torch.manual_seed(1)
        prm.head = nn.Linear(32, len(prm.classes))
    return prm


def packed(
    prm: Prm, rows: Sequence[LabeledSolution], settings: TrainConfig, packing: str = "tree"
) -> list[Piece]:
    encoded = encode_trees(prm.encoder, build_trees(rows))
    weigh(encoded, rows, settings)
    return [p for e in encoded for p in pieces(e, max_length=128, pack_tokens=128, packing=packing)]


def loss_of(prm: Prm, parts: Sequence[Piece], settings: TrainConfig) -> float:
    batch = collate([sequence(p, prm.encoder.step_id) for p in parts], prm.encoder.pad_id)
    with torch.no_grad():
        return float(label_loss(prm, prm.hidden(batch), batch, settings))


LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]])
MASS = torch.tensor([[0.0, 0.0, 1.0], [0.5, 0.25, 0.25]])


def test_cross_entropy_of_hard_and_soft_targets() -> None:
    log_p = LOGITS.log_softmax(-1)
    expected = -(log_p[0, 2] + 0.5 * log_p[1, 0] + 0.25 * log_p[1, 1] + 0.25 * log_p[1, 2])
    assert float(loss_sum(LOGITS, MASS, config())) == pytest.approx(float(expected), rel=1e-6)


def test_focal_loss_weighs_what_is_already_known_down_and_is_cross_entropy_at_gamma_zero() -> None:
    p = LOGITS.softmax(-1)
    expected = -(MASS * (1 - p) ** 2 * p.log()).sum()
    focal = float(loss_sum(LOGITS, MASS, config(loss="focal", focal_gamma=2.0)))
    assert focal == pytest.approx(float(expected), rel=1e-5)
    plain = float(loss_sum(LOGITS, MASS, config()))
    assert float(loss_sum(LOGITS, MASS, config(loss="focal", focal_gamma=0.0))) == pytest.approx(plain)
    assert focal < plain


def test_squared_error_of_two_classes_is_that_of_the_probability() -> None:
    logits = torch.tensor([[0.4, -math.inf, 1.1]])
    p = torch.softmax(torch.tensor([0.4, 1.1]), 0)[1]
    found = loss_sum(logits, torch.tensor([[0.25, 0.0, 0.75]]), config(loss="mse", classes=2))
    assert float(found) == pytest.approx(float((p - 0.75) ** 2), rel=1e-5)


def test_squared_error_of_a_mass_below_one_counts_less_but_aims_at_the_same_share() -> None:
    logits = torch.tensor([[0.4, 0.2, 1.1]])
    whole = loss_sum(logits, torch.tensor([[0.2, 0.0, 0.8]]), config(loss="mse"))
    half = loss_sum(logits, torch.tensor([[0.1, 0.0, 0.4]]), config(loss="mse"))
    assert float(half) == pytest.approx(float(whole) / 2, rel=1e-5)


@pytest.mark.parametrize("loss", ["cross_entropy", "focal", "mse"])
def test_a_sure_model_gives_a_finite_loss_and_gradient(loss: str) -> None:
    logits = torch.tensor([[200.0, -200.0, 0.0], [-math.inf, 0.0, 0.0]], requires_grad=True)
    loss_sum(logits[:1], torch.tensor([[0.0, 0.0, 1.0]]), config(loss=loss)).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert torch.isfinite(logits.grad[0]).all()


@pytest.mark.parametrize(("neutral", "expected"), [("good", 2), ("bad", 0)])
def test_with_two_classes_an_okay_step_is_what_neutral_says(neutral: str, expected: int) -> None:
    settings = config(classes=2, neutral=neutral)
    prm = prm_for(settings)
    parts = packed(prm, [row("a", ratings=[0])], settings)
    batch = collate([sequence(p, prm.encoder.step_id) for p in parts], prm.encoder.pad_id)
    with torch.no_grad():
        logits = prm.label_logits(prm.hidden(batch), batch)
        loss = float(label_loss(prm, prm.hidden(batch), batch, settings))
    assert logits[0, 1] == -math.inf
    assert loss == pytest.approx(-float(logits.log_softmax(-1)[0, expected]), rel=1e-5)


BRANCHES = [
    row("We add.", "3 + 4 = 7", "So 7.", ratings=[1, 1, None]),
    row("We add.", "3 + 4 = 8", ratings=[1, -1], weight_from=1),
    row("We add.", "3 + 4 = 7", "So 8, no.", ratings=[1, 1, -1], weight_from=2),
    row("We take.", ratings=[0]),
    row("Why?", "Because.", problem="Another one?", ratings=[0, -1]),
]


@pytest.mark.parametrize("design", ["label", "head"])
@pytest.mark.parametrize("readout", ["mark", "before"])
@pytest.mark.parametrize("loss", ["cross_entropy", "focal", "mse"])
def test_a_pack_of_branches_has_the_loss_of_its_paths(design: str, readout: str, loss: str) -> None:
    """The prefix "We add." stands in three rows; its label is counted once."""
    settings = config(design=design, readout=readout, loss=loss, class_weights=(3.0, 1.0, 0.5))
    prm = prm_for(settings)
    together = packed(prm, BRANCHES, settings)
    assert any(p.branching for p in together)
    alone = packed(prm, BRANCHES, settings, "none")
    assert len(alone) > len(together)
    assert label_weight(together, settings) == label_weight(alone, settings) == 0.5 + 0.5 + 3 + 3 + 1 + 1 + 3
    assert loss_of(prm, together, settings) == pytest.approx(loss_of(prm, alone, settings), rel=1e-5)


@pytest.mark.parametrize(
    "settings", [config(), config(kind="orm", outcome="all"), config(kind="orm", outcome="last")]
)
@pytest.mark.parametrize("readout", ["mark", "before"])
def test_parts_of_a_step_add_up_to_the_whole(settings: TrainConfig, readout: Any) -> None:
    settings = replace(settings, readout=readout)
    prm = prm_for(settings)
    parts = packed(prm, BRANCHES, settings, "none")
    total = label_weight(parts, settings)
    whole = loss_of(prm, parts, settings)
    added = 0.0
    for part in parts:
        batch = collate([sequence(part, prm.encoder.step_id)], prm.encoder.pad_id)
        with torch.no_grad():
            added += float(label_sum(prm, prm.hidden(batch), batch, settings)) / total
    assert added == pytest.approx(whole, rel=1e-5)


def test_by_solution_a_long_one_weighs_as_much_as_a_short_one() -> None:
    rows = [row("a", "b", "c", "d", ratings=[1, 1, 1, 1]), row("x", ratings=[-1], problem="Other?")]
    settings = config(average="solution")
    prm = prm_for(settings)
    parts = packed(prm, rows, settings)
    batch = collate([sequence(p, prm.encoder.step_id) for p in parts], prm.encoder.pad_id)
    with torch.no_grad():
        log_p = prm.label_logits(prm.hidden(batch), batch).log_softmax(-1)
    expected = -(log_p[:4, 2].mean() + log_p[4, 0]) / 2
    assert loss_of(prm, parts, settings) == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("readout", ["mark", "before"])
def test_the_readouts_look_at_the_mark_or_at_the_token_before_it(readout: str) -> None:
    settings = config(readout=readout)
    prm = prm_for(settings)
    tree = build_trees([row("We add.", "So 7.", ratings=[1, 1]), row("We add.", "", ratings=[1, -1])])[0]
    (encoded,) = encode_trees(prm.encoder, [tree])
    (piece,) = pieces(encoded, max_length=128, pack_tokens=128, packing="tree")
    batch = collate([sequence(piece, prm.encoder.step_id)], prm.encoder.pad_id)
    with torch.no_grad():
        hidden = prm.hidden(batch)
        found = prm.label_logits(hidden, batch)
        for node, path in enumerate([("We add.",), ("We add.", "So 7."), ("We add.", "")]):
            texts = [tree.texts[piece.nodes[node]]]
            assert texts == [path[-1]] or node
            slot = piece.nodes.index(tree.add(path)[-1])
            ids = [*encoded.prompt, *(i for s in prm.encoder.steps(path, range(len(path))) for i in s)]
            states = prm.lm.base_model(torch.tensor([ids])).last_hidden_state[0]
            at = len(ids) - 1 - (readout == "before")
            torch.testing.assert_close(found[slot], prm.read(states[at : at + 1])[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("readout", ["mark", "before"])
def test_an_orm_in_a_tree_has_the_token_loss_of_its_solutions(readout: str) -> None:
    """Right and wrong solutions share a step: its tokens then carry both verdicts."""
    rows = [
        row("We add.", "So 7.", ratings=[1, 1], weight=0.5),
        row("We add.", "So 8, no.", ratings=[-1, -1], weight=1.5),
        row("Now.", ratings=[1]),
    ]
    settings = config(kind="orm", outcome="all", readout=readout)
    prm = prm_for(settings)
    total = weight = 0.0
    for one in rows:
        ids = prm.encoder.prompts([one.problem])[0]
        places: list[int] = []
        for step in prm.encoder.steps(one.steps, range(len(one.steps))):
            places += range(len(ids), len(ids) + len(step) - (readout == "before"))
            ids = [*ids, *step]
        with torch.no_grad():
            states = prm.lm.base_model(torch.tensor([ids])).last_hidden_state[0]
            log_p = prm.read(states[places]).log_softmax(-1)[:, 2 if one.ratings[-1] == 1 else 0]
        total -= one.weight * float(log_p.sum())
        weight += one.weight * len(places)
    parts = packed(prm, rows, settings)
    assert label_weight(parts, settings) == pytest.approx(weight)
    assert loss_of(prm, parts, settings) == pytest.approx(total / weight, rel=1e-5)


def test_an_orm_read_at_the_end_only_has_one_label_per_solution() -> None:
    rows = [row("We add.", "So 7.", ratings=[None, 1]), row("We add.", ratings=[-1])]
    settings = config(kind="orm", outcome="last")
    assert label_weight(packed(prm_for(settings), rows, settings), settings) == 2.0


def test_labels_that_do_not_fit_are_counted_and_do_not_dilute_a_solution() -> None:
    long = row("a", "b" * 300, ratings=[1, -1])
    settings = config(average="solution")
    prm = prm_for(settings)
    encoded = encode_trees(prm.encoder, build_trees([long]))
    assert weigh(encoded, [long], settings) == 1
    assert encoded[0].tree.counts == [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
