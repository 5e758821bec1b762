"""People at their browsers: one context each, every page checked for errors and for axe's findings."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

MOST_TABS = 60
FOCUSED = "(e => (e.getAttribute('aria-label') || e.innerText || '').trim())(document.activeElement)"


@dataclass
class Visits:
    """The contexts of a test, and what went wrong in any of them."""

    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def person(self, link: str, **options: Any) -> "Person":
        """Sign someone in by link in a browser of their own; `options` as of Playwright's new_context."""
        context = self.browser.new_context(**options)
        self.contexts.append(context)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.errors.append(f"uncaught: {error.error}"))
        page = context.new_page()
        page.goto(link)
        return Person(page)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} at {message.location.get('url', '')}")

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert self.errors == [], "errors in the browser's console"


@dataclass
class Person:
    page: Page

    def go(self, path: str) -> None:
        """Open a page by address, as from a bookmark, and look at it with axe."""
        base = re.match(r"https?://[^/]+", self.page.url)
        assert base is not None
        answer = self.page.goto(base.group(0) + path)
        assert answer is not None
        assert answer.status == 200, f"{path}: {answer.status}"
        self.look()

    def look(self) -> None:
        """No violation of axe's rules on the page as it stands, and no sideways scrolling."""
        self.page.wait_for_load_state("networkidle")
        found = Axe().run(self.page)
        assert found.violations_count == 0, f"{self.page.url}\n{found.generate_report()}"
        wide = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{self.page.url} is {wide} px wider than the window"

    def tab_to(self, name: str) -> None:
        """By Tab alone to the button or link of this name. Raises AssertionError if none is reached."""
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            focused = self.page.evaluate(FOCUSED)
            if focused.startswith(name):
                return
        raise AssertionError(f"{name!r} is not reached by Tab on {self.page.url}")

    def press(self, name: str) -> None:
        self.tab_to(name)
        self.page.keyboard.press("Enter")

    def until(self, what: Callable[[], bool], seconds: float = 20) -> None:
        for _ in range(int(seconds * 10)):
            if what():
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(
            f"waited {seconds:.0f} s on {self.page.url}: {self.page.inner_text('main')[:400]}"
        )

    def sees(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=20_000)
