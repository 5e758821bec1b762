"""The decoding loop on other architectures: greedy output is generate's, or the model is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from models_prm.errors import ModelError
from models_prm.sampling.local import LocalSampler
from models_prm.sampling.weights import encode_prompts
from tests.models_prm.sampling_make import PROMPTS, requests, tokenizer

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
    "initializer_range": 0.3,
    "bos_token_id": None,
}
GROUPED = SIZES | {"num_key_value_heads": 2}


def make(name: str, sizes: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    words = tokenizer()
    ids = {"eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    config = getattr(transformers, f"{name}Config")(vocab_size=len(words), **sizes, **ids)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("Llama", GROUPED),
        ("Mistral", GROUPED | {"sliding_window": None}),
        ("Qwen3", GROUPED | {"head_dim": 8}),
        ("Gemma2", GROUPED | {"head_dim": 8, "sliding_window": 256}),
        ("GPTNeoX", SIZES),
        ("Phi", SIZES),
    ],
)
def test_greedy_output_is_generates(name: str, sizes: dict[str, Any]) -> None:
    lm, words = make(name, sizes), tokenizer()
    sampler = LocalSampler(lm, words, rows=2)
    seen: list[tuple[int, ...]] = []
    decode = sampler.decode
    sampler.decode = lambda ids: seen.append(tuple(ids)) or decode(ids)  # type: ignore[method-assign,func-returns-value]
    list(sampler.sample(requests(PROMPTS, 1), max_tokens=20, temperature=0))
    for prompt in PROMPTS:
        [ids] = encode_prompts(words, [prompt])
        mask = torch.ones(1, len(ids), dtype=torch.long)
        out = lm.generate(
            input_ids=torch.tensor([ids]), attention_mask=mask, do_sample=False, max_new_tokens=20
        )
        wanted = tuple(t for t in out[0, len(ids) :].tolist() if t != words.eos_token_id)
        assert wanted in seen


@pytest.mark.parametrize(
    ("name", "sizes", "word"),
    [
        ("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4}, "bias"),
        ("Mamba", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}, "linear_attention"),
        ("Mistral", GROUPED | {"sliding_window": 16}, "window of 16"),
    ],
)
def test_what_the_loop_cannot_do_is_refused_by_name(name: str, sizes: dict[str, Any], word: str) -> None:
    sampler = LocalSampler(make(name, sizes), tokenizer())
    with pytest.raises(ModelError, match=word):
        list(sampler.sample(requests(PROMPTS, 1), max_tokens=5))
