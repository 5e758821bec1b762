"""Dynamic batching: one thread scores, everyone else waits for their part.

The first request waits a few milliseconds for company, or until there is enough of it; while a batch is
scored, the next one gathers by itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from models_prm.errors import PrmError
from models_prm.interfaces import StepScorer
from models_prm.records import ScoringItem, StepScores


class BusyError(PrmError):
    """The queue is full or the service is stopping; `retry_after` in whole seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass
class Counts:
    """What has been done so far: rounds (`batches`) for `requests` with `solutions` in all."""

    requests: int = 0
    solutions: int = 0
    batches: int = 0
    failed: int = 0


@dataclass
class _Job:
    items: Sequence[ScoringItem]
    arrived: float
    future: Future[list[StepScores]] = field(default_factory=Future)


class Batcher:
    """Scores solutions of many threads together.

    `max_tokens`: of one forward pass; `max_batch`: solutions scored in one round; `max_wait`: seconds the
    first of them waits; `max_queue`: solutions that may wait, beyond which `submit` refuses.
    """

    def __init__(
        self, scorer: StepScorer, *, max_tokens: int, max_batch: int, max_wait: float, max_queue: int
    ) -> None:
        self.scorer = scorer
        self.max_tokens = max_tokens
        self.max_batch = max_batch
        self.max_wait = max_wait
        self.max_queue = max_queue
        self.counts = Counts()
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._seconds = 0.05  # for one solution, a running mean
        self._stopping = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="scorer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Solutions in the queue."""
        return self._waiting

    @property
    def alive(self) -> bool:
        """Whether the scoring thread still runs."""
        return self._thread.is_alive()

    def submit(self, items: Sequence[ScoringItem]) -> Future[list[StepScores]]:
        """Queue the solutions of one request; the future holds one result per solution, in order.

        Raises BusyError when the queue would grow beyond `max_queue`, or after `close`.
        """
        with self._changed:
            if self._stopping:
                raise BusyError("the service is stopping", 5)
            if self._waiting and self._waiting + len(items) > self.max_queue:
                wait = max(1, math.ceil(self._waiting * self._seconds))
                raise BusyError(f"{self._waiting} solutions are waiting: try again later", wait)
            job = _Job(items, time.monotonic())
            self._jobs.append(job)
            self._waiting += len(items)
            self._changed.notify_all()
        return job.future

    def close(self) -> None:
        """Take nothing more, finish what waits, end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while jobs := self._gather():
            begin = time.monotonic()
            self._score(jobs)
            count = sum(len(job.items) for job in jobs)
            self._seconds = 0.8 * self._seconds + 0.2 * (time.monotonic() - begin) / max(1, count)

    def _gather(self) -> list[_Job]:
        """The next round's jobs; none when the service stops."""
        with self._changed:
            while not self._jobs:
                if self._stopping:
                    return []
                self._changed.wait()
            end = self._jobs[0].arrived + self.max_wait
            while self._waiting < self.max_batch and not self._stopping:
                left = end - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    break
            jobs = [self._jobs.popleft()]
            count = len(jobs[0].items)
            while self._jobs and count + len(self._jobs[0].items) <= self.max_batch:
                jobs.append(self._jobs.popleft())
                count += len(jobs[-1].items)
            self._waiting -= count
            return jobs

    def _score(self, jobs: list[_Job]) -> None:
        """Score the jobs together; one that cannot be scored does not take the others with it."""
        try:
            results = self._results(jobs)
        except Exception as error:  # at the edge of a thread: handed to whoever waits for it
            if len(jobs) > 1:
                for job in jobs:
                    self._score([job])
                return
            self.counts.failed += 1
            jobs[0].future.set_exception(error)
            return
        for job, found in zip(jobs, results, strict=True):
            job.future.set_result(found)

    def _results(self, jobs: list[_Job]) -> list[list[StepScores]]:
        items = [
            replace(item, key=f"{number}.{place}")
            for number, job in enumerate(jobs)
            for place, item in enumerate(job.items)
        ]
        self.counts.batches += 1
        by_key = {result.key: result for result in self.scorer.score(items, batch_tokens=self.max_tokens)}
        self.counts.requests += len(jobs)
        self.counts.solutions += len(items)
        return [
            [replace(by_key[f"{number}.{place}"], key=item.key) for place, item in enumerate(job.items)]
            for number, job in enumerate(jobs)
        ]
