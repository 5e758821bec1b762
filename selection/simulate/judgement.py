"""What a simulated labeler says about a solution whose truth is known. Pure: all chance comes from `rng`."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Truth:
    """The oracle's word: a rating for every step up to and with the first error (from 0; None: no error)."""

    ratings: tuple[int, ...]
    first_error: int | None
    n_steps: int


@dataclass(frozen=True)
class Habits:
    """How a labeler works. `accuracy`: the chance that a solution is judged as the oracle does."""

    accuracy: float = 0.95
    give_up: float = 0.0
    bad_problem: float = 0.0

    def __post_init__(self) -> None:
        for name in ("accuracy", "give_up", "bad_problem"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a chance between 0 and 1, not {getattr(self, name)}")


@dataclass(frozen=True)
class Judgement:
    ratings: tuple[int, ...]
    finish_reason: str
    note: str = ""


def judge(truth: Truth, habits: Habits, rng: Random, *, mode: str = "first_error") -> Judgement:
    """The whole judgement in one go; `mode` as in the project ("first_error" or "full")."""
    chance = rng.random()
    if chance < habits.give_up:
        return Judgement((), "give_up", "I cannot follow this one.")
    if chance < habits.give_up + habits.bad_problem:
        return Judgement((), "bad_problem", "The problem does not say enough.")
    first = truth.first_error if rng.random() < habits.accuracy else _mistaken(truth, rng)
    return _written(truth, first, mode)


def _mistaken(truth: Truth, rng: Random) -> int | None:
    """A natural mistake: the error missed, noticed late, or suspected in a good step. Never the truth."""
    ways: list[Callable[[], int | None]] = []
    error, last = truth.first_error, truth.n_steps - 1
    if error is None:
        ways.append(lambda: rng.randint(0, last))
    else:
        # Missing it is the commonest slip, so it stands twice.
        ways += [lambda: None, lambda: None]
        if error > 0:
            ways.append(lambda: error - 1)
        if error < last:
            ways.append(lambda: error + 1)
    return rng.choice(ways)()


def _written(truth: Truth, first: int | None, mode: str) -> Judgement:
    """The ratings that put the first -1 at `first`."""
    good = [rating if rating != -1 else 1 for rating in truth.ratings]
    good += [1] * (truth.n_steps - len(good))
    if first is None:
        return Judgement(tuple(good), "solution")
    # Steps that follow from a false value are bad too; only the full mode asks for them.
    rest = [-1] * (truth.n_steps - first - 1) if mode == "full" else []
    return Judgement((*good[:first], -1, *rest), "found_error")
