"""The labeling page, worked by keyboard alone by somebody who knows the truth."""

from playwright.sync_api import Page, Response

from selection.simulate import Truth
from selection.simulate.oracle import practice_oracle
from tests.browser.person import Person

KEYS = {1: "a", 0: "s", -1: "d"}


class Keyboard:
    """Hears which solutions the server sends (the page shows them typeset), and presses keys."""

    def __init__(self, person: Person) -> None:
        self.person, self.page = person, person.page
        self.problems: dict[tuple[str, ...], str] = {}
        self.page.on("response", self._hear)

    def _hear(self, response: Response) -> None:
        if "/api/" not in response.url or response.request.method == "PUT" or not response.ok:
            return
        answer = response.json()
        for part in (answer, answer.get("next") or {}):
            assignment = part.get("assignment")
            if isinstance(assignment, dict):
                self.problems[tuple(assignment["steps"])] = assignment["problem"]

    def steps(self) -> tuple[str, ...]:
        return tuple(steps_on(self.page))

    def has_work(self) -> bool:
        return self.page.locator("#work").is_visible() and self.steps() in self.problems

    def truth(self) -> Truth:
        self.person.until(self.has_work)
        return practice_oracle(self.problems[self.steps()], list(self.steps()))

    def judge(self) -> None:
        """Rate as the oracle does, submit, and wait until this solution has gone."""
        truth, before = self.truth(), self.steps()
        for rating in truth.ratings:
            self.page.keyboard.press(KEYS[rating])
        checked = self.page.locator("#steps [role=radio][aria-checked=true]")
        self.person.until(lambda: checked.count() == len(truth.ratings))
        self.page.keyboard.press("Enter")
        self._gone(before)

    def leave(self, key: str, reason: str) -> None:
        """Give up (g) or report a bad problem (p), with a reason."""
        self.person.until(self.has_work)
        before = self.steps()
        self.page.keyboard.press(key)
        self.page.locator("#reason").wait_for()
        self.page.keyboard.type(reason)
        self.page.keyboard.press("Control+Enter")
        self._gone(before)

    def _gone(self, before: tuple[str, ...]) -> None:
        self.person.until(lambda: not self.page.locator("#work").is_visible() or self.steps() != before)


def steps_on(page: Page) -> list[str]:
    return page.locator("#steps .step-source").all_text_contents()
