"""Token ids of a text in which some parts are ours (marks, templates) and the rest is what people wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models_prm.errors import ModelError


def plain_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Ids of each text, nothing added; what looks like a special token stays ordinary text."""
    if not texts:
        return []
    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    ids: list[list[int]] = tokenizer(
        clean, add_special_tokens=False, split_special_tokens=True, return_attention_mask=False
    )["input_ids"]
    return ids


@dataclass(frozen=True)
class Run:
    """A stretch of ids between two special tokens, or one special token: `ids[start:end]`.

    `text`: the special token; `fields`: names of the contents inside an ordinary stretch.
    """

    start: int
    end: int
    text: str
    fields: tuple[str, ...]


class Template:
    """A chat template whose contents are put in as ids, so that they can imitate no special token.

    Between two special tokens the template's own words and the contents are tokenized together, as the
    plain way would; the ids differ from it only where a content holds the text of a special token.
    """

    def __init__(self, tokenizer: Any) -> None:
        """Raises ModelError for a tokenizer without a chat template."""
        if not tokenizer.chat_template:
            raise ModelError("the tokenizer has no chat template: is this the right kind of model?")
        self.tokenizer = tokenizer
        names = sorted(
            (str(token) for token in tokenizer.added_tokens_decoder.values()), key=len, reverse=True
        )
        self._special = re.compile("|".join(map(re.escape, names))) if names else re.compile("(?!)")
        probe = tokenizer.apply_chat_template([{"role": "user", "content": " x "}], tokenize=False)
        self._trims = " x " not in probe

    def ids(
        self, messages: Sequence[tuple[str, Sequence[str]]], contents: Mapping[str, str]
    ) -> tuple[list[int], list[Run]]:
        """Ids and runs of a conversation.

        A message is (role, parts); a part is the name of one of `contents` or a special token. Special tokens
        inside parts are put in as they are.
        """
        holders = {name: f"\ue000{number}\ue001" for number, name in enumerate(contents)}
        names = {holder: name for name, holder in holders.items()}
        rendered = self.tokenizer.apply_chat_template(
            [{"role": r, "content": "".join(holders.get(p, p) for p in parts)} for r, parts in messages],
            tokenize=False,
        )
        values = {n: c.strip() if self._trims else c for n, c in contents.items()}
        runs: list[tuple[str, bool]] = []
        position = 0
        for match in self._special.finditer(rendered):
            runs += [(rendered[position : match.start()], False), (match.group(), True)]
            position = match.end()
        runs.append((rendered[position:], False))
        runs = [run for run in runs if run[0]]
        holder = re.compile("\ue000\\d+\ue001")
        texts = [
            holder.sub(lambda m: values[names[m.group()]], text) for text, special in runs if not special
        ]
        encoded = iter(plain_ids(self.tokenizer, texts))
        ids: list[int] = []
        result: list[Run] = []
        for text, special in runs:
            start = len(ids)
            ids += [self.tokenizer.convert_tokens_to_ids(text)] if special else next(encoded)
            fields = () if special else tuple(names[h] for h in holder.findall(text))
            result.append(Run(start, len(ids), text if special else "", fields))
        return ids, result
