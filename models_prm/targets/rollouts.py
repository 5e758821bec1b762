"""Targets from Monte Carlo roll-outs: how often a generator that goes on from a prefix ends right.

Math-Shepherd (arXiv 2312.08935): hard label 1 if any roll-out is right, soft label their share. OmegaPRM
(arXiv 2406.06592): binary search for the first error. Roll-outs are judged by the answer grader, never by
looking for the answer's text. A right step that the generator cannot finish looks wrong, and a wrong step
with a lucky ending right: the record keeps every roll-out, so that this can be looked into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Literal

from models_prm.answers import GraderPool, extract_answer
from models_prm.errors import Cancelled, DataError
from models_prm.interfaces import Sampler
from models_prm.records import OnProgress, Progress, ShouldStop
from models_prm.sampling.prompts import FEW_SHOT_STOPS, Example, prefix_prompt
from models_prm.sampling.records import Sample, SampleRequest, sample_seed
from models_prm.steps import join_steps
from models_prm.targets.beta import beta_interval
from models_prm.targets.outcome import grade_all, graded
from models_prm.targets.plan import Plan, binary_plan, linear_plan
from models_prm.targets.records import Counts, PoolSolution, StepTargets


@dataclass(frozen=True)
class RolloutConfig:
    """`most`: roll-outs of a prefix; they come `batch` at a time until its value is decided.

    `labels` "hard": decided by the first right one; "soft": when the Beta interval (`level`) is narrower
    than `width`. `search` "linear": every prefix in order up to the first that no roll-out finishes right;
    "binary": bisection, its answer confirmed by the neighbours. `every_step`: label steps after the first
    error, too (linear only). A label whose interval is wider than `drop_wider` becomes None (soft only).
    `mixed_only`: leave out problems that the generator always solves from scratch; those it never solves
    are always left out.
    """

    most: int = 8
    batch: int = 4
    labels: Literal["hard", "soft"] = "hard"
    search: Literal["linear", "binary"] = "linear"
    every_step: bool = False
    level: float = 0.95
    width: float = 0.3
    drop_wider: float = 1.0
    mixed_only: bool = False
    max_tokens: int = 512
    temperature: float = 1.0
    seed: int = 0
    splitter: str = "newline"
    examples: tuple[Example, ...] = ()

    def __post_init__(self) -> None:
        if self.most < 1 or not 1 <= self.batch <= self.most or self.max_tokens < 1:
            raise DataError("most, batch and max_tokens must be at least 1, and batch at most most")
        if self.labels not in ("hard", "soft") or self.search not in ("linear", "binary"):
            raise DataError("labels must be hard or soft, search must be linear or binary")
        if self.search == "binary" and (self.labels == "soft" or self.every_step):
            raise DataError("binary search finds a first error: use hard labels and not every step")
        if not 0 < self.level < 1:
            raise DataError("the level must lie between 0 and 1")


@dataclass
class PrefixValue:
    """What is known of a prefix. `unknown`: roll-outs whose grade cannot be told; they count for nothing.

    `own`: the prefix is the whole solution, which states its answer: its grade is the value.
    """

    successes: int = 0
    failures: int = 0
    unknown: int = 0
    own: bool = False
    rollouts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def share(self) -> float | None:
        """Share of right ones, None when nothing is known."""
        known = self.successes + self.failures
        return self.successes / known if known else None

    def interval(self, level: float) -> tuple[float, float]:
        """The share's Beta interval; a point for a graded answer of its own."""
        if self.own:
            return float(self.successes), float(self.successes)
        return beta_interval(self.successes, self.failures, level)


