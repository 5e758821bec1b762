"""The demo's supervisor: no orphan, dead ones start again, a killed supervisor takes its children along."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from selection.demo.servers import free_port
from selection.demo.supervisor import Child, Supervisor
from tests.rules.source import ROOT

# A parent with a child of its own, as gunicorn and Celery have; both write their identifiers down.
FAMILY = """
import os, subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1], "a") as pids:
    pids.write(f"{os.getpid()} {grandchild.pid}\\n")
time.sleep(600)
"""


def lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def eventually(what: Callable[[], bool], seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if what():
            return True
        time.sleep(0.05)
    return False


def families(pids: Path) -> list[tuple[int, int]]:
    if not pids.exists():
        return []
    return [(int(a), int(b)) for a, b in (line.split() for line in pids.read_text().splitlines())]


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    command = [sys.executable, "-c", FAMILY, str(tmp_path / "pids")]
    made = Supervisor([Child("family", command, tmp_path / "family.log")], os.environ, ROOT)
    made.start()
    assert eventually(lambda: len(families(tmp_path / "pids")) == 1)
    yield made
    made.shut_down()


def test_shut_down_leaves_no_process_behind(supervisor: Supervisor, tmp_path: Path) -> None:
    parent, grandchild = families(tmp_path / "pids")[0]
    supervisor.shut_down()
    assert not lives(parent)
    assert eventually(lambda: not lives(grandchild))


def test_a_killed_child_starts_again_and_its_own_children_are_gone(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    parent, grandchild = families(tmp_path / "pids")[0]
    os.kill(parent, signal.SIGKILL)

    def started_again() -> bool:
        supervisor.watch()
        return len(families(tmp_path / "pids")) == 2

    assert eventually(started_again)
    assert eventually(lambda: not lives(grandchild))
    assert lives(families(tmp_path / "pids")[1][0])


def test_a_child_that_keeps_dying_is_started_more_and_more_rarely(tmp_path: Path) -> None:
    child = Child("broken", [sys.executable, "-c", "raise SystemExit('no')"], tmp_path / "broken.log")
    said: list[str] = []
    supervisor = Supervisor([child], os.environ, ROOT, say=said.append)
    supervisor.start()

    def died_twice() -> bool:
        supervisor.watch()
        return child.deaths_in_a_row == 2

    assert eventually(died_twice)
    assert child.start_again_at - time.monotonic() > 1
    assert "no" in child.last_lines()
    assert len(said) == 2
    supervisor.shut_down()


@pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel to tell the children")
def test_children_of_a_killed_supervisor_end_too(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import os, sys
        from pathlib import Path
        from selection.demo.supervisor import Child, Supervisor
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        child = Child("one", command, Path({str(tmp_path / "log")!r}))
        supervisor = Supervisor([child], os.environ, Path("."))
        supervisor.start()
        print(supervisor.children[0].process.pid, flush=True)
        supervisor.run()
    """)
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert lives(pid)
        process.kill()
    assert eventually(lambda: not lives(pid))


def test_a_taken_port_gives_the_next_one() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) > port
        with pytest.raises(OSError, match="--port"):
            free_port(port, tries=1)
