"""Every address with who may open it, in one table; an address that is not in it fails the test."""

from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from labeling.models import User

ROLES = ("anonymous", "labeler", "lead", "researcher")
EVERYONE = set(ROLES)
SIGNED_IN = {"labeler", "lead", "researcher"}
STAFF = {"lead", "researcher"}

GET, POST, PUT = "GET", "POST", "PUT"

# Address as in the resolver -> (method, who may).
WHO_MAY: dict[str, tuple[str, set[str]]] = {
    # Signing in and out.
    "": (GET, SIGNED_IN),
    "sign-in/": (GET, EVERYONE),
    "sign-out/": (POST, SIGNED_IN),
    "in/<str:token>/": (GET, EVERYONE),
    "health/": (GET, EVERYONE),
    "settings/": (GET, SIGNED_IN),
    # The labeling page and its endpoints.
    "label/": (GET, SIGNED_IN),
    "label/guidelines/": (GET, SIGNED_IN),
    "label/screening/": (GET, SIGNED_IN),
    "label/mine/": (GET, SIGNED_IN),
    "api/projects/<slug:slug>/next/": (POST, SIGNED_IN),
    "api/assignments/<int:pk>/draft/": (PUT, SIGNED_IN),
    "api/assignments/<int:pk>/submit/": (POST, SIGNED_IN),
    "api/labels/<int:pk>/reopen/": (POST, SIGNED_IN),
    # The lead's pages.
    "lead/": (GET, STAFF),
    "lead/labelers/<int:pk>/": (GET, STAFF),
    "lead/labelers/<int:pk>/pause/": (POST, STAFF),
    "lead/labelers/<int:pk>/readmit/": (POST, STAFF),
    "lead/labelers/<int:pk>/link/": (POST, STAFF),
    "lead/people/new/": (GET, STAFF),
    "lead/problems/": (GET, STAFF),
    "lead/problems/<int:pk>/decide/": (POST, STAFF),
    "lead/problems/answers/": (GET, STAFF),
    "lead/problems/answers/<int:pk>/settle/": (POST, STAFF),
    "lead/problems/answers/<int:pk>/reopen/": (POST, STAFF),
    "lead/audit/": (GET, STAFF),
    "projects/": (GET, STAFF),
    "projects/new/": (GET, STAFF),
    "projects/<int:pk>/": (GET, STAFF),
    "projects/<int:pk>/choose/": (POST, STAFF),
    # Files and jobs.
    "files/": (GET, STAFF),
    "files/preview/<str:name>/": (GET, STAFF),
    "files/import/": (POST, STAFF),
    "files/export/": (POST, STAFF),
    "files/exports/<str:name>/<str:file>": (GET, STAFF),
    "jobs/": (GET, STAFF),
    "jobs/<int:pk>/": (GET, STAFF),
    "jobs/<int:pk>/status/": (GET, STAFF),
    "jobs/<int:pk>/cancel/": (POST, STAFF),
    "jobs/<int:pk>/retry/": (POST, STAFF),
    # The researcher's pages.
    "research/": (GET, STAFF),
    "research/pools/": (GET, STAFF),
    "research/pools/<int:pk>/": (GET, STAFF),
    "research/pools/<int:pk>/score/": (POST, STAFF),
    "research/solutions/<int:pk>/": (GET, STAFF),
    "research/models/": (GET, STAFF),
    "research/models/train/": (POST, STAFF),
    "research/models/<int:pk>/": (GET, STAFF),
    "research/models/<int:pk>/promote/": (POST, STAFF),
    "research/models/<int:pk>/reject/": (POST, STAFF),
    "research/generations/": (GET, STAFF),
    "research/generations/open/": (POST, STAFF),
    "research/generations/<int:number>/": (GET, STAFF),
    "research/generations/<int:number>/close/": (POST, STAFF),
    "research/generations/<int:number>/overrule/": (POST, STAFF),
    "api/projects/<slug:slug>/score/": (POST, STAFF),
    "api/scores/<int:pk>/": (GET, STAFF),
}
SAMPLES = {
    "<str:token>": "no-such-token",
    "<slug:slug>": "no-such-project",
    "<int:pk>": "999999",
    "<int:number>": "999",
    "<str:name>": "no-such-name",
    "<str:file>": "labels.jsonl",
}


def addresses(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from addresses(entry, route)
        elif isinstance(entry, URLPattern):
            yield route


def filled(route: str) -> str:
    for placeholder, value in SAMPLES.items():
        route = route.replace(placeholder, value)
    assert "<" not in route, f"give {route} a sample value in SAMPLES"
    return f"/{route}"


def send(client: Client, method: str, path: str) -> HttpResponse:
    if method == GET:
        return client.get(path)  # type: ignore[return-value]
    return client.generic(method, path, "{}", content_type="application/json")  # type: ignore[return-value]


def is_refused(response: HttpResponse) -> bool:
    to_sign_in = response.status_code == 302 and response.headers["Location"].startswith("/sign-in/?next=")
    return to_sign_in or response.status_code in {401, 403}


def test_the_table_lists_every_address_and_no_other() -> None:
    existing = set(addresses(get_resolver()))
    assert existing - WHO_MAY.keys() == set(), "say in WHO_MAY who may open these"
    assert WHO_MAY.keys() - existing == set(), "these are gone"


@pytest.mark.django_db
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("route", WHO_MAY)
def test_only_these_roles_get_in(route: str, role: str, client: Client) -> None:
    method, allowed = WHO_MAY[route]
    if role != "anonymous":
        client.force_login(
            User.objects.create_user(role, role=role), "django.contrib.auth.backends.ModelBackend"
        )
    response = send(client, method, filled(route))
    assert is_refused(response) == (role not in allowed), response.status_code
    assert response.status_code < 500


@pytest.mark.django_db
@pytest.mark.parametrize("route", [route for route, (method, _) in WHO_MAY.items() if method == POST])
def test_what_changes_something_refuses_a_plain_visit(route: str, client: Client) -> None:
    client.force_login(
        User.objects.create_user("lead", role="lead"), "django.contrib.auth.backends.ModelBackend"
    )
    assert client.get(filled(route)).status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize("route", [route for route, (method, _) in WHO_MAY.items() if method != GET])
def test_what_changes_something_needs_the_csrf_token(route: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(
        User.objects.create_user("lead", role="lead"), "django.contrib.auth.backends.ModelBackend"
    )
    assert send(client, WHO_MAY[route][0], filled(route)).status_code == 403
