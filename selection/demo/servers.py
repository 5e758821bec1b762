"""The demo's two programs, a free port for them, and the wait until they answer."""

import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from selection.demo.supervisor import Child

HOST = "127.0.0.1"


def free_port(wanted: int, *, tries: int = 50) -> int:
    """The wanted port, or the next one that nobody listens on. Raises OSError when all are taken."""
    for port in range(wanted, wanted + tries):
        with socket.socket() as probe:
            # As the server itself does: a port in TIME_WAIT is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise OSError(f"ports {wanted} to {wanted + tries - 1} are all taken; choose another with --port")


def web(port: int, logs: Path) -> Child:
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"{HOST}:{port}"]
    command += ["--worker-class", "gthread", "--workers", "1", "--threads", "8", "--graceful-timeout", "3"]
    command += ["--no-control-socket"]  # nobody steers it that way, and it would lie in the home folder
    # Its workers beat in memory, not on a slow disk.
    if Path("/dev/shm").is_dir():  # noqa: S108 - the memory file system, named by gunicorn's manual
        command += ["--worker-tmp-dir", "/dev/shm"]  # noqa: S108
    return Child("web server", command, logs / "web.log")


def worker(home: Path, logs: Path) -> Child:
    """One worker for both queues with the clock in it; two processes, so a training stops no import."""
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--queues", "default,gpu"]
    command += ["--concurrency", "2", "--beat", "--schedule", str(home / "beat"), "--loglevel", "WARNING"]
    command += ["--hostname", f"demo-{os.getpid()}@%h", "--without-mingle", "--without-gossip"]
    return Child("worker", command, logs / "worker.log")


def wait_until_healthy(port: int, *, seconds: float, give_up: Callable[[], bool]) -> bool:
    """True once /health/ answers 200; False after `seconds`, or when `give_up` says so."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not give_up():
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health/", timeout=5) as answer:  # noqa: S310
                if answer.status == 200:
                    return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    return False
