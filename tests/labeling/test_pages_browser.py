"""The labeling page in a real Chromium: keys, lost line, lost session, reload, and axe on every page."""

import json
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from labeling.models import AnswerCheck, Assignment, Label, Project, User
from labeling.services import people
from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
STEPS = [
    "Call it $x$.",
    "Then $3x-7$.",
    "So $$\\frac{x}{3x-7}=\\frac25$$ holds.",
    "So $x=7$.\n\n# Answer\n\n7",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = os.environ.get("STEPMARK_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        if os.environ.get("CI"):
            pytest.fail("No Chromium: install one or set STEPMARK_CHROMIUM.")
        pytest.skip("No Chromium found: set STEPMARK_CHROMIUM to run the browser tests.")
    # Playwright runs an event loop in this thread; Django then refuses its ORM unless told.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGS)
        yield started
        started.close()
    os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)


@pytest.fixture
def project() -> Project:
    return make.project(name="Pilot", slug="pilot", screening_questions=0)


@pytest.fixture
def ann(project: Project) -> User:
    problem = make.problem(
        project, text="A pen costs $1.24 and a book $1.82; find $\\frac{x}{2}$.", ground_truth_answer="14"
    )
    for number in range(4):
        steps = [f"{number}. {STEPS[0]}", *STEPS[1:]]
        make.item(make.solution(problem, steps=steps, grade="wrong", answer="7"))
    return make.labeler(project, username="ann")


class Desk:
    """One person at one browser window; `noise` gathers console errors and warnings."""

    def __init__(self, context: BrowserContext, server: str) -> None:
        self.context, self.server = context, server
        self.page: Page = context.new_page()
        self.noise: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.noise.append(str(error)))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.noise.append(message.text)

    def sign_in(self, person: User) -> None:
        self.page.goto(f"{self.server}/in/{people.make_sign_in_link(person)}/")

    def begin(self, person: User) -> Page:
        self.sign_in(person)
        self.page.wait_for_selector("#work:not([hidden])")
        return self.page

    def press(self, keys: str) -> None:
        for key in keys.split():
            self.page.keyboard.press(key)

    def saved(self) -> None:
        expect(self.page.locator("#save")).to_have_attribute("data-save", "saved")


@pytest.fixture
def desk(browser: Browser, live_server: LiveServer) -> Iterator[Desk]:
    context = browser.new_context(**DESKTOP, reduced_motion="reduce")  # type: ignore[arg-type]
    yield Desk(context, live_server.url)
    context.close()


def ratings_of(label: Label) -> list[int | None]:
    return [step["completions"][0]["rating"] for step in label.record["label"]["steps"]]


