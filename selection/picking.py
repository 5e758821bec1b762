"""The picking rule: which solutions are most worth a person's judgement. Pure; no database, clock or network.

    picks = pick(candidates, PickRule("convincing_wrong", size=600, random_share=0.02, seed=7))

The rule of arXiv 2305.20050 (section 4.1): most of the batch are convincing wrong answers (final answer
wrong, highest score), the rest the most convincing of what is left. A stated slice is drawn at random from
everything, so that estimates without the rule's bias stay possible. Same candidates, rule and seed give the
same picks, whatever order the candidates come in.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

Grade = Literal["right", "wrong", "unknown"]
Strategy = Literal["convincing_wrong", "uniform", "random_wrong", "uncertainty"]
Cause = Literal[
    "convincing_wrong",
    "most_convincing",
    "random_slice",
    "uniform",
    "random_wrong",
    "uncertain",
    # What a blind comparison judges (selection/comparison.py).
    "prm_choice",
    "orm_choice",
    "vote_choice",
]

STRATEGIES: tuple[str, ...] = get_args(Strategy)
NEEDS_SCORES = frozenset({"convincing_wrong", "uncertainty"})


class PickingError(ValueError):
    """A rule that cannot be followed; the message says what to change."""


@dataclass(frozen=True)
class Candidate:
    """A solution as the rule sees it. `score` is None where no model scored it; `is_labeled` means that it is
    labeled, queued or a gold question already."""

    solution_id: int
    problem_id: int
    grade: str
    score: float | None
    text_hash: str
    is_labeled: bool = False
    split: str = "train"


@dataclass(frozen=True)
class PickRule:
    """`size`: picks overall. `per_problem`: with a size the most that one problem may give, without one the
    number wanted of every problem. `wrong_share` of the size are convincing wrong answers, `random_share` the
    random slice, which is taken out of the rest's share first."""

    strategy: str = "convincing_wrong"
    size: int | None = None
    per_problem: int | None = None
    wrong_share: float = 0.8
    random_share: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise PickingError(f"no strategy {self.strategy!r}: choose one of {', '.join(STRATEGIES)}")
        if self.size is None and self.per_problem is None:
            raise PickingError("say how many: a size, a number per problem, or both")
        if (self.size is not None and self.size < 1) or (
            self.per_problem is not None and self.per_problem < 1
        ):
            raise PickingError("size and number per problem must be at least 1")
        if not (0 <= self.wrong_share <= 1 and 0 <= self.random_share <= 1):
            raise PickingError("shares must lie between 0 and 1")


@dataclass(frozen=True)
class Picked:
    """A pick, why, and its rank (from 1) by score among the `of` candidates of its problem."""

    solution_id: int
    cause: Cause
    rank: int
    of: int
    score: float | None


@dataclass
class _Batch:
    """Picks in the making: keeps each problem under its cap and every text unique within its problem."""

    cap: int | None
    causes: dict[int, Cause] = field(default_factory=dict)
    per_problem: Counter[int] = field(default_factory=Counter)
    texts: set[tuple[int, str]] = field(default_factory=set)

    def take(self, ordered: Iterable[Candidate], wanted: int, cause: Cause) -> int:
        """Take up to `wanted` of the candidates, best first; how many were taken."""
        before = len(self.causes)
        for one in ordered:
            if len(self.causes) - before >= wanted:
                break
            full = self.cap is not None and self.per_problem[one.problem_id] >= self.cap
            if full or (one.problem_id, one.text_hash) in self.texts:
                continue
            self.causes[one.solution_id] = cause
            self.per_problem[one.problem_id] += 1
            self.texts.add((one.problem_id, one.text_hash))
        return len(self.causes) - before


def pick(candidates: Iterable[Candidate], rule: PickRule) -> list[Picked]:
    """The batch, in an order drawn by the seed: a batch that is closed early is still a fair part of it."""
    everyone = sorted(candidates, key=lambda one: one.solution_id)
    batch = _Batch(cap=rule.per_problem)
    free = eligible(everyone)
    if rule.size is not None:
        _fill(batch, free, rule, rule.size, split=_rounded)
    elif rule.per_problem is not None:
        for problem_id, group in _by_problem(free).items():
            split = _drawn_split(rule.seed, problem_id)
            _fill(batch, group, rule, rule.per_problem, split=split, salt=str(problem_id))
    ranks = _ranks(everyone)
    picks = [Picked(key, cause, *ranks[key]) for key, cause in sorted(batch.causes.items())]
    _draw(rule.seed, "order").shuffle(picks)
    return picks


