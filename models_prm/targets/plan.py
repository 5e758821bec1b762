"""Which prefixes of a solution to ask about, and in what order. Pure: answers in, questions out.

A prefix of `length` steps is solvable when some roll-out from it ends right. The first error is the first
step (from 0) whose prefix is not solvable although the one before it is.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Question:
    """Is the prefix of this many steps solvable?"""

    length: int


@dataclass
class Plan:
    """A line of questions. `question` is the next one, None at the end; `answer` moves on.

    `first_error`: index of the step, None for none. `monotone`: False when a prefix was solvable after one
    that was not, so that "first error" is a matter of luck. `asked`: all answers by length.
    """

    script: Generator[int, bool, int | None]
    asked: dict[int, bool] = field(default_factory=dict)
    question: Question | None = None
    first_error: int | None = None

    def __post_init__(self) -> None:
        self._move(None)

    @property
    def monotone(self) -> bool:
        """Whether no solvable prefix follows one that is not."""
        known = [self.asked[length] for length in sorted(self.asked)]
        return known == sorted(known, reverse=True)

    def answer(self, solvable: bool) -> None:
        """Answer the question; one that was asked before is answered by itself."""
        assert self.question is not None
        self.asked[self.question.length] = solvable
        self._move(solvable)

    def _move(self, answer: bool | None) -> None:
        try:
            length = next(self.script) if answer is None else self.script.send(answer)
            while length in self.asked:
                length = self.script.send(self.asked[length])
            self.question = Question(length)
        except StopIteration as end:
            self.question, self.first_error = None, end.value


def linear_plan(steps: int, every_step: bool = False) -> Plan:
    """Every prefix in order, from the problem itself, up to the first error (or to the end)."""
    return Plan(_linear(steps, every_step))


def binary_plan(steps: int) -> Plan:
    """Bisection for the first error, confirmed by its neighbours; about log2(steps) + 2 questions."""
    return Plan(_binary(steps))


def _linear(steps: int, every_step: bool) -> Generator[int, bool, int | None]:
    if not (yield 0):
        return 0
    first = None
    for length in range(1, steps + 1):
        if not (yield length) and first is None:
            first = length - 1
            if not every_step:
                break
    return first


def _binary(steps: int) -> Generator[int, bool, int | None]:
    """Bisection needs that solvable prefixes come before all others. It cannot know, so it asks about the
    neighbours of what it found; where the next longer prefix is solvable after all, it searches on behind it.
    """
    if not (yield 0):
        return 0
    good = 0
    while good < steps:
        low, high = good, steps + 1  # low is solvable; high is not, or stands behind the end
        while high - low > 1:
            middle = (low + high) // 2
            if (yield middle):
                low = middle
            else:
                high = middle
        if high > steps:
            if steps > 1:
                yield steps - 1
            return None
        if high == steps or not (yield high + 1):
            return high - 1
        good = high + 1
    return None
