"""Grader workers: a limit that holds anywhere, answers in order, and no process left behind."""

from __future__ import annotations

import json
import multiprocessing
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import models_prm
from models_prm.answers import GraderPool, GraderStartError, Verdict
from models_prm.answers import pool as pool_module

# Exact arithmetic cannot tell, and Math-Verify would build a number of ten thousand million digits.
HANGING = (r"3^{10^{10}}-9^{5\cdot10^{9}}+1", "1")
EASY = ("(x+1)(x-1)", "x^2-1")


def worker_ids(pool: GraderPool) -> list[int]:
    return [worker._process.pid for worker in pool._all]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def wait_until(condition: Callable[[], bool], limit_s: float) -> bool:
    ends = time.monotonic() + limit_s
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


def test_b13_grading_works_in_any_thread_and_a_hung_pair_costs_its_limit_only() -> None:
    """Math-Verify raises outside the main thread (issue 42); a hung comparison once ate its pool."""
    replies: queue.SimpleQueue[object] = queue.SimpleQueue()

    def in_a_thread() -> None:
        with GraderPool(time_limit_s=60) as pool:
            replies.put(pool.grade("2", "2").verdict)
            replies.put(pool.grade(*EASY).verdict)
            before = worker_ids(pool)
            pool.time_limit_s = 2
            pool.grade("x=0", "x^2=0")  # loads the other graders, which is no pair's fault
            started = time.monotonic()
            replies.put(pool.grade(*HANGING).by)
            replies.put(time.monotonic() - started)
            replies.put(pool.grade(*EASY).verdict)
            replies.put(worker_ids(pool) != before)

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join(120)
    assert [replies.get_nowait() for _ in range(3)] == [Verdict.RIGHT, Verdict.RIGHT, "timed out"]
    seconds = replies.get_nowait()
    assert isinstance(seconds, float)
    assert seconds < 30
    assert [replies.get_nowait() for _ in range(2)] == [Verdict.RIGHT, True]


def test_a_pair_that_hangs_is_abandoned_and_the_next_is_graded() -> None:
    with GraderPool(time_limit_s=60) as pool:
        assert pool.grade(*EASY).verdict is Verdict.RIGHT
        (first,) = worker_ids(pool)
        pool.time_limit_s = 2
        started = time.monotonic()
        grade = pool.grade(*HANGING)
        assert time.monotonic() - started < 6
        pool.time_limit_s = 60
        assert (grade.verdict, grade.by) == (Verdict.UNKNOWN, "timed out")
        assert not is_alive(first)
        assert pool.grade(*EASY).verdict is Verdict.RIGHT
        assert worker_ids(pool) != [first]


def test_a_grader_that_hangs_does_not_cost_the_verdict_another_gave() -> None:
    with GraderPool(time_limit_s=60, every_vote=True) as pool:
        pool.grade(*EASY)
        started = time.monotonic()
        grade = pool.grade("9^{9^{9^{9}}}", "1")
        assert time.monotonic() - started < 15
    assert (grade.verdict, grade.by) == (Verdict.WRONG, "exact")
    assert grade.votes["math-verify"] is Verdict.UNKNOWN


def test_a_worker_killed_from_outside_is_replaced() -> None:
    with GraderPool() as pool:
        pool.grade(*EASY)
        os.kill(worker_ids(pool)[0], signal.SIGKILL)
        grades = pool.grade_many([EASY, ("x", "y")])
    assert [grade.verdict for grade in grades] == [Verdict.RIGHT, Verdict.WRONG]


def test_a_pair_that_ends_the_worker_is_unknown_and_the_next_is_graded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with GraderPool() as pool:
        monkeypatch.setattr(
            pool_module._Worker, "_write", lambda worker, message: worker._process.kill() or True
        )
        grade = pool.grade(*EASY)
        assert (grade.verdict, grade.by) == (Verdict.UNKNOWN, "crashed the grader")
        monkeypatch.undo()
        assert pool.grade(*EASY).verdict is Verdict.RIGHT


