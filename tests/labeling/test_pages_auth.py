"""Signing in and out, start pages, settings, health, and the pages for what went wrong."""

from typing import Any

import pytest
from django.contrib.auth import get_user
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from labeling.models import User
from labeling.services import people
from tests import make

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough one"


@pytest.fixture
def ann() -> User:
    return people.create_person("ann", "labeler", project=make.project(), password=PASSWORD)


def signed_in(client: Client, person: User) -> Client:
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    return client


# --- Password
def test_the_right_password_signs_in_and_leads_to_the_start_page(client: Client, ann: User) -> None:
    response = client.post(reverse("sign-in"), {"username": "ann", "password": PASSWORD})
    assert response.status_code == 302
    assert response["Location"] == reverse("home")
    assert get_user(client) == ann


def test_the_page_that_was_asked_for_comes_after_signing_in(client: Client, ann: User) -> None:
    asked = client.get(reverse("my-work"))
    assert asked["Location"] == f"{reverse('sign-in')}?next={reverse('my-work')}"
    form = client.get(asked["Location"])
    assert f'name="next" value="{reverse("my-work")}"' in form.content.decode()
    done = client.post(
        reverse("sign-in"), {"username": "ann", "password": PASSWORD, "next": reverse("my-work")}
    )
    assert done["Location"] == reverse("my-work")


def test_a_foreign_address_is_not_followed_after_signing_in(client: Client, ann: User) -> None:
    data = {"username": "ann", "password": PASSWORD, "next": "https://elsewhere.example/"}
    assert client.post(reverse("sign-in"), data)["Location"] == reverse("home")


def test_a_wrong_password_is_refused_with_a_sentence(client: Client, ann: User) -> None:
    response = client.post(reverse("sign-in"), {"username": "ann", "password": "nope"})
    assert response.status_code == 200
    assert "do not belong together" in response.content.decode()


def test_ten_wrong_passwords_close_the_name_for_a_while(client: Client, ann: User) -> None:
    cache.clear()
    for _ in range(10):
        response = client.post(reverse("sign-in"), {"username": "ann", "password": "nope"})
    assert response.status_code == 429
    assert "Too many tries" in response.content.decode()
    right = client.post(reverse("sign-in"), {"username": "ann", "password": PASSWORD})
    assert right.status_code == 429


def test_signing_out_needs_a_post(client: Client, ann: User) -> None:
    signed_in(client, ann)
    assert client.get(reverse("sign-out")).status_code == 405
    assert client.post(reverse("sign-out"))["Location"] == reverse("sign-in")
    assert client.get(reverse("my-work")).status_code == 302


# --- Link
def test_a_link_signs_its_owner_in(client: Client, ann: User) -> None:
    response = client.get(reverse("sign-in-link", args=[people.make_sign_in_link(ann)]))
    assert response["Location"] == reverse("home")
    assert get_user(client) == ann


def test_a_link_works_more_than_once_and_ends_when_it_is_called_back(client: Client, ann: User) -> None:
    token = people.make_sign_in_link(ann)
    assert Client().get(reverse("sign-in-link", args=[token])).status_code == 302
    assert Client().get(reverse("sign-in-link", args=[token])).status_code == 302
    people.revoke_links(ann)
    over = client.get(reverse("sign-in-link", args=[token]))
    assert over.status_code == 410
    assert "This link is over" in over.content.decode()
    assert not get_user(client).is_authenticated


def test_a_link_of_someone_else_changes_who_is_signed_in(client: Client, ann: User) -> None:
    signed_in(client, make.lead())
    client.get(reverse("sign-in-link", args=[people.make_sign_in_link(ann)]))
    assert get_user(client) == ann


def test_a_bad_link_leaves_the_signed_in_person_alone(client: Client, ann: User) -> None:
    response = signed_in(client, ann).get(reverse("sign-in-link", args=["no-such-token"]))
    assert response.status_code == 410
    assert "You are signed in as" in response.content.decode()


# --- Start page
@pytest.mark.parametrize(
    ("role", "name"), [("labeler", "label"), ("lead", "lead"), ("researcher", "research")]
)
def test_everyone_starts_at_their_own_page(client: Client, role: str, name: str) -> None:
    assert signed_in(client, make.user(role)).get("/")["Location"] == reverse(name)


