"""Which process is it, and does it live?"""

import os
import socket
from contextlib import suppress
from pathlib import Path


def this_host() -> str:
    return socket.gethostname().replace(":", "_")[:60]


def this_process() -> str:
    return f"{this_host()}:{os.getpid()}:{start_of(os.getpid())}"


def start_of(pid: int) -> str:
    """When a process started, in clock ticks; "?" where the system does not say, "" when it is gone.

    A process identifier alone is used again by the system, with its start it is not.
    """
    with suppress(OSError):
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if after_name[0] == "Z" else after_name[19]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        return "?"
    return "?"


def parent_of(pid: int) -> int | None:
    """The parent process, None where the system does not say or the process is gone."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None
