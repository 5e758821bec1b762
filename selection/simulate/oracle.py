"""The truth of practice problems, found by what a labeler sees: the problem's text and the steps."""

from functools import cache

from models_prm.practice import Oracle, PracticeSolution
from selection.demo.seed import SEED, SIZES
from selection.simulate.judgement import Truth


@cache
def _oracle(size: str) -> Oracle:
    wanted = SIZES[size]
    return Oracle.for_seed(SEED, wanted.problems, wanted.per_problem, wanted.gold)


def prepare() -> None:
    """Make the demo's content once, before several threads ask for it at the same time (some seconds)."""
    for size in SIZES:
        _oracle(size)


def _known(problem: str, steps: list[str]) -> PracticeSolution:
    for size in SIZES:
        if (found := _oracle(size).judge(problem, steps)) is not None:
            return found
    raise ValueError(f"simulated labelers know practice content only, not: {problem[:60]}")


def practice_oracle(problem: str, steps: list[str]) -> Truth:
    """Raises ValueError for a solution that the practice maker did not make."""
    known = _known(problem, steps)
    through = len(steps) if known.first_error is None else known.first_error + 1
    ratings = tuple(int(rating or 0) for rating in known.ratings[:through])
    return Truth(ratings, known.first_error, len(steps))
