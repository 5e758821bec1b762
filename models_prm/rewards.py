"""Step scores as a reward for reinforcement learning, in the shape that TRL's GRPO trainer takes.

    reward = StepReward(PrmScorer.load("var/models/tiny"), form="minimum")
    GRPOTrainer(model, reward_funcs=reward, ...)

Summing step scores is the naive way: a solution earns more by having more steps, so a policy learns to pad.
The minimum form (PURE, arXiv 2504.15275) pays for the worst step only; the clipped form (arXiv 2410.15115)
pays nothing for a step that is good enough and charges for one that is not, so neither is raised by another
easy step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

from models_prm.aggregate import Neutral, step_scores
from models_prm.interfaces import StepScorer
from models_prm.records import ScoringItem, StepScores
from models_prm.steps import split_steps
from models_prm.watch import Watch

Form = Literal["sum", "minimum", "clipped"]
FORMS: tuple[Form, ...] = ("sum", "minimum", "clipped")


def step_returns(scores: Sequence[float], form: Form, threshold: float = 0.5) -> list[float]:
    """Return of each step, from it to the end: entry i is what the solution still earns from step i on.

    sum: all scores; minimum: the lowest of them; clipped: the sum of min(score - threshold, 0). The first
    entry is the reward of the whole solution. Raises ValueError for another form.
    """
    backward = list(reversed(scores))
    if form == "sum":
        values = list(accumulate(backward))
    elif form == "minimum":
        values = list(accumulate(backward, min))
    elif form == "clipped":
        values = list(accumulate(min(score - threshold, 0.0) for score in backward))
    else:
        raise ValueError(f"no form {form!r} of return: choose one of {', '.join(FORMS)}")
    return values[::-1]


def text_of(message: Any) -> str:
    """The text of a prompt or completion: as it is, or of the last message of a conversation."""
    return message if isinstance(message, str) else str(message[-1]["content"])


@dataclass
class StepReward:
    """A reward function for TRL: called with `prompts`, `completions` and the data set's columns.

    The problem is the column `problem` where there is one, else the prompt (through `problem_of`). A
    completion is cut into steps by `splitter`. `threshold` belongs to the clipped form. A completion
    without a step earns `empty`; one whose steps do not all fit into the scorer's context earns None, which
    TRL leaves out. With a `watch` and a `grade` (prompt, completion, columns) -> right, wrong or None,
    every call writes a line to the watch's log.

    `last`: returns of the steps of each completion of the latest call, for a trainer that pays step by step.
    """

    scorer: StepScorer
    form: Form = "minimum"
    neutral: Neutral = "good"
    threshold: float = 0.5
    splitter: str = "newline"
    empty: float = -1.0
    batch_tokens: int = 8192
    problem_of: Callable[[Any], str] = text_of
    watch: Watch | None = None
    grade: Callable[[Any, Any, dict[str, Any]], bool | None] | None = None
    last: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        step_returns([], self.form, self.threshold)
        self.__name__ = f"prm_{self.form}"  # TRL names a reward in its log by this

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """One reward per completion, in order."""
        problems = columns.get("problem") or [self.problem_of(prompt) for prompt in prompts]
        items = [
            ScoringItem(str(i), problem, tuple(split_steps(text_of(completion), self.splitter)))
            for i, (problem, completion) in enumerate(zip(problems, completions, strict=True))
        ]
        found = {result.key: result for result in self.scorer.score(items, batch_tokens=self.batch_tokens)}
        results = [found[item.key] for item in items]
        self.last = [
            step_returns(step_scores(r.probs, self.neutral), self.form, self.threshold) for r in results
        ]
        rewards = [
            None if result.dropped else returns[0] if returns else self.empty
            for result, returns in zip(results, self.last, strict=True)
        ]
        self._note(prompts, completions, columns, rewards, results)
        return rewards

    def _note(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        columns: dict[str, Any],
        rewards: Sequence[float | None],
        results: Sequence[StepScores],
    ) -> None:
        if self.watch is None:
            return
        grades: list[bool | None] = [None] * len(prompts)
        if self.grade is not None:
            rows = [{k: v[i] for k, v in columns.items() if isinstance(v, list)} for i in range(len(prompts))]
            grades = [self.grade(*each) for each in zip(prompts, completions, rows, strict=True)]
        state = columns.get("trainer_state")
        self.watch.write(
            step=None if state is None else int(state.global_step),
            rewards=rewards,
            grades=grades,
            steps=[len(r.probs) + r.dropped for r in results],
        )
