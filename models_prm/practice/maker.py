"""Makes problems, pools of solutions and gold questions, all fixed by a seed."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from random import Random
from typing import Final

from models_prm.practice import topics as _all_topics  # noqa: F401  (registers the templates)
from models_prm.practice.records import PracticeSolution, Problem
from models_prm.practice.solutions import (
    ATTEMPTS,
    Aim,
    instance_of,
    make_solution,
    normal_text,
    run,
    set_steps,
)
from models_prm.practice.template import TEMPLATES
from models_prm.practice.wording import price

POOL_PROBLEMS: Final = 200
POOL_SAMPLES: Final = 10
GOLD_QUESTIONS: Final = 80
RIGHT_SHARE: Final = {1: 0.8, 2: 0.7, 3: 0.56, 4: 0.42, 5: 0.3}
"""Mean share of solutions with the right answer, by level; each problem varies around it."""
LUCKY_SHARE: Final = 0.11
"""Share of the solutions with a wrong step that are to reach the right answer all the same."""


def make_problems(n: int, seed: int) -> list[Problem]:
    """n different problems spread evenly over all templates and topics."""
    return _problems(n, f"pool.{seed}", half=0)


def make_pool(problems: Sequence[Problem], per_problem: int, seed: int) -> list[PracticeSolution]:
    """`per_problem` different solutions of every problem, in the order of the problems."""
    used: Counter[str] = Counter()
    return [solution for problem in problems for solution in _samples(problem, per_problem, seed, used)]


def make_gold(n: int, seed: int) -> list[tuple[Problem, PracticeSolution]]:
    """n gold questions on problems that no pool of any seed holds.

    Three of ten are right throughout, six have a wrong answer, one a wrong step and the right
    answer; the mistakes are spread as evenly as the problems allow.
    """
    used: Counter[str] = Counter()
    gold = []
    for i, problem in enumerate(_problems(n, f"gold.{seed}", half=1)):
        aim: Aim = ("right", "wrong", "wrong", "lucky", "wrong", "right", "wrong", "wrong", "right", "wrong")[
            i % 10
        ]
        solution = make_solution(problem, aim, f"gold.{seed}.{i}", i, used)
        if solution.mistake:
            used[solution.mistake] += 1
        gold.append((problem, solution))
    return gold


# Problems.


def _problems(n: int, seed: str, half: int) -> list[Problem]:
    """Problems whose text falls into one half of all texts, so that pool and gold never meet."""
    made: dict[str, Problem] = {}
    rng = Random(f"order.{seed}")
    number = 0
    while len(made) < n:
        for name in _shuffled(rng):
            problem = _fresh(name, seed, number, half, made)
            number += 1
            if problem and len(made) < n:
                made[problem.text] = problem
    return list(made.values())


def _shuffled(rng: Random) -> list[str]:
    """All template names, topics taking turns, so that any prefix covers them evenly."""
    by_topic: dict[str, list[str]] = defaultdict(list)
    for name in sorted(TEMPLATES):
        by_topic[TEMPLATES[name].topic].append(name)
    for names in by_topic.values():
        rng.shuffle(names)
    turns = sorted(
        ((i + 0.5) / len(names), topic, name)
        for topic, names in by_topic.items()
        for i, name in enumerate(names)
    )
    return [name for _, _, name in turns]


def _fresh(name: str, seed: str, number: int, half: int, made: dict[str, Problem]) -> Problem | None:
    for attempt in range(ATTEMPTS):
        key = f"{name}.{seed}.{number}.{attempt}"
        problem = _problem(key)
        if _half(problem.text) == half and problem.text not in made:
            return problem
    return None


def _problem(key: str) -> Problem:
    instance = instance_of(key)
    style = Random(f"style.{key}").choice(("bare", "escaped", "math"))
    pen = run(instance, f"reference.{key}")
    assert pen is not None, key
    steps = set_steps(pen, plain=True)
    return Problem(key, instance.topic, instance.level, price(instance.text(), style), pen.answer, steps)


def _half(text: str) -> int:
    letters = "".join(c for c in text if c.isalnum())  # the same however prices are set
    return hashlib.sha256(letters.encode()).digest()[0] % 2


# Solutions.


def _samples(problem: Problem, count: int, seed: int, used: Counter[str]) -> list[PracticeSolution]:
    rng = Random(f"samples.{seed}.{problem.key}")
    share = RIGHT_SHARE[problem.level] + rng.uniform(-0.15, 0.15)
    clean = (share - LUCKY_SHARE) / (1 - LUCKY_SHARE)
    found: dict[str, PracticeSolution] = {}
    for attempt in range(ATTEMPTS):
        roll = rng.random()
        aim: Aim = "right" if roll < clean else ("lucky" if rng.random() < LUCKY_SHARE else "wrong")
        solution = make_solution(problem, aim, f"{seed}.{problem.key}.{attempt}", len(found), used)
        if found.setdefault(normal_text(solution.steps), solution) is solution and solution.mistake:
            used[solution.mistake] += 1
        if len(found) == count:
            break
    return list(found.values())
