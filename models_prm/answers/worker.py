"""The process that runs the slow graders: `python -m models_prm.answers.worker`, one JSON pair a line.

Each pair in gives one line per vote, then a line that ends it, so that a hung grader costs only its own
vote. Graders are loaded when the first pair needs them, and a line says so. The parent (`GraderPool`) keeps
the time; the alarm below is for a parent that was killed meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TextIO

from models_prm.answers.cascade import MAX_ANSWER_CHARS, next_grader
from models_prm.answers.verdict import Strictness, Verdict

Vote = Callable[[str, str], Verdict]
_RECURSION_LIMIT = 60_000
_MAX_MEMORY_BYTES = 4 * 2**30
_ALARM_GRACE_S = 3
_GRADERS = {
    "exact": ("models_prm.answers.compare", "compare_texts"),
    "rounded": ("models_prm.answers.rounding", "rounded_vote"),
    "paper": ("models_prm.answers.paper", "paper_vote"),
    "math-verify": ("models_prm.answers.math_verify_vote", "math_verify_vote"),
}
_WARM_UP = ((r"(x+1)(x-1)\sqrt{2}", r"\sqrt2x^2-\sqrt2"), (r"\frac{1}{2}", "0.25"), (r"\{1,2\}", "(1,2]"))


def main() -> int:
    """Answer pairs until the input ends."""
    replies = _private_output()
    _limit_memory()
    sys.setrecursionlimit(_RECURSION_LIMIT)
    sys.set_int_max_str_digits(MAX_ANSWER_CHARS)
    graders = {"exact": _load("exact")}
    _send(replies, {"ready": True})
    for line in sys.stdin:
        _grade(json.loads(line), graders, replies)
    return 0


def _grade(pair: dict[str, Any], graders: dict[str, Vote], replies: TextIO) -> None:
    """One vote after the other, as long as the cascade wants one more."""
    votes: dict[str, Verdict] = {}
    strictness, limit = Strictness(pair["strictness"]), int(pair["limit"]) + _ALARM_GRACE_S
    _set_alarm(limit)
    while (name := next_grader(votes, strictness, every_vote=pair["every_vote"])) is not None:
        if name not in graders:
            # Libraries take a second or more to load: no pair's time limit should pay for that.
            _set_alarm(0)
            _send(replies, {"loading": name})
            graders[name] = _load(name)
            _send(replies, {"loaded": name})
            _set_alarm(limit)
        votes[name] = _guarded(graders[name], pair["answer"], pair["truth"])
        _send(replies, {"grader": name, "vote": votes[name].value})
    _send(replies, {"done": True})
    _set_alarm(0)


def _load(name: str) -> Vote:
    """A slow grader, imported here and nowhere else, and warm: the first parse builds tables."""
    module, function = _GRADERS[name]
    vote: Vote = getattr(import_module(module), function)
    for answer, truth in _WARM_UP:
        _guarded(vote, answer, truth)
    return vote


def _guarded(vote: Vote, answer: str, truth: str) -> Verdict:
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
