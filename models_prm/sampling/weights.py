"""Opening generators: a causal language model and its tokenizer."""

from __future__ import annotations

from typing import Any

from models_prm.errors import ModelError


def quiet() -> None:
    """Keep the Transformers library from drawing bars of its own: progress is reported by `on_progress`."""
    from transformers.utils import logging

    switch: Any = logging.disable_progress_bar
    switch()


def load_generator(source: str, device: str = "cpu", dtype: str = "float32") -> tuple[Any, Any]:
    """(model in evaluation mode, tokenizer) of a Hugging Face directory or hub name.

    `dtype` is a torch name such as "float32" or "bfloat16". Raises ModelError with the cure.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quiet()
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(source)
        lm: Any = AutoModelForCausalLM.from_pretrained(source, dtype=getattr(torch, dtype))
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"{source}: cannot load as a causal language model ({error}): give a directory with config.json, "
            "weights and tokenizer"
        ) from error
    return lm.to(device).eval(), tokenizer


def encode_prompts(tokenizer: Any, prompts: list[str]) -> list[list[int]]:
    """Ids of prompts: with what the tokenizer puts before a text, without the end token some put after it.

    Special-token parsing is off: a problem that holds "<|endoftext|>" stays text.
    """
    if not prompts:
        return []
    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in prompts]  # lone surrogates
    encoded: list[list[int]] = tokenizer(clean, split_special_tokens=True)["input_ids"]
    end = tokenizer.eos_token_id
    return [ids[:-1] if len(ids) > 1 and ids[-1] == end else ids for ids in encoded]


def encode_texts(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    """Ids of texts that follow a prompt: nothing added, special-token parsing off."""
    if not texts:
        return []
    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    encoded: list[list[int]] = tokenizer(clean, add_special_tokens=False, split_special_tokens=True)[
        "input_ids"
    ]
    return encoded


def end_ids(lm: Any, tokenizer: Any) -> frozenset[int]:
    """The ids that end a text: those of the generation settings, as for `generate`, else the tokenizer's."""
    given = getattr(lm.generation_config, "eos_token_id", None)
    if given is None:
        given = tokenizer.eos_token_id
    if given is None:
        return frozenset()
    return frozenset([given] if isinstance(given, int) else given)
