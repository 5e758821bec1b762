"""Digests by which texts, solutions and records are recognised again. Pure functions on plain data."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any


def text_hash(text: str) -> str:
    """The key of a problem: sha256 over its text with white space folded."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def steps_hash(steps: Sequence[str]) -> str:
    """The key of a solution's text: sha256 over its steps, white space folded, one a line."""
    folded = "\n".join(" ".join(step.split()) for step in steps)
    return hashlib.sha256(folded.encode()).hexdigest()


def record_hash(record: Mapping[str, Any], occurrence: int = 1) -> str:
    """The key of a judgement: sha256 over its record, whatever the order of keys.

    Judgements whose labeler and time are not known may be equal and yet be two people's work (PRM800K
    rebuilt from tables has 47 such): the second, third, ... `occurrence` then has a key of its own.
    """
    plain = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    suffix = "" if occurrence == 1 else f"#{occurrence}"
    return hashlib.sha256((plain + suffix).encode()).hexdigest()
