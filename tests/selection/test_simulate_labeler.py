"""A simulated labeler's submissions: every one has a key of its own, also in another run of the same seed."""

from collections.abc import Sequence
from random import Random
from typing import Any

from selection.simulate import Habits, Truth
from selection.simulate.judgement import Judgement
from selection.simulate.labeler import Labeler


class Noted:
    """Takes what would be sent."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def send_json(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.keys.append(body["idempotency_key"])
        return {}


def unsure(problem: str, steps: Sequence[str]) -> Truth:
    """Nobody is asked in this test."""
    raise AssertionError


def keys_of_a_run() -> list[str]:
    person = Labeler("sim-1", "", "http://localhost", unsure, Habits(), Random("0/sim-1"))
    noted = Noted()
    person.browser = noted  # type: ignore[assignment]
    for solution in (1, 2):
        person._submit(solution, Judgement((-1,), "found_error"), 5)
    return noted.keys


def test_two_runs_of_one_seed_share_no_key() -> None:
    keys = keys_of_a_run() + keys_of_a_run()
    assert len(set(keys)) == 4