def eligible(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without test problems, and without every text that is labeled already in any copy."""
    labeled = {(c.problem_id, c.text_hash) for c in candidates if c.is_labeled}
    return [c for c in candidates if c.split != "test" and (c.problem_id, c.text_hash) not in labeled]


Split = Callable[[float, str], int]


def _fill(
    batch: _Batch, free: Sequence[Candidate], rule: PickRule, size: int, *, split: Split, salt: str = ""
) -> None:
    """Add `size` picks from `free` (fewer when there are not enough), the random slice first."""
    shuffled = _shuffled(free, rule.seed, f"slice:{salt}")
    n_random = min(size, split(rule.random_share * size, "random"))
    rest = size - batch.take(shuffled, n_random, "random_slice")
    if rule.strategy == "uniform":
        batch.take(shuffled, rest, "uniform")
    elif rule.strategy == "random_wrong":
        batch.take((c for c in shuffled if c.grade == "wrong"), rest, "random_wrong")
    elif rule.strategy == "uncertainty":
        batch.take(_scored(free, key=lambda score: abs(score - 0.5)), rest, "uncertain")
    else:
        convincing = list(_scored(free, key=lambda score: -score))
        n_wrong = min(rest, split(rule.wrong_share * size, "wrong"))
        wrong = (c for c in convincing if c.grade == "wrong")
        rest -= batch.take(wrong, n_wrong, "convincing_wrong")
        # Too few wrong answers leave their places to the rest; a grade that is not known is never "wrong".
        batch.take(convincing, rest, "most_convincing")


def _rounded(share: float, _salt: str) -> int:
    return math.floor(share + 0.5)


def _drawn_split(seed: int, problem_id: int) -> Split:
    """Whole picks, right on average over problems: 0.8 of 2 is 2 for six of ten problems, else 1."""

    def split(share: float, salt: str) -> int:
        whole = math.floor(share + 1e-9)
        return whole + (_draw(seed, f"{salt}:{problem_id}").random() < share - whole)

    return split


def _scored(free: Sequence[Candidate], key: Callable[[float], float]) -> Iterator[Candidate]:
    """Scored candidates by a key of their score; ties by identifier."""
    known = [(key(c.score), c.solution_id, c) for c in free if c.score is not None and math.isfinite(c.score)]
    yield from (candidate for _, _, candidate in sorted(known, key=lambda row: row[:2]))


def _shuffled(free: Sequence[Candidate], seed: int, purpose: str) -> list[Candidate]:
    """Every sample has the same chance, so a text sampled twice is twice as likely, as in the pool."""
    result = list(free)
    _draw(seed, purpose).shuffle(result)
    return result


def _by_problem(candidates: Sequence[Candidate]) -> dict[int, list[Candidate]]:
    groups: dict[int, list[Candidate]] = defaultdict(list)
    for one in candidates:
        groups[one.problem_id].append(one)
    return dict(sorted(groups.items()))


def _ranks(everyone: Sequence[Candidate]) -> dict[int, tuple[int, int, float | None]]:
    """(rank, of, score) of every solution; those without a score come last."""
    result: dict[int, tuple[int, int, float | None]] = {}
    for group in _by_problem(everyone).values():
        best_first = list(_scored(group, key=lambda score: -score))
        known = {c.solution_id for c in best_first}
        ordered = best_first + [c for c in group if c.solution_id not in known]
        for rank, one in enumerate(ordered, start=1):
            score = one.score if one.solution_id in known else None
            result[one.solution_id] = (rank, len(group), score)
    return result


def _draw(seed: int, purpose: str) -> random.Random:
    """A stream of its own for every purpose: seeding with text is the same on every machine and run."""
    return random.Random(f"stepmark:{seed}:{purpose}")