def test_a_solution_is_judged_by_keyboard_only(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    submit = page.locator("#submit")
    expect(submit).to_be_disabled()
    expect(submit).to_have_text("Rate step 1, or find the first bad step")
    desk.press("a s")
    expect(submit).to_have_text("Rate step 3, or find the first bad step")
    desk.press("d")
    expect(submit).to_have_text("Submit: step 3 is the first bad step")
    page.locator(".is-current .chip", has_text="wrong rule").click()
    desk.press("n")
    expect(page.locator("#toast-text")).to_have_text("Sent.")
    expect(page.locator("#step-text-0")).to_contain_text("1. Call it")
    label = Label.objects.get()
    assert ratings_of(label)[:3] == [1, 0, -1]
    assert label.step_reasons == {"2": "wrong rule"}
    assert label.finish_reason == "found_error"
    assert desk.noise == []


def test_mathematics_renders_and_money_stays_money(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    assert "$1.24 and a book $1.82" in page.locator("#problem").inner_text()
    assert page.locator("#problem .katex").count() == 1
    assert page.locator("#step-text-2 .katex-display").count() == 1
    expect(page.locator("#step-text-3 .answer-line strong")).to_have_text("Answer:")
    desk.press("r")
    expect(page.locator(".is-current .step-source")).to_have_text("0. Call it $x$.")


def test_the_next_solution_is_there_before_it_is_needed(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    with page.expect_response("**/next/"):
        pass
    assert Assignment.objects.filter(labeler=ann, status="leased").count() == 2
    desk.press("d n")
    expect(page.locator("#step-text-0")).to_contain_text("1. Call it")
    desk.saved()
    assert Label.objects.count() == 1


def test_a_rating_is_corrected_in_place_and_undone(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    desk.press("a a k k s")
    signs = page.locator(".step").nth(0).locator(".sign-okay")
    expect(signs).to_have_attribute("aria-checked", "true")
    desk.press("z")
    expect(page.locator(".step").nth(0).locator(".sign-great")).to_have_attribute("aria-checked", "true")


def test_a_reload_keeps_everything(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    desk.press("a s")
    page.reload()  # at once: before the pause of the autosave is over
    page.wait_for_selector("#work:not([hidden])")
    expect(page.locator("#submit")).to_have_text("Rate step 3, or find the first bad step")
    assert desk.noise == []


def test_without_a_line_the_work_goes_on_and_is_sent_later(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    with page.expect_response("**/next/"):
        pass
    desk.context.set_offline(True)
    desk.press("a d n")
    expect(page.locator("#save-text")).to_have_text("1 not sent", timeout=15_000)
    expect(page.locator("#step-text-0")).to_contain_text("1. Call it")
    page.locator("#save").click()
    expect(page.locator("#dialog .unsent li")).to_have_count(1)
    desk.press("Escape")
    assert Label.objects.count() == 0
    desk.context.set_offline(False)
    expect(page.locator("#save")).to_have_attribute("data-save", "saved", timeout=15_000)
    assert ratings_of(Label.objects.get())[:2] == [1, -1]


def test_an_ended_session_asks_to_sign_in_and_loses_nothing(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    desk.press("a")
    desk.saved()
    desk.context.clear_cookies()
    desk.press("d n")
    expect(page.locator("#dialog-title")).to_have_text("Please sign in again")
    other = desk.context.new_page()
    other.goto(f"{desk.server}/in/{people.make_sign_in_link(ann)}/")
    other.close()
    page.get_by_role("button", name="I am signed in").click()
    expect(page.locator("#step-text-0")).to_contain_text("1. Call it")
    desk.saved()
    assert ratings_of(Label.objects.get())[:2] == [1, -1]


def test_another_person_on_the_same_browser_gets_a_page_of_their_own(
    desk: Desk, ann: User, project: Project
) -> None:
    page = desk.begin(ann)
    bob = make.labeler(project, username="bob")
    other = desk.context.new_page()
    other.goto(f"{desk.server}/in/{people.make_sign_in_link(bob)}/")
    other.wait_for_selector("#work:not([hidden])")
    other.close()
    with page.expect_navigation():
        desk.press("d n")
    page.wait_for_selector("#work:not([hidden])")
    assert not Label.objects.exists()
    desk.sign_in(ann)
    expect(page.locator("#save")).to_have_attribute("data-save", "saved")
    expect(page.locator("#step-text-0")).not_to_contain_text("0. Call it")
    assert Label.objects.get().labeler == ann


def test_two_windows_never_overwrite_each_other_unseen(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    other = desk.context.new_page()
    other.goto(f"{desk.server}/label/")
    other.wait_for_selector("#work:not([hidden])")
    other.keyboard.press("s")
    expect(other.locator("#save")).to_have_attribute("data-save", "saved")
    page.bring_to_front()
    desk.press("a")
    expect(page.locator("#dialog-title")).to_have_text("Two versions of this solution")
    page.get_by_role("button", name="The other one").click()
    okay = page.locator(".step").nth(0).locator(".sign-okay")
    expect(okay).to_have_attribute("aria-checked", "true")


def test_a_right_looking_solution_with_another_answer_is_asked_about(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    desk.press("a a a a Enter")
    expect(page.locator("#dialog-title")).to_have_text("Is the solution right?")
    page.get_by_role("button", name="the guess is wrong").click()
    expect(page.locator("#step-text-0")).to_contain_text("1. Call it")
    assert Label.objects.get().key_disputed


def test_give_up_and_bad_problem_need_a_reason(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    desk.press("g")
    page.locator("#dialog").get_by_role("button", name="Give up").click()
    expect(page.locator("#reason-error")).to_have_text("Please say why, in a few words.")
    page.locator("#reason").fill("I cannot follow any of it, and d a s n are typed here")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#step-text-0")).to_contain_text("1. Call it")
    desk.press("p")
    page.locator("#reason").fill("no question in it")
    page.locator("#dialog").get_by_role("button", name="Report").click()
    expect(page.locator("#step-text-0")).to_contain_text("2. Call it")
    desk.saved()
    assert list(Label.objects.order_by("id").values_list("finish_reason", flat=True)) == [
        "give_up",
        "bad_problem",
    ]


def test_what_was_sent_is_taken_back_from_the_message_and_from_recent_work(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    desk.press("d n")
    page.locator("#toast-undo").click()
    expect(page.locator("#step-text-0")).to_contain_text("0. Call it")
    expect(page.locator("#submit")).to_have_text("Submit: step 1 is the first bad step")
    desk.press("z a d n")
    expect(page.locator("#step-text-0")).to_contain_text("1. Call it")
    desk.saved()
    page.goto(f"{desk.server}/label/mine/")
    page.get_by_role("button", name="Take back").click()
    page.wait_for_selector("#work:not([hidden])")
    expect(page.locator("#step-text-0")).to_contain_text("0. Call it")
    assert Label.objects.filter(is_current=True).count() == 1


def test_typing_in_the_calculator_rates_nothing(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    page.locator("#calc-in").click()
    page.keyboard.type("5*14 - 2*(3*14-7) and")
    page.keyboard.press("Enter")
    expect(page.locator("#calc-out")).to_contain_text("Only numbers")
    page.locator("#calc-in").fill("1/3 + 1/6")
    page.keyboard.press("Enter")
    expect(page.locator("#calc-out")).to_contain_text("1/2 = 0.5")
    expect(page.locator("#submit")).to_have_text("Rate step 1, or find the first bad step")
    desk.press("Escape a")
    expect(page.locator("#submit")).to_have_text("Rate step 2, or find the first bad step")


def test_when_nothing_is_left_the_page_says_so(desk: Desk, ann: User) -> None:
    page = desk.begin(ann)
    for number in range(4):
        expect(page.locator("#step-text-0")).to_contain_text(f"{number}. Call it")
        desk.press("d n")
    expect(page.locator("#screen h2")).to_have_text("All done")
    assert desk.noise == []


def violations(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {[node['html'][:120] for node in rule['nodes']]}" for rule in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_fails_axe_or_scrolls_sideways(
    browser: Browser, live_server: LiveServer, ann: User, size: dict[str, Any], scheme: Any
) -> None:
    context = browser.new_context(**size, color_scheme=scheme, reduced_motion="reduce")
    desk = Desk(context, live_server.url)
    faults: dict[str, list[str]] = {}

    def look(name: str) -> None:
        wide = desk.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        faults[name] = violations(desk.page) + (["scrolls sideways"] if wide else [])

    desk.page.goto(f"{live_server.url}/sign-in/")
    look("sign-in")
    page = desk.begin(ann)
    look("label")
    desk.press("a d r")
    look("judged")
    desk.press("?")
    look("keys")
    desk.press("Escape g")
    look("give up")
    desk.press("Escape n")
    expect(page.locator("#toast")).to_be_visible()
    look("sent")
    for path in ("/label/guidelines/", "/label/screening/", "/label/mine/", "/settings/"):
        page.goto(f"{live_server.url}{path}")
        look(path)
    assert desk.noise == []
    for path in ("/no/such/page/", "/lead/"):
        page.goto(f"{live_server.url}{path}")
        look(path)
    context.close()
    assert {name: found for name, found in faults.items() if found} == {}, json.dumps(faults, indent=1)


@pytest.fixture
def doubts(project: Project) -> list[AnswerCheck]:
    """Two answers that graders contradict each other about, one of them in a long problem."""
    votes = {"exact": "wrong", "paper": "wrong", "math-verify": "right"}
    rows = [("Find $x$.", r"32\text{ cm}", "32 m"), ("Long. " * 60, r"\frac{1}{2}" * 20, "$\\sqrt2$")]
    made = []
    for text, key, answer in rows:
        problem = make.problem(project, text=text, ground_truth_answer=key)
        make.solution(problem, answer=answer, grade="wrong", graded_by="exact")
        fields = {"votes": votes, "grade": "wrong", "graded_by": "exact"}
        made.append(AnswerCheck.objects.create(problem=problem, answer=answer, **fields))
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_lead_settles_answers_by_keyboard_and_no_list_fails_axe(
    browser: Browser, live_server: LiveServer, doubts: list[AnswerCheck], size: dict[str, Any], scheme: Any
) -> None:
    context = browser.new_context(**size, color_scheme=scheme, reduced_motion="reduce")
    desk, page_of = Desk(context, live_server.url), f"{live_server.url}/lead/problems/answers/"
    page, faults = desk.page, []

    def look() -> None:
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        faults.extend(violations(page) + (["scrolls sideways"] if wide else []))

    desk.sign_in(make.lead())
    page.goto(f"{live_server.url}/lead/problems/")
    page.get_by_role("link", name="Answers to check (2)").click()
    expect(page.locator("dd .katex").first).to_be_visible()
    look()
    for _ in doubts:
        page.get_by_role("button", name="Right", exact=True).first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("The grade of 1 solution was written.")).to_be_visible()
    expect(page.get_by_role("heading", name="No answer is in doubt")).to_be_visible()
    look()
    page.goto(f"{page_of}?settled=1")
    look()
    page.get_by_role("button", name="Take it back").first.click()
    expect(page.get_by_role("link", name="to check (1)")).to_be_visible()
    context.close()
    assert faults == []
    assert desk.noise == []
