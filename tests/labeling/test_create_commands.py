"""The two commands that a new installation begins with."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from labeling.models import Enrolment, Project, User
from labeling.services import people

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


def test_a_project_is_made_with_its_guidelines(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("Rate each step.")
    assert (
        run("create_project", "School algebra", "--screening", "4", "--guidelines", str(rules))
        == "school-algebra"
    )
    project = Project.objects.get(slug="school-algebra")
    assert (project.screening_questions, project.guidelines) == (4, "Rate each step.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Twice"], "already exists"),
        (["Other", "--pass-mark", "75"], "less than or equal to 1"),
        (["Other", "--guidelines", "no-such-file"], "cannot be read"),
    ],
)
def test_a_project_that_cannot_be_is_refused_with_the_reason(arguments: list[str], message: str) -> None:
    run("create_project", "Twice")
    with pytest.raises(CommandError, match=message):
        run("create_project", *arguments)


def test_the_link_of_a_new_person_signs_them_in() -> None:
    run("create_project", "Algebra")
    link = run("create_person", "ada", "--base-url", "https://labels.example.org/")
    assert link.startswith("https://labels.example.org/in/")
    token = link.rstrip("/").rpartition("/")[2]
    assert people.user_of_link(token) == User.objects.get(username="ada", role="labeler")
    assert Enrolment.objects.filter(user__username="ada", project__slug="algebra").exists()


def test_asking_again_gives_another_link_for_the_same_person() -> None:
    first, second = (
        run("create_person", "lea", "--role", "lead"),
        run("create_person", "lea", "--role", "lead"),
    )
    assert first != second
    assert User.objects.count() == 1


def test_another_role_or_an_unknown_project_is_refused() -> None:
    run("create_person", "lea", "--role", "lead")
    with pytest.raises(CommandError, match="lead already"):
        run("create_person", "lea", "--role", "researcher")
    with pytest.raises(CommandError, match="no project 'nowhere'"):
        run("create_person", "ada", "--project", "nowhere")
