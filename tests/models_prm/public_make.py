"""Tiny public reward models with random weights, saved as their families save them. Plain functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen2ForTokenClassification,
)

TAG = "\u043a\u0438"
TEXTS = [
    "What is 2 + 3? Step 1: We add 2 and 3.",
    f"2 + 3 = 5 {TAG}\nStep 2: So the answer is 5. {TAG}\n",
    "How many apples does Ada have now? - 4 + 7 = 3, user assistant system",
    "Please reason step by step, and put your final answer within \\boxed{}.",
]
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<extra_0>", "<|eot|>")
CHATML = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
TURNS = (
    "<|endoftext|>{% for m in messages %}<|im_start|>{{ m['role'] }}<|im_end|>\n\n"
    "{{ m['content'] | trim }}<|eot|>{% endfor %}"
)


def byte_tokenizer(template: str | None = None, bos: bool = False) -> Any:
    """A byte-level BPE tokenizer as Qwen2 and Llama 3 have."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    core.train_from_iterator(TEXTS * 3, trainer=trainer)
    core.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    special = {"bos_token": "<|endoftext|>"} if bos else {}
    tokenizer: Any = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|endoftext|>", pad_token="<|endoftext|>", **special
    )
    tokenizer.chat_template = template
    return tokenizer


def word_tokenizer() -> Any:
    """A tokenizer whose tokens may hold the space before a word, as SentencePiece ones do."""
    core = Tokenizer(models.BPE(unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("\n", "isolated"), pre_tokenizers.Metaspace(prepend_scheme="first")]
    )
    core.decoder = decoders.Metaspace()
    words = [w for text in TEXTS for w in text.replace("\n", " \n ").split(" ") if w]
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<unk>", "<s>"],
        initial_alphabet=list("\n\u2581+-"),
        show_progress=False,
    )
    core.train_from_iterator(
        [*TEXTS * 3, *(f"{a} {b}" for a in words for b in ("+", "-", TAG))], trainer=trainer
    )
    from tokenizers.processors import TemplateProcessing

    core.post_processor = TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", core.token_to_id("<s>"))]
    )
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", unk_token="<unk>")


def _shape(tokenizer: Any, **changes: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer) + 3,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        **changes,
    }


def trl(folder: Path, seed: int = 0) -> tuple[Any, Any]:
    """A Qwen2 token classification model with two labels."""
    tokenizer = byte_tokenizer(bos=True)
    torch.manual_seed(seed)
    lm = Qwen2ForTokenClassification(Qwen2Config(**_shape(tokenizer), num_labels=2)).eval()
    return _saved(folder, lm, tokenizer)


def math_shepherd(folder: Path, seed: int = 0) -> tuple[Any, Any]:
    """A Mistral language model."""
    tokenizer = word_tokenizer()
    torch.manual_seed(seed)
    return _saved(folder, MistralForCausalLM(MistralConfig(**_shape(tokenizer))).eval(), tokenizer)


def rlhflow(folder: Path, seed: int = 0) -> tuple[Any, Any]:
    """A Llama language model with a chat template that trims."""
    tokenizer = byte_tokenizer(TURNS)
    torch.manual_seed(seed)
    return _saved(folder, LlamaForCausalLM(LlamaConfig(**_shape(tokenizer))).eval(), tokenizer)


def qwen(folder: Path, seed: int = 0) -> tuple[Any, Any, torch.nn.Sequential]:
    """A Qwen2 model with the two-layer head; the configuration names code that does not exist."""
    tokenizer = byte_tokenizer(CHATML)
    torch.manual_seed(seed)
    lm = Qwen2ForCausalLM(Qwen2Config(**_shape(tokenizer))).eval()
    head = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
    _, tokenizer = _saved(folder, lm, tokenizer, {f"score.{k}": v for k, v in head.state_dict().items()})
    _configure(
        folder, "Qwen2ForProcessRewardModel", {"AutoModel": "modeling_qwen2_rm.Qwen2ForProcessRewardModel"}
    )
    return lm, tokenizer, head


def skywork(folder: Path, seed: int = 0) -> tuple[Any, Any, torch.nn.Linear]:
    """A Qwen2 model with a value head."""
    tokenizer = byte_tokenizer(bos=True)
    torch.manual_seed(seed)
    lm = Qwen2ForCausalLM(Qwen2Config(**_shape(tokenizer))).eval()
    head = torch.nn.Linear(32, 1)
    _, tokenizer = _saved(
        folder, lm, tokenizer, {f"v_head.summary.{k}": v for k, v in head.state_dict().items()}
    )
    _configure(folder, "Qwen2ForPrmModel", {})
    return lm, tokenizer, head


def _saved(
    folder: Path, lm: Any, tokenizer: Any, head: dict[str, torch.Tensor] | None = None
) -> tuple[Any, Any]:
    from safetensors.torch import load_file, save_file

    lm.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if head is not None:
        tensors = load_file(folder / "model.safetensors")
        save_file(tensors | head, folder / "model.safetensors", metadata={"format": "pt"})
    return lm, AutoTokenizer.from_pretrained(
        folder
    )  # its class follows the architecture, as it would for anyone


def _configure(folder: Path, architecture: str, auto_map: dict[str, str]) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= {"architectures": [architecture], "auto_map": auto_map}
    (folder / "config.json").write_text(json.dumps(config))
