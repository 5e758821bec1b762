"""The whole circle in a real browser: labeler by keyboard, lead, researcher, export."""

import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import expect

from labeling.exporting import validate_export
from selection.demo.seed import SMALL
from tests.browser.labeling_page import Keyboard
from tests.browser.person import Person, Visits
from tests.browser.running import Demo

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RATED, LEFT = 8, 2
WORK_MS = 240_000
LABELS_OF_THE_LABELER = """
from labeling.models import Label
result = list(Label.objects.filter(labeler__username="labeler", is_current=True)
    .values_list("purpose", "finish_reason"))
"""


def test_once_round_the_circle(demo: Demo, visits: Visits, tmp_path: Path) -> None:
    labeler_works_by_keyboard(visits.person(demo.links["labeler"]))
    lead_sees_the_numbers(visits.person(demo.links["lead"]), demo)
    demo.manage("simulate_labelers", "--labelers", "4", "--base-url", demo.base_url)
    researcher = visits.person(demo.links["researcher"])
    researcher_trains_and_opens_the_next_generation(researcher)
    export_is_whole(researcher, tmp_path)
    assert demo.errors_in_logs() == []


def labeler_works_by_keyboard(person: Person) -> None:
    page = person.page
    keyboard = Keyboard(person)
    person.until(lambda: page.locator("#screen").is_visible())
    person.press("Read the guidelines")
    person.until(lambda: "/guidelines/" in page.url)
    person.look()
    person.press("I have read this")
    person.until(keyboard.has_work)
    person.look()
    for _ in range(SMALL.screening):
        keyboard.judge()
    person.sees("You passed the screening")
    person.look()
    person.press("Go on to the work")
    for _ in range(RATED):
        keyboard.judge()
    keyboard.leave("g", "I cannot follow the second step.")
    keyboard.leave("p", "The problem leaves out the price.")
    person.until(keyboard.has_work)
    for path in ("/label/screening/", "/label/mine/", "/label/guidelines/", "/settings/"):
        person.go(path)
    person.go("/label/mine/")
    assert page.locator("tbody tr").count() >= RATED + LEFT


def lead_sees_the_numbers(person: Person, demo: Demo) -> None:
    """The row of the labeler says what the tables hold, counted here without the application's own counts."""
    made = demo.run(LABELS_OF_THE_LABELER)
    assert len(made) == SMALL.screening + RATED + LEFT
    work = Counter(finish for purpose, finish in made if purpose == "work")
    person.go("/lead/")
    row = person.page.locator("tr", has_text="Practice labeler")
    cells = row.locator("td").all_inner_texts()
    assert "active" in cells[1]
    assert cells[2] == f"{SMALL.screening} / {SMALL.screening}"
    shown = [int(cell) for cell in cells[5:8]]
    assert shown == [work["found_error"] + work["solution"], work["give_up"], work["bad_problem"]]
    row.locator("a").click()
    person.look()
    for path in ("problems/", "problems/answers/", "audit/", "people/new/"):
        person.go(f"/lead/{path}")
    for path in ("/projects/", "/jobs/"):
        person.go(path)


def researcher_trains_and_opens_the_next_generation(person: Person) -> None:
    page = person.page
    for path in ("/research/", "/research/pools/", "/research/models/", "/research/generations/"):
        person.go(path)
    person.go("/research/generations/0/")
    page.get_by_label("Recipe").select_option("smoke")
    page.get_by_role("button", name="Close and train").click()
    page.get_by_role("button", name="Yes, go on").click()
    # Nobody reloads: the page follows the job and shows its end by itself.
    verdict = page.locator(".stepper li").last
    expect(verdict).to_have_text(re.compile("promoted|rejected", re.IGNORECASE), timeout=WORK_MS)
    person.look()
    person.go("/research/generations/")
    page.get_by_label("Model").select_option(index=1)
    page.get_by_label("Strategy").select_option("convincing_wrong")
    page.get_by_label("Size").fill("20")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page).to_have_url(re.compile("/research/generations/1/"), timeout=WORK_MS)
    expect(page.locator(".stepper [aria-current=step]")).to_contain_text("Labeling", timeout=WORK_MS)
    person.look()
    causes = page.locator("tbody tr .badge").all_inner_texts()
    assert "convincing wrong" in causes
    assert "most convincing left" in causes or "random slice" in causes
    page.get_by_role("link", name=re.compile("^solution ")).first.click()
    person.look()


def export_is_whole(person: Person, folder: Path) -> None:
    page = person.page
    person.go("/files/")
    page.get_by_role("button", name="Export", exact=True).click()
    person.until(lambda: page.locator(".job .badge", has_text="done").count() == 1, seconds=60)
    person.go("/files/")
    links = page.locator("a[download]")
    for index in range(3):
        with page.expect_download() as download:
            links.nth(index).click()
        download.value.save_as(folder / links.nth(index).inner_text())
    check = validate_export(folder)
    assert check.problems == []
    assert check.lines > 0
