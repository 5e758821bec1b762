"""The truth of practice problems, found by what a labeler sees: the problem's text and the steps."""

from functools import cache

from models_prm.practice import Oracle
from selection.simulate.judgement import Truth


@cache
def _oracle() -> Oracle:
    return Oracle()


def practice_oracle(problem: str, steps: list[str]) -> Truth:
    """Raises KeyError for a solution that the practice maker did not make."""
    known = _oracle().judge(problem, steps)
    through = len(steps) if known.first_error is None else known.first_error + 1
    ratings = tuple(int(rating or 0) for rating in known.ratings[:through])
    return Truth(ratings, known.first_error, len(steps))
