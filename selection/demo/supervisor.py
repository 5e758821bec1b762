"""Starts a few processes, starts them again when they die, and stops all of them: no orphan, no second one.

Every child leads a process group of its own, so that Ctrl-C in the terminal reaches the supervisor alone and
a child's own children (gunicorn's and Celery's) go with it.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

POLL_S = 0.2
# Longer buys nothing: a job goes on from its row, and an idle Celery takes its time to leave.
GRACE_S = 5.0
# A child that lived this long before it died is started again at once.
STEADY_S = 10.0
LONGEST_PAUSE_S = 30.0
PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Linux: SIGTERM for the child when the supervisor is killed and cannot stop it itself."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass
class Child:
    """One program: its output goes to the end of `log`."""

    name: str
    command: list[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    deaths_in_a_row: int = 0
    start_again_at: float = 0.0

    def start(self, env: Mapping[str, str], cwd: Path) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - no other thread runs yet; one system call
            )
        self.started_at = time.monotonic()

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def tell(self, signal_number: int, *, group: bool = False) -> None:
        if self.process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if group:
                os.killpg(self.process.pid, signal_number)
            else:
                self.process.send_signal(signal_number)

    def last_lines(self, n: int = 15) -> str:
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-n:])


@dataclass
class Supervisor:
    """`run()` blocks until `stop` is set, by SIGINT, SIGTERM or another thread."""

    children: list[Child]
    env: Mapping[str, str]
    cwd: Path
    say: Callable[[str], None] = print
    stop: threading.Event = field(default_factory=threading.Event)

    def catch_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop.set()

    def start(self) -> None:
        for child in self.children:
            child.start(self.env, self.cwd)

    def watch(self) -> None:
        """Start again what has died; called until `stop` is set."""
        for child in self.children:
            if child.is_alive() or self.stop.is_set():
                continue
            if child.process is not None:
                self._bury(child)
            elif time.monotonic() >= child.start_again_at:
                child.start(self.env, self.cwd)

    def _bury(self, child: Child) -> None:
        code = child.process.returncode if child.process else None
        # What the dead one started (pool processes) must not go on beside its successor.
        child.tell(signal.SIGKILL, group=True)
        child.process = None
        steady = time.monotonic() - child.started_at > STEADY_S
        child.deaths_in_a_row = 0 if steady else child.deaths_in_a_row + 1
        pause = 0.0 if steady else min(LONGEST_PAUSE_S, 0.5 * 2**child.deaths_in_a_row)
        child.start_again_at = time.monotonic() + pause
        self.say(f"{child.name} ended ({code}); starting it again. Its log: {child.log}")

    def run(self) -> None:
        while not self.stop.is_set():
            self.watch()
            self.stop.wait(POLL_S)

    def shut_down(self) -> None:
        """Ask everyone to end, then end the rest; returns when nothing of ours is left."""
        self.stop.set()
        for child in self.children:
            child.tell(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_S
        while any(child.is_alive() for child in self.children) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        for child in self.children:
            # A job in progress goes on from its checkpoint at the next start.
            child.tell(signal.SIGKILL, group=True)
            if child.process is not None:
                child.process.wait()