@pytest.mark.parametrize("processes", [1, 2])
def test_grades_come_in_the_order_of_the_pairs_and_equal_pairs_are_graded_once(
    monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    asked: list[tuple[str, str]] = []
    votes = pool_module._Worker.votes

    def counted(worker: pool_module._Worker, answer: str, truth: str, rules: pool_module.Rules) -> object:
        asked.append((answer, truth))
        return votes(worker, answer, truth, rules)

    monkeypatch.setattr(pool_module._Worker, "votes", counted)
    pairs: list[tuple[str | None, str | None]] = [
        ("x+1", "1+x"), ("1", "1"), ("x", "y"), ("x+1", "1+x"), (None, "2"), ("y", "x"), ("x", "y"),
        ("5", "6"),
    ]  # fmt: skip
    progress: list[tuple[int, int]] = []
    with GraderPool(processes) as pool:
        grades = pool.grade_many(pairs, lambda done, total: progress.append((done, total)))
    assert [grade.verdict.value for grade in grades] == [
        "right", "right", "wrong", "right", "wrong", "wrong", "wrong", "wrong",
    ]  # fmt: skip
    assert sorted(asked) == [("x", "y"), ("x+1", "1+x"), ("y", "x")]
    assert progress[-1] == (8, 8)
    assert progress == sorted(progress)


def test_simple_pairs_start_no_worker() -> None:
    with GraderPool() as pool:
        pool.grade_many([(str(n), str(n % 7)) for n in range(5000)])
        assert worker_ids(pool) == []


def test_closing_leaves_no_process_and_the_pool_can_be_used_again() -> None:
    pool = GraderPool(2)
    pool.grade_many([EASY, ("x", "y"), ("y", "z")])
    ids = worker_ids(pool)
    pool.close()
    assert ids
    assert not any(map(is_alive, ids))
    assert pool.grade(*EASY).verdict is Verdict.RIGHT
    pool.close()


def test_many_threads_share_one_pool() -> None:
    verdicts: queue.SimpleQueue[Verdict] = queue.SimpleQueue()
    with GraderPool(2, time_limit_s=30) as pool:
        threads = [
            threading.Thread(target=lambda k=k: verdicts.put(pool.grade(f"x+{k}", f"{k}+x").verdict))
            for k in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(worker_ids(pool)) <= 2
    assert [verdicts.get_nowait() for _ in threads] == [Verdict.RIGHT] * 8


def grade_in_child(replies: multiprocessing.SimpleQueue[str]) -> None:
    with GraderPool(time_limit_s=30) as pool:
        replies.put(pool.grade(*EASY).verdict.value)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_daemonic_process_may_grade(method: str) -> None:
    """Celery's prefork workers are such: they may not have multiprocessing children."""
    context = (
        multiprocessing.get_context("spawn") if method == "spawn" else multiprocessing.get_context("fork")
    )
    replies = context.SimpleQueue()
    child = context.Process(target=grade_in_child, args=(replies,), daemon=True)
    child.start()
    child.join(90)
    assert child.exitcode == 0
    assert replies.get() == "right"


def test_a_forked_process_does_not_touch_its_parents_workers() -> None:
    with GraderPool(time_limit_s=30) as pool:
        pool.grade(*EASY)
        before = worker_ids(pool)
        context = multiprocessing.get_context("fork")
        replies = context.SimpleQueue()

        def child() -> None:
            replies.put(pool.grade("x+2", "2+x").verdict.value)
            pool.close()

        process = context.Process(target=child)
        process.start()
        process.join(90)
        assert replies.get() == "right"
        assert is_alive(before[0])
        assert pool.grade("x+3", "3+x").verdict is Verdict.RIGHT
        assert worker_ids(pool) == before


def test_paths_with_spaces_and_another_working_directory_are_fine(tmp_path: Path) -> None:
    root = tmp_path / "a b" / "c d"
    package = Path(models_prm.__file__).parent
    shutil.copytree(package, root / "models_prm", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from models_prm.answers import GraderPool, pool\n"
        f"assert pool.__file__.startswith({str(root)!r})\n"
        "with GraderPool(time_limit_s=30) as p: print(p.grade('x+1', '1+x').verdict.value)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "right"


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="needs the kernel's alarm clock")
def test_a_worker_whose_parent_was_killed_ends_by_itself(tmp_path: Path) -> None:
    code = (
        "import threading, time\n"
        "from models_prm.answers import GraderPool\n"
        "pool = GraderPool(time_limit_s=1000)\n"
        "pool.grade('x+1', '1+x')\n"
        "pool.time_limit_s = 1\n"
        "worker = pool._all[0]\n"
        f"worker._write({{'answer': {HANGING[0]!r}, 'truth': {HANGING[1]!r}, 'limit': 1}})\n"
        "print(worker._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout as lines:
        worker = int(lines.readline())
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not is_alive(worker), 10)


def test_importing_the_answers_loads_no_heavy_library() -> None:
    code = (
        "import sys, models_prm.answers, models_prm.steps\n"
        "heavy = ('sympy', 'math_verify', 'mpmath', 'torch', 'transformers', 'django')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_hostile_text_travels_whole() -> None:
    with GraderPool(time_limit_s=30) as pool:
        for text in ["x\ny", "x\u2028y", "\ud800", "\x00", '"}\n{"done": true}']:
            assert pool.grade(text, "z^2").verdict in {Verdict.WRONG, Verdict.UNKNOWN}
        assert pool.grade(*EASY).verdict is Verdict.RIGHT


def test_a_worker_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {**os.environ, "PYTHONHOME": "/nowhere"}
    monkeypatch.setattr(pool_module, "_environment", lambda: broken)
    with GraderPool() as pool, pytest.raises(GraderStartError, match="does not start"):
        pool.grade(*EASY)


@pytest.mark.parametrize(("processes", "limit"), [(0, 5), (1, 0), (1, -1)])
def test_senseless_settings_are_refused(processes: int, limit: float) -> None:
    with pytest.raises(ValueError, match="at least one process"):
        GraderPool(processes, limit)


def test_the_worker_speaks_lines_of_json() -> None:
    pair = json.dumps({"answer": "x", "truth": "y", **pool_module.Rules(20, every_vote=True).as_request()})
    done = subprocess.run(
        [sys.executable, "-m", "models_prm.answers.worker"],
        input=pair + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    ready, *said, end = map(json.loads, done.stdout.splitlines())
    assert ready == {"ready": True}
    assert [line["grader"] for line in said if "grader" in line] == ["exact", "paper", "math-verify"]
    loads = [line for line in said if "grader" not in line]
    assert loads == [{state: name} for name in ("paper", "math-verify") for state in ("loading", "loaded")]
    assert end == {"done": True}
