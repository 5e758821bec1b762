"""A small world to search in: steps "good" and "bad" with known scores. Plain functions, no fixtures."""

from __future__ import annotations

import random
from collections.abc import Sequence

from models_prm.fakes import FakeProposer, FakeScorer
from models_prm.interfaces import Proposal
from models_prm.search import SearchProblem

PROBLEM = SearchProblem("p1", "What is 1 + 1?")


def judge(problem: str, steps: Sequence[str], index: int) -> float:
    """p(-1) of a step: the number after its last space, such as "step 0.25"; 0.1 without one."""
    word = steps[index].rpartition(" ")[2]
    try:
        return float(word)
    except ValueError:
        return 0.1


def scorer() -> FakeScorer:
    return FakeScorer(judge=judge)


def table(content: dict[tuple[str, ...], list[Proposal]]) -> FakeProposer:
    """Proposals by prefix, given in a circle; elsewhere every step is cut off."""

    def write(problem: str, steps: tuple[str, ...], k: int, seed: int) -> Proposal:
        row = content.get(steps, [cut("lost")])
        return row[k % len(row)]

    return FakeProposer(write=write)


def step(text: str) -> Proposal:
    return Proposal(text, False, False, 4)


def end(text: str) -> Proposal:
    return Proposal(text, True, False, 5)


def cut(text: str) -> Proposal:
    return Proposal(text, False, True, 9)


def rambler(depth: int = 4, width: int = 5) -> FakeProposer:
    """Random steps of `width` kinds with random scores; ends come at random, at `depth` at the latest."""

    def write(problem: str, steps: tuple[str, ...], k: int, seed: int) -> Proposal:
        rng = random.Random(f"{seed} {k} {steps}")
        text = f"s{rng.randrange(width)} {rng.choice(['0.05', '0.1', '0.3', '0.6'])}"
        kind = rng.random()
        if kind < 0.1:
            return cut(text)
        return end(text) if kind < 0.35 or len(steps) >= depth - 1 else step(text)

    return FakeProposer(write=write)
