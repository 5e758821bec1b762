"""A simulated labeler's day: sign in, accept the guidelines, pass screening, work until nothing is left."""

import re
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from selection.simulate.browser import Browser, Refused
from selection.simulate.judgement import Habits, Judgement, Truth, judge

Oracle = Callable[[str, list[str]], Truth]

LABEL_PAGE, GUIDELINES_PAGE = "/label/", "/label/guidelines/"
NEXT = re.compile(r"/api/projects/([\w-]+)/next/")
# States of /next/ after which a labeler goes home.
ENDS = {"done", "paused", "failed", "budget_reached"}
WAIT_S = 1.0


@dataclass(frozen=True)
class Ending:
    """How the day ended, and why: a state of the server's, "waiting" (others hold the rest), "stopped" (limit
    reached), or "error".
    """

    state: str
    reason: str = ""

    @property
    def is_expected(self) -> bool:
        return self.state in {*ENDS, "waiting", "stopped"}


@dataclass
class Report:
    """What one labeler did. `submitted` counts by finish reason; `screening` are not in it."""

    name: str
    submitted: Counter[str] = field(default_factory=Counter)
    screening: int = 0
    steps: int = 0
    seconds: float = 0.0
    ending: Ending = Ending("error", "not begun")

    @property
    def labels(self) -> int:
        return self.submitted["found_error"] + self.submitted["solution"]


@dataclass
class Labeler:
    """One person. Careful during screening, as real slippers are; `habits` hold from the first work on."""

    name: str
    link: str
    base_url: str
    oracle: Oracle
    habits: Habits
    rng: Random
    screening_habits: Habits = field(default_factory=lambda: Habits(accuracy=1.0))
    pace: float = 0.0  # seconds per step
    patience: float = 20.0  # seconds to wait for what others hold
    limit: int | None = None  # submissions of this day
    project: str = ""

    def __post_init__(self) -> None:
        self.browser = Browser(self.base_url)
        self.report = Report(self.name)

    def work(self) -> Report:
        """The whole day; errors of the server end it and are told, never raised."""
        start = time.monotonic()
        try:
            self.report.ending = self._day()
        except (Refused, OSError, KeyError, ValueError) as error:
            self.report.ending = Ending("error", f"{type(error).__name__}: {error}"[:300])
        self.report.seconds = time.monotonic() - start
        return self.report

    def _day(self) -> Ending:
        self.browser.get(self.link)
        answer, waited_since = self._next(), time.monotonic()
        while True:
            state = str(answer.get("state", ""))
            if state in ENDS:
                return Ending(state, str(answer.get("reason") or answer.get("message") or ""))
            if state == "work":
                if self._limit_reached():
                    return Ending("stopped", f"limit of {self.limit} reached")
                answer, waited_since = self._judge(answer), time.monotonic()
            elif state == "guidelines":
                self._accept_guidelines()
                answer = self._next()
            elif state == "screening_over":
                answer = self._next()
            elif state in {"wait", "hold"}:
                if time.monotonic() - waited_since > self.patience:
                    return Ending("waiting", str(answer.get("message") or ""))
                time.sleep(WAIT_S)
                answer = self._next()
            else:
                return Ending("error", f"unknown state {state!r}")

    def _limit_reached(self) -> bool:
        return self.limit is not None and sum(self.report.submitted.values()) >= self.limit

    def _next(self) -> dict[str, Any]:
        if not self.project:
            self.project = self._project_of_page()
        return self.browser.send_json("POST", f"/api/projects/{self.project}/next/", {"have": []})

    def _project_of_page(self) -> str:
        page = self.browser.get(LABEL_PAGE)
        if not (found := NEXT.search(page)):
            # Before the guidelines are accepted, the page may send there first.
            self._accept_guidelines()
            found = NEXT.search(self.browser.get(LABEL_PAGE))
        if not found:
            raise ValueError(f"{LABEL_PAGE} names no project; is this person a labeler of one?")
        return found.group(1)

    def _accept_guidelines(self) -> None:
        self.browser.get(GUIDELINES_PAGE)
        self.browser.post_form(GUIDELINES_PAGE, {"accept": "on"})

    def _judge(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Rate the solution in hand and submit; what the server gives next."""
        assignment, started = answer["assignment"], time.monotonic()
        screening = answer.get("progress", {}).get("phase") == "screening"
        truth = self.oracle(assignment["problem"], assignment["steps"])
        habits = self.screening_habits if screening else self.habits
        judgement = judge(truth, habits, self.rng, mode=assignment.get("mode", "first_error"))
        time.sleep(self.pace * len(judgement.ratings))
        self._save_draft(assignment, judgement)
        after = self._submit(assignment["id"], judgement, int((time.monotonic() - started) * 1000) + 1)
        self._count(judgement, screening=screening)
        return dict(after["next"])

    def _save_draft(self, assignment: dict[str, Any], judgement: Judgement) -> None:
        if judgement.ratings:
            body = {
                "version": assignment.get("draft_version", 0),
                "draft": {"ratings": list(judgement.ratings), "reasons": {}, "active_ms": 0, "total_ms": 0},
            }
            self.browser.send_json("PUT", f"/api/assignments/{assignment['id']}/draft/", body)

    def _submit(self, assignment_id: int, judgement: Judgement, milliseconds: int) -> dict[str, Any]:
        path = f"/api/assignments/{assignment_id}/submit/"
        body: dict[str, Any] = {
            # Not from the seed: the same command in the next generation has other solutions to judge.
            "idempotency_key": str(uuid.uuid4()),
            "finish_reason": judgement.finish_reason,
            "ratings": list(judgement.ratings),
            "step_reasons": {},
            "note": judgement.note,
            "key_disputed": False,
            "answer_confirmed": False,
            "total_time_ms": milliseconds,
            "active_time_ms": milliseconds,
        }
        try:
            return self.browser.send_json("POST", path, body)
        except Refused as refused:
            # All steps fine but the answer graded wrong: the page asks, the labeler stays by it.
            if refused.answer.get("code") != "confirm_answer":
                raise
            return self.browser.send_json("POST", path, {**body, "answer_confirmed": True})

    def _count(self, judgement: Judgement, *, screening: bool) -> None:
        self.report.steps += len(judgement.ratings)
        if screening:
            self.report.screening += 1
        else:
            self.report.submitted[judgement.finish_reason] += 1
