"""Made-up practice content: school problems whose solutions carry known, natural mistakes.

Everything is fixed by a seed and needs the standard library only.
"""

from models_prm.practice.maker import (
    GOLD_QUESTIONS,
    POOL_PROBLEMS,
    POOL_SAMPLES,
    make_gold,
    make_pool,
    make_problems,
)
from models_prm.practice.mistakes import CATALOGUE, Mistake
from models_prm.practice.oracle import Oracle
from models_prm.practice.records import PracticeSolution, Problem
from models_prm.practice.writer import write_jsonl

__all__ = [
    "CATALOGUE",
    "GOLD_QUESTIONS",
    "POOL_PROBLEMS",
    "POOL_SAMPLES",
    "Mistake",
    "Oracle",
    "PracticeSolution",
    "Problem",
    "make_gold",
    "make_pool",
    "make_problems",
    "write_jsonl",
]
