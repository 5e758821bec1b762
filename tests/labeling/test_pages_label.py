"""The labeler's pages as the server sends them: what they hold, and what they must never hold."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from labeling.access import role_required
from labeling.models import Enrolment, Label, Project, QueueItem, User
from labeling.views.guideline_text import Block, blocks
from labeling.views.label_strings import label_strings
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(name="Pilot", slug="pilot")


def page(person: User, name: str, **query: str) -> str:
    client = Client()
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    response = client.get(reverse(name), query)
    assert response.status_code == 200
    return response.content.decode()


def json_in(html: str, name: str) -> dict[str, object]:
    found = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])  # type: ignore[no-any-return]


# --- Labeling page
def test_the_labeling_page_carries_its_addresses_and_words(project: Project) -> None:
    person = make.labeler(project)
    html = page(person, "label")
    config = json_in(html, "label-config")
    assert config["owner"] == person.public_id
    assert config["urls"]["next"] == "/api/projects/pilot/next/"  # type: ignore[index]
    assert json_in(html, "label-strings") == label_strings()


def test_the_labeling_page_has_no_inline_script_or_style(project: Project) -> None:
    html = page(make.labeler(project), "label")
    for tag, inside in re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL):
        assert 'type="application/json"' in tag or not inside.strip()
    assert " style=" not in html
    assert not re.search(r"\son\w+=", html)


def test_the_csrf_cookie_comes_with_the_labeling_page(project: Project) -> None:
    client = Client()
    client.force_login(make.labeler(project), "django.contrib.auth.backends.ModelBackend")
    assert "csrftoken" in client.get(reverse("label")).cookies


def test_a_labeler_always_works_in_a_project_of_theirs(project: Project) -> None:
    second, third = make.project(name="Second", slug="second"), make.project(name="Third", slug="third")
    person = make.labeler(second)
    make.enrolment(third, person)
    client = Client()
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")

    def served(**query: str) -> object:
        html = client.get(reverse("label"), query).content.decode()
        return json_in(html, "label-config")["urls"]["next"]  # type: ignore[index]

    assert served() == "/api/projects/second/next/"
    assert served(project="third") == "/api/projects/third/next/"
    assert served() == "/api/projects/third/next/", "the choice is remembered"
    assert served(project="pilot") == "/api/projects/third/next/", "not enrolled there"
    assert "Go to Second" in client.get(reverse("label")).content.decode()


def test_someone_who_is_not_enrolled_is_told_so(project: Project) -> None:
    assert "not enrolled" in page(make.lead(), "label")


@pytest.mark.parametrize("name", ["label", "guidelines", "my-work"])
def test_without_a_project_the_pages_say_what_is_missing(name: str) -> None:
    assert "No project yet" in page(make.user("labeler"), name)


def test_every_word_of_the_scripts_has_its_sentence() -> None:
    """Names that the scripts ask for exist, and no sentence is left over."""
    from pathlib import Path

    folder = Path(__file__).resolve().parents[2] / "static" / "js" / "label"
    code = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))
    strings = label_strings()
    asked = set(re.findall(r"\b(?:t|say)\(\"([a-z_]+)\"", code))
    assert asked - strings.keys() == set()
    quoted = set(re.findall(r"[\"'`]([a-z_]+)[\"'`]", code))
    patterns = ("calc_", "unsent_", "give_up_", "bad_problem_")
    left = {
        name
        for name in strings.keys() - quoted
        if not name.startswith(patterns) and not name.endswith("_title")
    }
    assert left == set()


# --- Guidelines
def test_guidelines_are_accepted_once_per_version(project: Project) -> None:
    person = make.user("labeler")
    enrolment = make.enrolment(project, person, accepted_guidelines=0)
    assert "Begin" in page(person, "guidelines")
    client = Client()
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    assert client.post(reverse("guidelines"))["Location"] == reverse("label")
    enrolment.refresh_from_db()
    assert enrolment.accepted_guidelines == project.guideline_version
    assert "I have read this" not in page(person, "guidelines")
    Project.objects.update(guideline_version=2)
    assert "have changed since" in page(person, "guidelines")


def test_a_projects_own_guidelines_are_shown_as_text_never_as_markup(project: Project) -> None:
    Project.objects.update(guidelines="# Rules\n\nRate <b>each</b> step.\n\n- one\n- $x<2$")
    html = page(make.labeler(project), "guidelines")
    assert '<h2 class="math">Rules</h2>' in html
    assert "&lt;b&gt;each&lt;/b&gt;" in html
    assert '<li class="math">$x&lt;2$</li>' in html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a\nb\n\nc", [Block("text", "a\nb"), Block("text", "c")]),
        ("# H\ntext", [Block("heading", "H"), Block("text", "text")]),
        ("- a\n  more\n* b", [Block("list", "", ["a more", "b"])]),
        ("text\n- a\n\n- b", [Block("text", "text"), Block("list", "", ["a"]), Block("list", "", ["b"])]),
        ("#no heading\r\nx", [Block("text", "#no heading\nx")]),
    ],
)
def test_guideline_text_is_cut_into_blocks(text: str, expected: list[Block]) -> None:
    assert blocks(text) == expected


# --- Screening result
def test_a_passed_and_a_failed_screening_show_their_numbers(project: Project) -> None:
    Project.objects.update(screening_questions=2, screening_pass_mark=1.0)
    project.refresh_from_db()
    items = [make.gold_item(project, screening=True, first_error=1) for _ in range(2)]
    good = make.labeler(project, status=Enrolment.Status.SCREENING)
    poor = make.labeler(project, status=Enrolment.Status.SCREENING)
    for item in items:
        make.label(item, labeler=good, ratings=[1, -1])
    make.label(items[0], labeler=poor, ratings=[1, -1])
    assert "1 of 2 questions" in page(poor, "screening-result")
    make.label(items[1], labeler=poor, ratings=[-1])
    assert "You passed" in page(good, "screening-result")
    assert "2 of 2" in page(good, "screening-result")
    failed = page(poor, "screening-result")
    assert "not enough" in failed
    assert "1 of 2" in failed
    assert "50%" in failed
    assert "100%" in failed


def test_the_result_page_of_a_stranger_and_of_a_beginner(project: Project) -> None:
    assert "not enrolled" in page(make.lead(), "screening-result")
    assert "not begun" in page(make.labeler(project, status="screening"), "screening-result")
    assert "no screening for you" in page(make.labeler(project), "screening-result")


# --- Recent work
def test_recent_work_lists_a_persons_own_labels_newest_first(project: Project) -> None:
    person, other = make.labeler(project), make.labeler(project)
    first = make.problem(project, text="Problem one")
    second = make.problem(project, text="Problem <two>")
    make.label(make.item(make.solution(first)), labeler=person, ratings=[1, -1])
    make.label(make.item(make.solution(second)), labeler=person, ratings=[1, 1, 1])
    make.label(make.item(make.solution(make.problem(project, text="Not mine"))), labeler=other)
    html = page(person, "my-work")
    assert html.index("Problem &lt;two&gt;") < html.index("Problem one")
    assert "Not mine" not in html
    assert "first bad step: 2" in html
    assert "no bad step" in html


def test_a_label_can_be_taken_back_while_its_time_lasts_and_screening_never(project: Project) -> None:
    person = make.labeler(project)
    label = make.label(make.item(project=project), labeler=person)
    assert f'data-reopen="{label.pk}"' in page(person, "my-work")
    Label.objects.update(submitted_at=timezone.now() - timedelta(minutes=11))
    assert "data-reopen" not in page(person, "my-work")
    beginner = make.labeler(project, status="screening")
    make.label(make.gold_item(project, screening=True, first_error=1), labeler=beginner, ratings=[1, -1])
    assert "data-reopen" not in page(beginner, "my-work")


def test_recent_work_does_not_tell_tests_from_work(project: Project) -> None:
    person = make.labeler(project)
    make.label(make.gold_item(project, first_error=1), labeler=person, ratings=[1, -1])
    make.label(make.item(project=project), labeler=person, ratings=[1, -1])
    rows = re.findall(r"<tr>.*?</tr>", page(person, "my-work").split("<tbody>")[1], re.DOTALL)
    shapes = {re.sub(r"\d+|What is [^<]*", "", row) for row in rows}
    assert len(rows) == 2
    assert len(shapes) == 1
    for word in (QueueItem.Purpose.GOLD, "agrees", "quality"):
        assert word not in page(person, "my-work")


def test_recent_work_comes_in_pages(project: Project) -> None:
    person = make.labeler(project)
    for _ in range(26):
        make.label(make.item(project=project), labeler=person)
    assert page(person, "my-work").count("<tr>") == 1 + 25
    assert page(person, "my-work", page="2").count("<tr>") == 1 + 1
    assert "Page 2 of 2" in page(person, "my-work", page="2")


def test_empty_recent_work_says_what_will_come(project: Project) -> None:
    assert "Nothing judged yet" in page(make.labeler(project), "my-work")


# --- Who may
def test_a_misspelt_role_is_refused_when_the_module_loads() -> None:
    with pytest.raises(ValueError, match="laed"):
        role_required("laed")
    with pytest.raises(ValueError, match="choose from"):
        role_required()
