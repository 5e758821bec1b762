"""Packed batches and our own forward pass: every token once, and the states of the library's own pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from models_prm.encoding.forward import packs, padded_states, read_states
from models_prm.encoding.packed import Ints, plan

SHAPE: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
MODELS: dict[str, Any] = {
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SHAPE)),
    "qwen2 of one layer": lambda: Qwen2ForCausalLM(Qwen2Config(**{**SHAPE, "num_hidden_layers": 1})),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SHAPE, head_dim=16)),
    "llama with biases": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE, attention_bias=True, mlp_bias=True)),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**SHAPE)),
}
OTHERS: dict[str, Any] = {
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4)),
    "sliding window": lambda: Qwen2ForCausalLM(
        Qwen2Config(**SHAPE, use_sliding_window=True, sliding_window=4, max_window_layers=0)
    ),
    "another activation": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE, hidden_act="gelu")),
}

pools = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=14)


def arrays(rows: Sequence[Sequence[int]]) -> list[Ints]:
    return [np.array(row, np.int64) for row in rows]


@settings(max_examples=200, deadline=None)
@given(pools, st.integers(1, 40), st.randoms(use_true_random=False))
def test_a_plan_holds_every_sequence_and_no_token_twice(rows: list[list[int]], size: int, rng: Any) -> None:
    ids = arrays(rows)
    reads = [np.array(sorted(rng.sample(range(len(r)), rng.randint(0, len(r)))), np.int64) for r in rows]
    members: list[int] = []
    for batch in plan(ids, reads, size):
        assert len(batch.ids) <= max(size, *(len(rows[m]) for m in batch.members))
        covered = np.concatenate([g.places for g in batch.groups])
        assert sorted(covered.tolist()) == list(range(len(batch.ids)))
        wanted = [p for g in batch.last for p in g.places.tolist()]
        assert sorted(wanted) == list(range(len(batch.read)))
        prefixes = {tuple(rows[m][:n]) for m in batch.members for n in range(1, len(rows[m]) + 1)}
        assert len(batch.ids) == len(prefixes)
        for member, places in zip(batch.members, batch.rows, strict=True):
            at = batch.read[places]
            assert batch.ids[at].tolist() == ids[member][reads[member]].tolist()
            assert batch.positions[at].tolist() == reads[member].tolist()
        members += batch.members
    assert sorted(members) == list(range(len(rows)))


def made(name: str) -> Any:
    torch.manual_seed(0)
    return (MODELS | OTHERS)[name]().eval()


def random_pool(seed: int) -> tuple[list[Ints], list[Ints]]:
    """Sequences in families: a common start, sometimes a second common part, lengths of every kind."""
    rng = np.random.default_rng(seed)
    ids: list[Ints] = []
    for _ in range(6):
        start = rng.integers(0, 50, rng.integers(1, 60))
        branch = rng.integers(0, 50, rng.integers(1, 40))
        for _ in range(rng.integers(1, 7)):
            parts = [
                start,
                *([branch] if rng.random() < 0.5 else []),
                rng.integers(0, 50, rng.integers(0, 30)),
            ]
            ids.append(np.concatenate(parts))
    ids.append(ids[0].copy())
    reads = [np.flatnonzero(rng.random(len(i)) < 0.3) for i in ids]
    return ids, reads


@torch.inference_mode()
@pytest.mark.parametrize("name", [*MODELS, *OTHERS])
@pytest.mark.parametrize("batch_tokens", [64, 4096])
def test_states_equal_those_of_each_sequence_alone(name: str, batch_tokens: int) -> None:
    lm = made(name)
    ids, reads = random_pool(1)
    seen = 0
    for members, rows, states in read_states(lm, ids, reads, batch_tokens):
        for member, places in zip(members, rows, strict=True):
            alone = padded_states(lm, [ids[member]])[0]
            assert torch.allclose(states[places], alone[reads[member]], atol=1e-5)
            seen += 1
    assert seen == len(ids)


@torch.inference_mode()
@pytest.mark.parametrize("name", [*MODELS, *OTHERS])
def test_only_models_that_it_knows_go_through_our_own_pass(name: str) -> None:
    assert packs(made(name)) == (name in MODELS)


@torch.inference_mode()
def test_a_model_whose_own_pass_says_otherwise_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = made("qwen2")
    for layer in lm.model.layers:
        layer.mlp.register_forward_hook(lambda module, args, out: 2 * out)
    assert not packs(lm)


@torch.inference_mode()
@pytest.mark.filterwarnings("ignore::FutureWarning")  # peft asks transformers by an old name
def test_a_model_that_trains_or_carries_adapters_is_left_to_its_own_pass() -> None:
    from peft import LoraConfig, get_peft_model

    lm = made("qwen2")
    assert packs(lm)
    assert not packs(lm.train())
    assert packs(lm.eval())
    adapted = get_peft_model(lm, LoraConfig(target_modules=["q_proj"], r=2)).eval()
    assert not packs(adapted)


@torch.inference_mode()
def test_sequences_longer_than_a_mistral_window_go_through_its_own_pass() -> None:
    lm = MistralForCausalLM(MistralConfig(**SHAPE, sliding_window=8)).eval()
    ids = arrays([[1] * 5 + [2] * 10, [1] * 5 + [3] * 9])
    reads = [np.array([14]), np.array([13])]
    for members, rows, states in read_states(lm, ids, reads, 1000):
        for member, places in zip(members, rows, strict=True):
            alone = padded_states(lm, [ids[member]])[0]
            assert torch.allclose(states[places], alone[reads[member]], atol=1e-5)


@torch.inference_mode()
def test_bfloat16_stays_near_the_library_s_own_pass() -> None:
    lm = made("qwen2").to(torch.bfloat16)
    ids, reads = random_pool(2)
    for members, rows, states in read_states(lm, ids, reads, 4096):
        assert states.dtype is torch.bfloat16
        for member, places in zip(members, rows, strict=True):
            alone = padded_states(lm, [ids[member]])[0][reads[member]]
            assert (states[places] - alone).abs().max() < 0.15 if len(alone) else True
