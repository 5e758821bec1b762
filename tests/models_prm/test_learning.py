"""The forward pass without padding: the same losses and gradients as the library's own pass with a mask."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from models_prm.config import Lora, TrainConfig
from models_prm.encoding.collate import Piece, collate, encode_trees, pieces, sequence
from models_prm.encoding.tree import build_trees
from models_prm.errors import MarkerError
from models_prm.prm import Prm, load_base, new_head
from models_prm.records import LabeledSolution
from models_prm.training import learning
from models_prm.training.learning import learns_packed, step_sums
from models_prm.training.lora import MarkRows, attach
from models_prm.training.losses import label_sum, token_sum
from models_prm.training.material import weigh
from tests.models_prm.prm_make import random_prm
from tests.models_prm.test_losses import BRANCHES, config, row
from tests.models_prm.test_prm import foreign_base

ROWS = [
    *BRANCHES,
    row("We add.", "3 + 4 = 7", "Never rated.", ratings=[1, 1, None]),
    row("Sum.", "", "Empty step before.", problem="Another one?", ratings=[1, 0, -1]),
    row("7 " * 40, "So 7.", problem="A longer problem, which is " * 4, ratings=[None, 1]),
]


def cut(prm: Prm, settings: TrainConfig, rows: Sequence[LabeledSolution] = ROWS) -> list[Piece]:
    """Small pieces, so that some have context that was counted in another one."""
    encoded = encode_trees(prm.encoder, build_trees(rows))
    weigh(encoded, rows, settings)
    parts = [p for e in encoded for p in pieces(e, max_length=256, pack_tokens=60, packing="tree")]
    assert any(not all(p.fresh) for p in parts)
    return parts


def by_mask(prm: Prm, parts: Sequence[Piece], settings: TrainConfig) -> dict[str, torch.Tensor]:
    batch = collate([sequence(p, prm.encoder.step_id) for p in parts], prm.encoder.pad_id)
    hidden = prm.hidden(batch)
    return {
        "label_loss": label_sum(prm, hidden, batch, settings),
        "lm_loss": token_sum(prm, hidden, batch),
    }


def gradients(prm: Prm, loss: torch.Tensor) -> list[torch.Tensor | None]:
    parameters = prm.trainable()
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return list(found)


def assert_same_learning(prm: Prm, settings: TrainConfig) -> None:
    parts = cut(prm, settings)
    expected = by_mask(prm, parts, settings)
    for asked in (("label_loss",), ("lm_loss",), ("label_loss", "lm_loss")):
        found = step_sums(prm, parts, settings, labels="label_loss" in asked, texts="lm_loss" in asked)
        assert set(found) == set(asked)
        for key in asked:
            assert found[key].item() == pytest.approx(expected[key].item(), rel=1e-5)
        one = gradients(prm, torch.stack([found[key] for key in asked]).sum())
        two = gradients(prm, torch.stack([by_mask(prm, parts, settings)[key] for key in asked]).sum())
        for first, second in zip(one, two, strict=True):
            assert (first is None) == (second is None)
            if first is not None and second is not None:
                torch.testing.assert_close(first, second, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("readout", ["mark", "before"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"design": "head", "classes": 2},
        {"kind": "orm", "outcome": "all"},
        {"kind": "orm", "outcome": "last"},
    ],
    ids=["label", "head", "orm-all", "orm-last"],
)
def test_losses_and_gradients_are_those_of_the_masked_pass(options: dict[str, Any], readout: str) -> None:
    settings = config(readout=readout, **options)
    prm = random_prm()
    prm.classes, prm.readout = settings.class_order, readout
    prm.head = new_head(prm.lm, prm.classes) if settings.design == "head" else None
    assert learns_packed(prm.lm)
    assert_same_learning(prm, settings)


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
def test_grouped_keys_and_other_families_learn_the_same(tmp_path: Path, architecture: str) -> None:
    lm, encoder = load_base(str(foreign_base(tmp_path / "base", architecture)))
    assert learns_packed(lm)
    assert_same_learning(Prm(lm.eval(), encoder, 128), config())


def test_norms_of_queries_and_keys_are_kept(tmp_path: Path) -> None:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    prm = random_prm()
    torch.manual_seed(0)
    prm.lm = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(prm.encoder.tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            max_position_embeddings=256,
        )
    ).eval()
    for parameter in prm.lm.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    assert learns_packed(prm.lm)
    assert_same_learning(prm, config())


def test_adapters_and_loose_rows_learn_the_same(tmp_path: Path) -> None:
    pytest.importorskip("peft")
    lm, encoder = load_base(str(foreign_base(tmp_path / "base", "llama")))
    marks = MarkRows(lm, encoder)
    attach(lm, Lora(rank=2))
    for name, parameter in lm.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    torch.nn.init.normal_(marks.inputs)
    assert_same_learning(Prm(lm.eval(), encoder, 128, marks=marks), config())


def test_others_go_through_the_library(tmp_path: Path) -> None:
    gpt2, _ = load_base(str(foreign_base(tmp_path / "gpt2", "gpt2")))
    assert not learns_packed(gpt2)
    prm = random_prm()
    prm.lm.config.attention_dropout = 0.1
    assert not learns_packed(prm.lm)


def test_a_family_that_turns_out_different_goes_through_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shape is not trusted by its name: a few made-up sequences are run both ways first."""
    prm = random_prm()
    plain = learning._rotated
    monkeypatch.setattr(learning, "_rotated", lambda x, cos, sin, sign: plain(x, cos, sin, -sign))
    assert not learns_packed(prm.lm)


def test_a_mark_too_many_is_refused() -> None:
    prm = random_prm()
    rows = [row("a", "b", ratings=[1, 1])]
    (encoded,) = encode_trees(prm.encoder, build_trees(rows))
    encoded.nodes[0].insert(0, prm.encoder.step_id)
    (piece,) = pieces(encoded, max_length=200, pack_tokens=200, packing="tree")
    with pytest.raises(MarkerError, match="2 steps but 3 step marks"):
        step_sums(prm, [piece], config(), labels=True, texts=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_half_precision_is_near_full_precision(dtype: torch.dtype) -> None:
    """bfloat16 by autocast and as the dtype of the weights."""
    prm = random_prm()
    settings = config()
    parts = cut(prm, settings)
    exact = step_sums(prm, parts, settings, labels=True, texts=False)["label_loss"].item()
    prm.lm.to(dtype)
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype is torch.float32):
        rough = step_sums(prm, parts, settings, labels=True, texts=False)["label_loss"]
    assert rough.item() == pytest.approx(exact, rel=0.03)
    assert all(g is None or torch.isfinite(g).all() for g in gradients(prm, rough))
