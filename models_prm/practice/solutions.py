"""Writes single solutions: right, wrong, or wrong on the way and right in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from models_prm.practice.latex import DeadEndError
from models_prm.practice.mistakes import CATALOGUE
from models_prm.practice.pen import ACCEPTED, Pen
from models_prm.practice.records import PracticeSolution, Problem
from models_prm.practice.template import TEMPLATES, Template
from models_prm.practice.wording import fence, price, set_step

Aim = Literal["right", "wrong", "lucky"]
NEUTRAL_SHARE: Final = 0.18
ATTEMPTS: Final = 60


def instance_of(problem_key: str) -> Template:
    """The template instance that a key stands for. Raises KeyError for an unknown template."""
    return TEMPLATES[problem_key.partition(".")[0]].draw(Random(problem_key))


def normal_text(steps: Sequence[str]) -> str:
    """The steps with all white space removed, kept apart: equal for solutions that read alike."""
    return "\x1f".join("".join(step.split()) for step in steps)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A written solution before it is set: the pen, and the lines that replace its own, if any."""

    pen: Pen
    mended: bool = False


def make_solution(problem: Problem, aim: Aim, seed: str, index: int, used: Counter[str]) -> PracticeSolution:
    """One solution with the wanted outcome; where a problem allows none, the nearest to it."""
    rng = Random(f"solution.{seed}")
    instance = instance_of(problem.key)
    for attempt in range(ATTEMPTS):
        style = f"{seed}.{attempt}"
        scout = run(instance, style)
        assert scout is not None
        neutral = rng.randrange(scout.neutral_places) if rng.random() < NEUTRAL_SHARE else None
        if aim == "right":
            pen = run(instance, style, neutral_at=neutral)
            if pen is not None:
                return _finished(problem, _Draft(pen), index)
            continue
        place = _place(scout.places, rng, used, aim)
        draft = _erring(problem, aim, style, slip_at=place, neutral_at=neutral)
        if draft is not None:
            return _finished(problem, draft, index)
    return make_solution(problem, "wrong" if aim == "lucky" else "right", seed, index, used)


def _place(places: list[str], rng: Random, used: Counter[str], aim: Aim) -> int:
    """A place to slip, the likelier the rarer its mistake was so far.

    Slips of the pen count a third; but a solution that is to reach the right answer all the same
    needs a slip that can be mended, or equals signs strung together.
    """
    names = sorted(set(places))
    if aim == "lucky":
        names = [name for name in names if CATALOGUE[name].local or name == "running_equals"] or names
    weights = [(1 if CATALOGUE[name].local else 3) / (1 + used[name]) ** 2 for name in names]
    name = rng.choices(names, weights)[0]
    return rng.choice([i for i, other in enumerate(places) if other == name])


def _erring(problem: Problem, aim: Aim, style: str, *, slip_at: int, neutral_at: int | None) -> _Draft | None:
    instance = instance_of(problem.key)
    pen = run(instance, style, slip_at=slip_at, neutral_at=neutral_at)
    if pen is None or pen.error is None:
        return None
    if (pen.answer == problem.answer) == (aim == "lucky"):
        return _Draft(pen)
    if aim == "lucky" and CATALOGUE[pen.places[slip_at]].local:
        return _mended(pen, run(instance, style, neutral_at=neutral_at))
    return None


def _mended(slipped: Pen, clean: Pen | None) -> _Draft | None:
    """The slip stays on paper in its step, and all later steps go on with the right value."""
    error = slipped.error
    if clean is None or error is None or len(clean.lines) != len(slipped.lines):
        return None
    if error + 1 == len(clean.lines) or clean.lines[error] == slipped.lines[error]:
        return None
    slipped.lines[error + 1 :] = clean.lines[error + 1 :]
    slipped.answer = clean.answer
    return _Draft(slipped, mended=True)


def run(
    instance: Template, seed: str, slip_at: int | None = None, neutral_at: int | None = None
) -> Pen | None:
    """Write one derivation; None where it cannot go on or becomes too short or too long."""
    pen = Pen(seed, slip_at=slip_at, neutral_at=neutral_at)
    try:
        instance.solve(pen)
    except DeadEndError:
        return None
    return pen if 3 <= len(pen.lines) <= 9 else None


# Setting and judging.


def set_steps(pen: Pen, *, plain: bool = False) -> tuple[str, ...]:
    """The steps in the style that the pen's seed chooses (or in the plain style)."""
    rare, often = (True, *[False] * 7), (True, False, False)
    chances = {"bare": often, "brackets": rare, "dot": often, "alone": often}
    bare, brackets, dot, alone = (not plain and pen.choose(tag, chance) for tag, chance in chances.items())
    steps = [set_step(line.text, bare=bare, brackets=brackets, dot=dot, alone=alone) for line in pen.lines]
    if pen.numbered and not plain:
        steps = [f"Step {i}: {step}" for i, step in enumerate(steps, start=1)]
    return tuple(steps)


def _finished(problem: Problem, draft: _Draft, index: int) -> PracticeSolution:
    pen = draft.pen
    end = len(pen.lines) if pen.error is None else pen.error
    truth: list[int | None] = [0 if line.kind == "neutral" else 1 for line in pen.lines[:end]]
    accepted = [ACCEPTED[line.kind] for line in pen.lines[:end]]
    mistake = None
    if pen.error is not None:
        mistake = pen.places[pen.slip_at] if pen.slip_at is not None else None
        truth += [-1] + [None] * (len(pen.lines) - end - 1)
        accepted.append((-1,))
    return PracticeSolution(
        problem_key=problem.key,
        sample_index=index,
        steps=set_steps(pen),
        answer=pen.answer,
        ratings=tuple(truth),
        accepted=tuple(accepted),
        first_error=pen.error,
        mistake=mistake,
        explanation=_explain(problem, draft),
    )


def _explain(problem: Problem, draft: _Draft) -> str:
    pen = draft.pen
    last = len(pen.lines)
    if pen.error is None:
        neutral = [i for i, line in enumerate(pen.lines, start=1) if line.kind == "neutral"]
        note = f" Step {neutral[0]} only restates or pauses, so good and okay both count." if neutral else ""
        return (
            f"All {last} steps are right, and step {last} gives the answer asked for, ${pen.answer}$.{note}"
        )
    why = fence(price(pen.reason, "escaped"))
    text = f"Step {pen.error + 1} is wrong: {why}"
    if draft.mended:
        return (
            f"{text} The later steps go on with the right value, so the final answer is right all the same."
        )
    if pen.answer == problem.answer:
        return f"{text} The final answer is right all the same."
    return text
