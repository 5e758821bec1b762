"""`manage.py demo` as a person starts it: once, again, while another one runs, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from selection.demo.servers import free_port
from tests.rules.source import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.worker]


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """On SQLite and files whatever the test run is on: that is what the demo promises."""
    env = {**os.environ, "STEPMARK_HOME": str(home), "DATABASE_URL": "", "REDIS_URL": ""}
    port = str(free_port(23000 + os.getpid() % 2000))
    return subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--size", "small", "--port", port, *arguments],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read_until(process: subprocess.Popen[str], words: str) -> str:
    text = ""
    assert process.stdout is not None
    for line in process.stdout:
        text += line
        if words in line:
            return text
    raise AssertionError(f"the demo ended without {words!r}\n{text}")


def descendants(pid: int) -> set[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    children = {int(line) for line in found.stdout.split()}
    return children.union(*(descendants(child) for child in children))


def eventually(what: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.2)
    return what()


def test_a_check_finds_the_first_solution_from_nothing(tmp_path: Path) -> None:
    out, _ = (process := start(tmp_path / "a home", "--check")).communicate(timeout=300)
    assert process.returncode == 0, out
    assert "The first solution is there" in out
    assert out.rstrip().endswith("Stopped.")


def test_a_demo_is_started_refuses_a_second_one_stops_and_goes_on(tmp_path: Path) -> None:
    first = start(tmp_path)
    text = read_until(first, "Ctrl-C stops everything")
    assert "Importing" in text
    assert text.count("/in/") == 3
    assert all(f"{role}:" in text for role in ("labeler", "lead", "researcher"))
    assert "made up" in text

    out, _ = (second := start(tmp_path)).communicate(timeout=120)
    assert second.returncode == 1
    assert "already" in out
    assert "STEPMARK_HOME" in out

    # gunicorn with a worker, Celery with its clock and two processes.
    assert eventually(lambda: len(descendants(first.pid)) >= 6, 90)
    family = descendants(first.pid)
    first.send_signal(signal.SIGINT)
    out, _ = first.communicate(timeout=60)
    assert first.returncode == 0, out
    assert out.rstrip().endswith("Stopped.")
    assert "Traceback" not in out
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), 10)

    third = start(tmp_path)
    text = read_until(third, "Ctrl-C stops everything")
    assert "Importing" not in text, "the second start seeded again"
    third.terminate()
    third.communicate(timeout=60)
    assert third.returncode == 0
