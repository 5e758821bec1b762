"""Many problems searched together: their questions to the models are asked in common batches.

    for record in search_many(problems, proposer, scorer, BeamConfig(n=16), together=16): ...

Each search runs in a thread of its own and stops at each question; when all stand, the questions go to the
models at once, in this thread. Since every proposal has a seed of its own, a record is what the search alone
would have left (but for rounding in models whose results depend on the batch).
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from models_prm.errors import Cancelled, SearchError
from models_prm.interfaces import Proposal, StepProposer, StepScorer
from models_prm.records import OnProgress, ScoringItem, StepScores
from models_prm.search.records import SearchConfig, SearchProblem, SearchRecord

Prefixes = Sequence[tuple[str, tuple[str, ...]]]
Search = Callable[[SearchProblem, StepProposer, StepScorer, SearchConfig], SearchRecord]


def search_many(
    problems: Iterable[SearchProblem],
    proposer: StepProposer,
    scorer: StepScorer,
    config: SearchConfig,
    *,
    together: int = 8,
) -> Iterator[SearchRecord]:
    """Records in the order of the problems; `together` of them are in work at a time.

    Raises what a search raises; the others then end, too.
    """
    from models_prm.search import search

    if together < 1:
        raise SearchError("together must be at least 1")
    stream = iter(problems)
    desk = _Desk(proposer, scorer)
    running: deque[Future[SearchRecord]] = deque()
    with ThreadPoolExecutor(together, thread_name_prefix="search") as pool:
        try:
            while True:
                for problem in islice(stream, together - len(running)):
                    desk.begin()
                    running.append(pool.submit(desk.run, search, problem, config))
                if not running:
                    return
                desk.serve()
                while running and running[0].done():
                    yield running.popleft().result()
        finally:
            desk.close()


@dataclass
class _Question:
    """A question of one search: what to ask, and where the answer goes."""

    kind: str
    content: Any
    answer: Future[Any] = field(default_factory=Future)


class _Desk:
    """Where the searches leave their questions. It stands in for both models."""

    def __init__(self, proposer: StepProposer, scorer: StepScorer) -> None:
        self.proposer, self.scorer = proposer, scorer
        self._changed = threading.Condition()
        self._live = 0
        self._waiting: list[_Question] = []
        self._closed = False

    def begin(self) -> None:
        """One more search is on its way."""
        with self._changed:
            self._live += 1

    def run(self, search: Search, problem: SearchProblem, config: SearchConfig) -> SearchRecord:
        """A search, in a thread of its own."""
        try:
            return search(problem, _Proposer(self), _Scorer(self), config)
        finally:
            with self._changed:
                self._live -= 1
                self._changed.notify_all()

    def ask(self, kind: str, content: Any) -> Any:
        """Leave a question and wait for its answer."""
        question = _Question(kind, content)
        with self._changed:
            if self._closed:
                raise Cancelled("the searches were stopped")
            self._waiting.append(question)
            self._changed.notify_all()
        return question.answer.result()

    def serve(self) -> None:
        """Wait until every live search stands at a question (or one has ended), and answer them all."""
        with self._changed:
            begun = self._live
            self._changed.wait_for(lambda: len(self._waiting) == self._live or self._live < begun)
            if len(self._waiting) < self._live:
                return
            # In an order that does not depend on which thread was faster.
            questions = sorted(self._waiting, key=lambda q: (q.kind, repr(q.content)))
            self._waiting = []
        for kind, asked in _by_kind(questions).items():
            try:
                answers = self._propose(asked) if kind == "propose" else self._score(asked)
            except BaseException as error:
                for question in questions:
                    if not question.answer.done():
                        question.answer.set_exception(error)
                if not isinstance(error, Exception):
                    raise
                return
            for question, answer in zip(asked, answers, strict=True):
                question.answer.set_result(answer)

    def close(self) -> None:
        """End what is still waiting."""
        with self._changed:
            self._closed = True
            questions, self._waiting = self._waiting, []
        for question in questions:
            question.answer.set_exception(Cancelled("the searches were stopped"))

    def _propose(self, asked: Sequence[_Question]) -> list[list[list[Proposal]]]:
        calls: list[tuple[Prefixes, int, int]] = [question.content for question in asked]
        many = getattr(self.proposer, "propose_many", None)
        if many is not None:
            return list(many(calls))
        return [self.proposer.propose(prefixes, m, seed) for prefixes, m, seed in calls]

    def _score(self, asked: Sequence[_Question]) -> list[list[StepScores]]:
        items = [
            ScoringItem(f"{place}\x1f{item.key}", item.problem, item.steps)
            for place, question in enumerate(asked)
            for item in question.content
        ]
        found: dict[int, list[StepScores]] = defaultdict(list)
        for result in self.scorer.score(items):
            place, _, key = result.key.partition("\x1f")
            found[int(place)].append(StepScores(key, result.probs, result.dropped))
        return [found[place] for place in range(len(asked))]


def _by_kind(questions: Sequence[_Question]) -> dict[str, list[_Question]]:
    kinds: dict[str, list[_Question]] = defaultdict(list)
    for question in questions:
        kinds[question.kind].append(question)
    return kinds


class _Proposer:
    """The desk as a `StepProposer`."""

    def __init__(self, desk: _Desk) -> None:
        self.desk = desk

    @property
    def name(self) -> str:
        return self.desk.proposer.name

    def propose(self, prefixes: Prefixes, m: int, seed: int) -> list[list[Proposal]]:
        answer: list[list[Proposal]] = self.desk.ask("propose", (list(prefixes), m, seed))
        return answer


class _Scorer:
    """The desk as a `StepScorer`; `prm` is the scorer's own, for counting tokens."""

    def __init__(self, desk: _Desk) -> None:
        self.desk = desk
        self.prm = getattr(desk.scorer, "prm", None)

    @property
    def name(self) -> str:
        return self.desk.scorer.name

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 8192,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[StepScores]:
        answer: list[StepScores] = self.desk.ask("score", list(items))
        return iter(answer)
