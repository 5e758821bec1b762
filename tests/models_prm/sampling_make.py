"""Tiny language models made on the spot, and requests for them. Plain functions, no fixtures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from models_prm.encoding.tokenizer import train_tokenizer
from models_prm.sampling.records import SampleRequest, sample_seed

PROMPTS = (
    "Problem:\nAda has 3 pens.\n\nSolution:\n",
    "Problem:\nBen has 14 books and buys 2 more. How many?\n\nSolution:\n",
    "Problem:\nHow many?\n\nSolution:\n",
)


@cache
def tokenizer() -> Any:
    """A byte-level tokenizer with an end token."""
    texts = [f"Problem:\nAda has {i} pens.\n\nSolution:\n{i} + {i} = {2 * i}\n" for i in range(30)]
    made = train_tokenizer(texts, 320)
    made.add_special_tokens({"eos_token": "<|end|>"})
    return made


def qwen(kv_heads: int = 2, seed: int = 0, peaked: float = 0.3, end: bool = True) -> Any:
    """A Qwen2 of two layers with grouped attention, sharp enough that sampling has something to get wrong."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    words = tokenizer()
    lm = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(words),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=kv_heads,
            max_position_embeddings=256,
            tie_word_embeddings=True,
            initializer_range=peaked,
            bos_token_id=None,
            eos_token_id=words.eos_token_id if end else None,
            pad_token_id=words.pad_token_id,
        )
    )
    return lm.eval()


def gpt2(seed: int = 0) -> Any:
    """A GPT-2: learned positions, another attention module."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(seed)
    words = tokenizer()
    config = GPT2Config(
        vocab_size=len(words),
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=256,
        initializer_range=0.3,
        bos_token_id=words.eos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    return GPT2LMHeadModel(config).eval()


def save_model(folder: Path, **changes: Any) -> Path:
    """A model directory."""
    qwen(**changes).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def requests(prompts: Sequence[str], n: int, seed: int = 0) -> list[SampleRequest]:
    """`n` requests for each prompt, keys "0", "1", ..."""
    return [
        SampleRequest(str(k), prompt, i, sample_seed(seed, str(k), i))
        for k, prompt in enumerate(prompts)
        for i in range(n)
    ]
