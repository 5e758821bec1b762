"""Grade pairs in worker processes that can be killed: a time limit that holds in any thread.

Workers are plain child processes with a line protocol, not multiprocessing children, so a pool works from
threads, from Celery's daemonic prefork processes, under pytest, and from paths with spaces.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from models_prm.answers.cache import GradeCache
from models_prm.answers.cascade import decide, quick_grade, quick_votes, slow_graders
from models_prm.answers.verdict import Grade, Strictness, Verdict

Pair = tuple[str | None, str | None]
Progress = Callable[[int, int], None]

_START_LIMIT_S = 120.0
_SECOND_OPINION_S = 3.0


class GraderStartError(RuntimeError):
    """The grader's worker process does not start; the message carries what it said."""


class Ending(StrEnum):
    """How a worker's work on a pair ended; the value is what the grade says when nothing was decided."""

    DONE = "done"
    LATE = "timed out"
    DIED = "crashed the grader"


@dataclass(frozen=True, slots=True)
class Rules:
    """How a pair is graded: seconds it may take, what counts as equal, and whether all graders are asked."""

    time_limit_s: float = 5.0
    strictness: Strictness = Strictness.VALUE
    every_vote: bool = False

    def as_request(self) -> dict[str, object]:
        """What the worker is told."""
        return {"limit": self.time_limit_s, "strictness": self.strictness, "every_vote": self.every_vote}