class RolloutLabeler:
    """Labels solutions with a sampler and a grader. Values of equal prefixes of a problem are shared."""

    def __init__(self, sampler: Sampler, grader: GraderPool, config: RolloutConfig) -> None:
        self.sampler, self.grader, self.config = sampler, grader, config
        self.values: dict[tuple[str, tuple[str, ...]], PrefixValue] = {}
        self.tokens = 0

    def label(
        self,
        solutions: Iterable[PoolSolution],
        counts: Counts,
        *,
        window: int = 64,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Iterator[StepTargets]:
        """Rows in the order of the solutions, `window` of which are in work together.

        Left out and counted: solutions without steps or without a true answer, and those of problems that
        the generator never (with `mixed_only`: or always) solves from scratch.
        """
        stream, done = iter(solutions), 0
        while part := list(islice(stream, window)):
            usable = [s for s in part if self._usable(s, counts)]
            plans = {s.line: self._plan(s) for s in usable}
            while asked := self._questions(usable, plans):
                self._work(asked)
                if should_stop is not None and should_stop():
                    raise Cancelled(f"stopped after {done} solutions; the same call goes on from them")
            for solution in usable:
                targets = self._targets(solution, plans[solution.line], counts)
                if targets is not None:
                    yield targets
            done += len(part)
            # What later solutions may share: prefixes of the last problem only.
            self.values = {k: v for k, v in self.values.items() if k[0] == part[-1].key}
            if on_progress is not None:
                on_progress(Progress("targets", done, 0, f"{self.tokens} tokens"))

    def _usable(self, solution: PoolSolution, counts: Counts) -> bool:
        if not solution.steps or solution.truth is None:
            counts["no steps" if not solution.steps else "no true answer"] += 1
            return False
        if solution.finished and solution.answer is not None:
            right = solution.right
            if right is None:
                right = graded(self.grader, solution.answer, solution.truth)
            if right is None:
                counts["grade unknown"] += 1
                return False
            value = self._value(solution, len(solution.steps))
            value.own, value.successes, value.failures = True, int(right), int(not right)
        return True

    def _plan(self, solution: PoolSolution) -> Plan:
        if self.config.search == "binary":
            return binary_plan(len(solution.steps))
        return linear_plan(len(solution.steps), self.config.every_step)

    def _value(self, solution: PoolSolution, length: int) -> PrefixValue:
        key = (solution.key, solution.steps[:length])
        if length == len(solution.steps):
            # Another solution may go on from here: only this one ends here.
            key = (f"{solution.key}\x1f{solution.line}", solution.steps)
        return self.values.setdefault(key, PrefixValue())

    def _questions(
        self, solutions: Sequence[PoolSolution], plans: dict[int, Plan]
    ) -> list[tuple[PoolSolution, int, PrefixValue]]:
        """Prefixes that a plan asks about and that are not decided yet; plans with an answer move on."""
        asked: dict[int, tuple[PoolSolution, int, PrefixValue]] = {}
        for solution in solutions:
            plan = plans[solution.line]
            while (question := plan.question) is not None:
                value = self._value(solution, question.length)
                if not self._decided(value):
                    asked[id(value)] = (solution, question.length, value)
                    break
                plan.answer(self._solvable(value))
        return list(asked.values())

    def _decided(self, value: PrefixValue) -> bool:
        if value.own or len(value.rollouts) >= self.config.most:
            return True
        if self.config.labels == "hard":
            return value.successes > 0
        low, high = value.interval(self.config.level)
        return high - low <= self.config.width

    @staticmethod
    def _solvable(value: PrefixValue) -> bool:
        return value.successes > 0

    def _work(self, asked: list[tuple[PoolSolution, int, PrefixValue]]) -> None:
        """The next roll-outs of every prefix asked about, all together."""
        requests: list[SampleRequest] = []
        for place, (solution, length, value) in enumerate(asked):
            requests += self._requests(str(place), solution, length, len(value.rollouts))
        stops = FEW_SHOT_STOPS if self.config.examples else ()
        samples = self.sampler.sample(
            requests, max_tokens=self.config.max_tokens, temperature=self.config.temperature, stop=stops
        )
        done = sorted(samples, key=lambda s: (int(s.key), s.index))
        answers = [self._answer(*asked[int(sample.key)][:2], sample) for sample in done]
        truths = [asked[int(sample.key)][0].truth for sample in done]
        verdicts = grade_all(self.grader, list(zip(answers, truths, strict=True)))
        for sample, answer, right in zip(done, answers, verdicts, strict=True):
            self._take(asked[int(sample.key)][2], sample, answer, right)

    def _requests(self, key: str, solution: PoolSolution, length: int, done: int) -> list[SampleRequest]:
        c = self.config
        prefix = solution.steps[:length]
        prompt = prefix_prompt(solution.problem, prefix, c.examples, c.splitter)
        stream = "\x1f".join((solution.key, *prefix))
        return [
            SampleRequest(key, prompt, index, sample_seed(c.seed, stream, index))
            for index in range(done, min(c.most, done + c.batch))
        ]

    def _answer(self, solution: PoolSolution, length: int, sample: Sample) -> str | None:
        """What a roll-out answers. One that was cut off has no answer: it did not get there."""
        text = join_steps([*solution.steps[:length], sample.text], self.config.splitter)
        return extract_answer(text) if sample.finish == "stop" else None

    def _take(self, value: PrefixValue, sample: Sample, answer: str | None, right: bool | None) -> None:
        self.tokens += sample.tokens
        value.successes += right is True
        value.failures += right is False
        value.unknown += right is None
        value.rollouts.append(
            {
                "index": sample.index,
                "seed": sample.seed,
                "text": sample.text,
                "finish": sample.finish,
                "tokens": sample.tokens,
                "answer": answer,
                "right": right,
            }
        )

    def _targets(self, solution: PoolSolution, plan: Plan, counts: Counts) -> StepTargets | None:
        scratch = self._value(solution, 0)
        if not self._solvable(scratch):
            counts["problem never solved"] += 1
            return None
        if self.config.mixed_only and not scratch.failures:
            counts["problem always solved"] += 1
            return None
        counts["labelled"] += 1
        counts["not monotone"] += not plan.monotone
        labels = [self._label(solution, plan, length) for length in range(1, len(solution.steps) + 1)]
        record = {
            "generator": self.sampler.name,
            "config": {k: v for k, v in asdict(self.config).items() if k != "examples"},
            "examples": len(self.config.examples),
            "first_error": plan.first_error,
            "monotone": plan.monotone,
            "prefixes": [self._evidence(solution, length) for length in sorted(plan.asked)],
        }
        return StepTargets(solution, tuple(labels), f"rollouts/{self.config.labels}", record)

    def _label(self, solution: PoolSolution, plan: Plan, length: int) -> float | None:
        first = plan.first_error
        if first is not None and length - 1 > first and not self.config.every_step:
            return None
        if self.config.search == "binary":
            return float(first is None or length - 1 < first)
        value = self._value(solution, length)
        if value.share is None or length not in plan.asked:
            return None
        if self.config.labels == "hard":
            return float(value.successes > 0)
        low, high = value.interval(self.config.level)
        return value.share if high - low <= self.config.drop_wider else None

    def _evidence(self, solution: PoolSolution, length: int) -> dict[str, Any]:
        value = self._value(solution, length)
        return {
            "steps": length,
            "successes": value.successes,
            "failures": value.failures,
            "unknown": value.unknown,
            "own_answer": value.own,
            "interval": list(value.interval(self.config.level)),
            "rollouts": value.rollouts,
        }
