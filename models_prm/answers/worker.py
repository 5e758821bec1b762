"""The process that runs the slow graders: `python -m models_prm.answers.worker`, one JSON pair a line.

Each pair in gives one line per vote, then a line that ends it, so that a hung grader costs only its own
vote. The parent (`GraderPool`) keeps the time; the alarm below is for a parent that was killed meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import TextIO

from models_prm.answers.verdict import Verdict

_RECURSION_LIMIT = 60_000
_MAX_MEMORY_BYTES = 4 * 2**30
_ALARM_GRACE_S = 3
_WARM_UP = ((r"(x+1)(x-1)\sqrt{2}", r"\sqrt2x^2-\sqrt2"), (r"\frac{1}{2}", "0.25"), (r"\{1,2\}", "(1,2]"))


def main() -> int:
    """Answer pairs until the input ends."""
    replies = _private_output()
    _limit_memory()
    sys.setrecursionlimit(_RECURSION_LIMIT)
    graders = _graders()
    for vote in graders.values():
        # The first parse builds tables for a second or more; no pair's time limit should pay for that.
        for answer, truth in _WARM_UP:
            _guarded(vote, answer, truth)
    _send(replies, {"ready": True})
    for line in sys.stdin:
        pair = json.loads(line)
        _set_alarm(int(pair["limit"]) + _ALARM_GRACE_S)
        for name, vote in graders.items():
            _send(replies, {"grader": name, "vote": _guarded(vote, pair["answer"], pair["truth"]).value})
        _send(replies, {"done": True})
        _set_alarm(0)
    return 0


def _graders() -> dict[str, Callable[[str, str], Verdict]]:
    """The slow graders, imported here and nowhere else."""
    from models_prm.answers.compare import compare_texts
    from models_prm.answers.math_verify_vote import math_verify_vote
    from models_prm.answers.paper import paper_vote

    return {"exact": compare_texts, "paper": paper_vote, "math-verify": math_verify_vote}


def _guarded(vote: Callable[[str, str], Verdict], answer: str, truth: str) -> Verdict:
    try:
        return vote(answer, truth)
    except Exception:  # noqa: BLE001 - the edge of a worker: libraries raise anything on hostile text
        return Verdict.UNKNOWN


def _private_output() -> TextIO:
    """Keep the pipe to the parent for replies; whatever a library prints goes to nowhere."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return replies


def _send(replies: TextIO, message: dict[str, object]) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()


def _limit_memory() -> None:
    """A runaway expansion fails in this process instead of filling the machine."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


def _set_alarm(seconds: int) -> None:
    """The kernel ends the process at the alarm, even inside a long C call."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    raise SystemExit(main())