class _Worker:
    """One child process. Not shared between threads."""

    def __init__(self) -> None:
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "models_prm.answers.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", env=_environment(),
        )  # fmt: skip
        self._said: list[str] = []
        for target in (self._read_replies, self._read_errors):
            threading.Thread(target=target, daemon=True, name="grader-pipe").start()
        if self._reply(_START_LIMIT_S) != {"ready": True}:
            self.close()
            raise GraderStartError(
                f"the answer grader does not start ({sys.executable} -m models_prm.answers.worker): "
                + (" ".join("".join(self._said[-3:]).split()) or "no output")
            )

    def votes(self, answer: str, truth: str, rules: Rules) -> tuple[dict[str, Verdict], Ending]:
        """The slow graders' votes, and how it ended. After any ending but `DONE` this worker is of no use."""
        votes: dict[str, Verdict] = {}
        ends = time.monotonic() + rules.time_limit_s
        if not self._write({"answer": answer, "truth": truth, **rules.as_request()}):
            return votes, Ending.DIED
        while True:
            reply = self._reply(ends - time.monotonic())
            if isinstance(reply, Ending):
                return votes, reply
            if "done" in reply:
                return votes, Ending.DONE
            if "loading" in reply:
                # A library's import is no pair's fault: the clock stands still for it.
                began, reply = time.monotonic(), self._reply(_START_LIMIT_S)
                ends += time.monotonic() - began
                if isinstance(reply, Ending):
                    return votes, reply
                continue
            votes[reply["grader"]] = Verdict(reply["vote"])
            if decide(votes)[1] == "exact":
                # The verdict stands: the others may still say what they think, but not keep us long.
                ends = min(ends, time.monotonic() + _SECOND_OPINION_S)

    def close(self) -> None:
        """Kill the child and reap it."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _write(self, message: dict[str, object]) -> bool:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError:
            return False
        return True

    def _reply(self, limit_s: float) -> dict[str, Any] | Ending:
        try:
            line = self._replies.get(timeout=max(0.0, limit_s))
        except queue.Empty:
            return Ending.LATE
        return Ending.DIED if line is None else json.loads(line)

    def _read_replies(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._replies.put(line)
        self._replies.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._said[-20:] = [*self._said[-19:], line]


def _environment() -> dict[str, str]:
    """The child finds this package wherever it was imported from, and stays on one core."""
    root = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    path = root + os.pathsep + inherited if inherited else root
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


class GraderPool:
    """Grades pairs of (answer, truth). Workers start when first needed; `close` or `with` ends them.

    `time_limit_s` is for one pair: a pair that takes longer is abandoned, its worker killed and replaced, and
    its grade made from the votes that were in; with none that decides it is unknown, by "timed out".
    Graders are asked until the verdict stands; `every_vote` asks all of them, so that disputes show.
    `cache` keeps the grades of pairs that needed a worker.
    """

    def __init__(
        self,
        processes: int = 1,
        time_limit_s: float = 5.0,
        *,
        strictness: Strictness | str = Strictness.VALUE,
        every_vote: bool = False,
        cache: GradeCache | None = None,
    ) -> None:
        if processes < 1 or time_limit_s <= 0:
            raise ValueError("a grader pool needs at least one process and a positive time limit")
        self.processes = processes
        self.time_limit_s = time_limit_s
        self.strictness = Strictness(strictness)
        self.every_vote = every_vote
        self.cache = cache
        self._reset()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def grade(self, answer: str | None, truth: str | None) -> Grade:
        """Grade one pair. Safe from several threads at once."""
        grade = quick_grade(answer, truth, self.strictness)
        if grade is not None:
            return grade
        assert answer is not None
        assert truth is not None
        if self.cache is None:
            return self._grade_slowly(answer, truth)[0]
        kind = f"{self.strictness}{' every vote' if self.every_vote else ''}"
        known = self.cache.get(answer, truth, kind)
        if known is None:
            known, ending = self._grade_slowly(answer, truth)
            if ending is Ending.DONE:
                # A pair that ran out of time may do better on a free machine.
                self.cache.put(answer, truth, kind, known)
        return known

    def grade_many(self, pairs: Sequence[Pair], on_progress: Progress | None = None) -> list[Grade]:
        """Grades in the order of `pairs`; equal pairs are graded once. Calls `on_progress(done, total)`."""
        places: dict[Pair, list[int]] = {}
        for place, pair in enumerate(pairs):
            places.setdefault(pair, []).append(place)
        grades: dict[Pair, Grade] = {}
        done = 0
        for pair, grade in self._graded(list(places)):
            grades[pair] = grade
            done += len(places[pair])
            if on_progress is not None:
                on_progress(done, len(pairs))
        return [grades[pair] for pair in pairs]

    def close(self) -> None:
        """End the worker processes; a later call starts new ones."""
        if self._owner == os.getpid():
            for worker in self._all:
                worker.close()
        self._reset()

    def _reset(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._all: list[_Worker] = []
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(self.processes):
            self._idle.put(None)

    def _graded(self, pairs: list[Pair]) -> Iterator[tuple[Pair, Grade]]:
        slow: list[Pair] = []
        for pair in pairs:
            grade = quick_grade(*pair, self.strictness)
            if grade is None:
                slow.append(pair)
            else:
                yield pair, grade
        if self.processes == 1 or len(slow) < 2:
            for pair in slow:
                yield pair, self.grade(*pair)
            return
        with ThreadPoolExecutor(self.processes) as threads:
            yield from zip(slow, threads.map(lambda pair: self.grade(*pair), slow), strict=True)

    def _grade_slowly(self, answer: str, truth: str) -> tuple[Grade, Ending]:
        slow, ending = self._ask_worker(answer, truth)
        if ending is Ending.DIED:
            # Perhaps it was killed from outside, which is not this pair's fault: once more.
            slow, ending = self._ask_worker(answer, truth)
        votes = {**quick_votes(answer, truth), **slow}
        if self.every_vote or ending is not Ending.DONE:
            votes = {**dict.fromkeys(slow_graders(self.strictness), Verdict.UNKNOWN), **votes}
        verdict, by = decide(votes, self.strictness)
        if ending is not Ending.DONE and verdict is Verdict.UNKNOWN:
            by = ending.value
        return Grade(verdict, by, votes), ending

    def _ask_worker(self, answer: str, truth: str) -> tuple[dict[str, Verdict], Ending]:
        with self._worker() as worker:
            rules = Rules(self.time_limit_s, self.strictness, self.every_vote)
            votes, ending = worker.votes(answer, truth, rules)
            if ending is not Ending.DONE:
                self._drop(worker)
        return votes, ending

    @contextlib.contextmanager
    def _worker(self) -> Iterator[_Worker]:
        """A worker for one thread. After a fork the parent's workers are left alone."""
        if self._owner != os.getpid():
            self._reset()
        idle = self._idle
        worker = idle.get()
        try:
            if worker is None or worker not in self._all:
                worker = None
                worker = self._start()
            yield worker
        finally:
            idle.put(worker if worker in self._all else None)

    def _start(self) -> _Worker:
        worker = _Worker()
        with self._lock:
            self._all.append(worker)
        return worker

    def _drop(self, worker: _Worker) -> None:
        with self._lock:
            self._all.remove(worker)
        worker.close()


_shared: GraderPool | None = None
_shared_lock = threading.Lock()


def shared_pool() -> GraderPool:
    """One pool for occasional single grades in this process; its worker ends with the process."""
    global _shared  # noqa: PLW0603 - one worker per process is the point
    with _shared_lock:
        if _shared is None:
            _shared = GraderPool()
            atexit.register(_shared.close)
        return _shared


def grade_in_full(answer: str | None, truth: str | None) -> Grade:
    """The grade of one pair with every vote."""
    return shared_pool().grade(answer, truth)


def grade(answer: str | None, truth: str | None) -> Verdict:
    """Whether an answer equals the true one: right, wrong or unknown. For many pairs use `GraderPool`."""
    return grade_in_full(answer, truth).verdict