def test_the_bar_holds_the_pages_of_the_role_and_marks_the_present_one(client: Client, ann: User) -> None:
    page = signed_in(client, ann).get(reverse("my-work")).content.decode()
    assert f'href="{reverse("my-work")}" aria-current="page"' in page
    assert reverse("lead") not in page
    staff = signed_in(client, make.lead()).get(reverse("settings")).content.decode()
    assert f'href="{reverse("lead")}"' in staff
    assert "aria-current" not in staff


# --- Settings
def test_a_person_changes_name_and_time_zone(client: Client, ann: User) -> None:
    data = {"form": "profile", "first_name": "Ann", "last_name": "Lee", "time_zone": "Europe/Berlin"}
    assert signed_in(client, ann).post(reverse("settings"), data).status_code == 302
    ann.refresh_from_db()
    assert (ann.display_name, ann.time_zone) == ("Ann Lee", "Europe/Berlin")


def test_an_unknown_time_zone_is_refused(client: Client, ann: User) -> None:
    response = signed_in(client, ann).post(reverse("settings"), {"form": "profile", "time_zone": "Mars/Base"})
    assert response.status_code == 200
    assert "time_zone" in response.context["profile"].errors


def test_a_person_cannot_change_what_is_not_theirs_to_change(client: Client, ann: User) -> None:
    data = {"form": "profile", "role": "lead", "username": "boss", "is_superuser": "1", "public_id": "x"}
    signed_in(client, ann).post(reverse("settings"), data)
    ann.refresh_from_db()
    assert (ann.role, ann.username, ann.is_superuser) == ("labeler", "ann", False)


def test_a_new_password_needs_the_old_one_and_keeps_the_session(client: Client, ann: User) -> None:
    new = {"new_password1": "another good one", "new_password2": "another good one", "form": "password"}
    signed_in(client, ann)
    assert client.post(reverse("settings"), {**new, "old_password": "wrong"}).status_code == 200
    assert client.post(reverse("settings"), {**new, "old_password": PASSWORD}).status_code == 302
    assert client.get(reverse("settings")).status_code == 200
    ann.refresh_from_db()
    assert ann.check_password("another good one")


def test_someone_who_came_by_link_sets_a_first_password(client: Client) -> None:
    person = people.create_person("bo", "labeler", project=make.project())
    data = {"form": "password", "new_password1": "another good one", "new_password2": "another good one"}
    assert signed_in(client, person).post(reverse("settings"), data).status_code == 302
    person.refresh_from_db()
    assert person.check_password("another good one")


# --- Health and errors
def test_health_is_public_and_says_whether_the_database_answers(client: Client) -> None:
    body = client.get(reverse("health")).json()
    assert (body["status"], body["database"]) == ("ok", True)


def test_health_is_503_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeling.views.auth._database_answers", lambda: False)
    response = client.get(reverse("health"))
    assert (response.status_code, response.json()["status"]) == (503, "down")


def test_a_page_of_another_role_says_so(client: Client, ann: User) -> None:
    response = signed_in(client, ann).get(reverse("lead"))
    assert response.status_code == 403
    assert "not for your role" in response.content.decode()


def test_a_missing_page_has_its_own_page(client: Client, ann: User) -> None:
    response = signed_in(client, ann).get("/no/such/page/")
    assert response.status_code == 404
    assert "There is no such page" in response.content.decode()


def test_a_form_without_its_token_is_refused_with_the_cure(ann: User) -> None:
    client = signed_in(Client(enforce_csrf_checks=True), ann)
    response = client.post(reverse("settings"), {"form": "profile"})
    assert response.status_code == 403
    assert "STEPMARK_TRUSTED_ORIGINS" in response.content.decode()


def test_a_fault_of_the_server_shows_a_page_that_needs_nothing(ann: User, monkeypatch: Any) -> None:
    def broken(_user: User) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("labeling.views.label._user", broken)
    client = signed_in(Client(raise_request_exception=False), ann)
    response = client.get(reverse("my-work"))
    assert response.status_code == 500
    assert "Something broke here" in response.content.decode()
    assert "boom" not in response.content.decode()
