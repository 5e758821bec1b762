"""The JSON endpoints: what they take, what they give, whom they refuse."""

import uuid
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from labeling.models import Assignment, Label, Project, Solution, User
from labeling.services import labels, queue
from tests import make

pytestmark = pytest.mark.django_db

JSON = "application/json"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def ask(client: Client, project: Project, have: list[int] | None = None) -> dict[str, Any]:
    response = client.post(f"/api/projects/{project.slug}/next/", {"have": have or []}, content_type=JSON)
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    return body


def send(client: Client, assignment: int, ratings: list[int], **fields: Any) -> Any:
    body = {
        "idempotency_key": str(uuid.uuid4()),
        "finish_reason": "found_error" if -1 in ratings else "solution",
        "ratings": ratings,
        "total_time_ms": 0,
        "active_time_ms": 0,
        **fields,
    }
    return client.post(f"/api/assignments/{assignment}/submit/", body, content_type=JSON)


def test_next_gives_what_the_page_needs_and_nothing_that_a_labeler_may_not_see() -> None:
    project = make.project()
    problem = make.problem(project, ground_truth_solution="secret way", dataset="math")
    solution = make.solution(problem, grade=Solution.Grade.WRONG, extra={"prm_score": 0.3})
    make.item(solution, pick_cause="convincing_wrong", verifier_score=0.98)
    body = ask(signed_in(make.labeler(project)), project)
    assert body["state"] == "work"
    assert set(body["assignment"]) == {
        *("id", "problem", "answer", "steps", "mode", "reasons"),
        *("draft", "draft_version", "lease_seconds"),
    }
    assert body["assignment"]["steps"] == solution.steps
    assert body["progress"] == {"phase": "work", "done": 0, "total": None, "today": 0}


def test_gold_and_work_look_the_same() -> None:
    shapes = []
    for share in (0.0, 1.0):
        project = make.project(gold_share=share)
        make.item(project=project)
        make.gold_item(project)
        body = ask(signed_in(make.labeler(project)), project)
        purpose = Assignment.objects.get(pk=body["assignment"]["id"]).item.purpose
        shapes.append((purpose, set(body), set(body["assignment"]), body["progress"]))
    (work, *first), (gold, *second) = shapes
    assert (work, gold) == ("work", "gold")
    assert first == second


def test_a_whole_round_over_the_endpoints() -> None:
    project = make.project()
    for _ in range(2):
        make.item(project=project)
    client = signed_in(make.labeler(project))
    first = ask(client, project)["assignment"]
    second = ask(client, project, [first["id"]])["assignment"]
    assert ask(client, project, [first["id"], second["id"]])["state"] == "hold"
    saved = client.put(
        f"/api/assignments/{first['id']}/draft/",
        {"version": 0, "draft": {"ratings": [1, None, None]}},
        content_type=JSON,
    )
    assert saved.json() == {"version": 1}
    answer = send(client, first["id"], [1, 1, -1], step_reasons={"2": "wrong arithmetic"}).json()
    assert answer["revision"] == 1
    assert answer["undo_until"] is not None
    assert answer["next"]["assignment"]["id"] == second["id"]
    assert answer["next"]["progress"]["done"] == 1
    assert send(client, second["id"], [1, 1, 1]).json()["next"]["state"] == "done"


def test_the_same_key_again_gives_the_same_answer_and_writes_nothing() -> None:
    project = make.project()
    make.item(project=project)
    client = signed_in(make.labeler(project))
    assignment = ask(client, project)["assignment"]["id"]
    key = str(uuid.uuid4())
    first = send(client, assignment, [1, 1, 1], idempotency_key=key)
    again = send(client, assignment, [1, 1, 1], idempotency_key=key)
    assert first.json() == again.json()
    assert Label.objects.count() == 1
    other = send(client, assignment, [1, 1, 1])
    assert (other.status_code, other.json()["code"]) == (409, "already_submitted")


def test_a_stale_draft_is_refused_with_the_newer_one() -> None:
    project = make.project()
    held = make.assignment(make.item(project=project))
    client = signed_in(held.labeler)
    address = f"/api/assignments/{held.pk}/draft/"
    client.put(address, {"version": 0, "draft": {"ratings": [1]}}, content_type=JSON)
    stale = client.put(address, {"version": 0, "draft": {"ratings": [-1]}}, content_type=JSON)
    assert stale.status_code == 409
    assert stale.json()["code"] == "stale_draft"
    assert (stale.json()["version"], stale.json()["draft"]) == (1, {"ratings": [1]})


def test_a_right_looking_solution_with_a_wrong_answer_is_confirmed_once() -> None:
    project = make.project()
    held = make.assignment(make.item(make.solution(project=project, grade=Solution.Grade.WRONG)))
    client = signed_in(held.labeler)
    asked = send(client, held.pk, [1, 1, 1])
    assert (asked.status_code, asked.json()["code"]) == (409, "confirm_answer")
    done = send(client, held.pk, [1, 1, 1], answer_confirmed=True, key_disputed=True)
    assert done.status_code == 200
    assert Label.objects.get().key_disputed


def test_passing_the_screening_is_shown_once_and_then_work_comes() -> None:
    project = make.project(screening_questions=1)
    make.gold_item(project, screening=True, first_error=None)
    make.item(project=project)
    client = signed_in(make.labeler(project, status="screening"))
    body = ask(client, project)
    assert body["progress"] == {"phase": "screening", "done": 0, "total": 1, "today": 0}
    answer = send(client, body["assignment"]["id"], [1, 1, 1]).json()
    assert answer["undo_until"] is None
    assert answer["next"]["state"] == "screening_over"
    assert ask(client, project)["state"] == "work"


def test_failing_the_screening_is_told_with_the_reason() -> None:
    project = make.project(screening_questions=1)
    make.gold_item(project, screening=True, first_error=None)
    client = signed_in(make.labeler(project, status="screening"))
    body = ask(client, project)
    answer = send(client, body["assignment"]["id"], [1, -1]).json()
    assert answer["next"]["state"] == "failed"
    assert "0 of 1" in answer["next"]["reason"]


def test_a_label_can_be_reopened_and_comes_back_with_its_ratings() -> None:
    project = make.project()
    label = make.label(project=project, ratings=[1, -1])
    assert label.labeler is not None
    client = signed_in(label.labeler)
    body = client.post(f"/api/labels/{label.pk}/reopen/").json()
    assert body["state"] == "work"
    assert body["assignment"]["draft"]["ratings"] == [1, -1, None]
    answer = send(client, body["assignment"]["id"], [1, 1, -1]).json()
    assert answer["revision"] == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"finish_reason": "solution"}, "idempotency_key"),
        ({"idempotency_key": "k", "finish_reason": "solution", "ratings": ["x"]}, "ratings"),
        ({"idempotency_key": "k", "finish_reason": "solution", "ratings": [True, 1, 1]}, "ratings"),
        ({"idempotency_key": "k", "finish_reason": "solution", "ratings": [5, 1, 1]}, "ratings"),
        ({"idempotency_key": "k", "finish_reason": "nonsense"}, "finish_reason"),
        ({"idempotency_key": "k", "finish_reason": "give_up"}, "note"),
        ({"idempotency_key": "k", "finish_reason": "solution", "total_time_ms": -1}, "total_time_ms"),
    ],
)
def test_a_body_that_is_no_judgement_is_refused_by_field(body: dict[str, Any], field: str) -> None:
    held = make.assignment(make.item(project=make.project()))
    address = f"/api/assignments/{held.pk}/submit/"
    response = signed_in(held.labeler).post(address, body, content_type=JSON)
    assert response.status_code == 400, response.json()
    assert (response.json()["code"], response.json()["field"]) == ("bad_submission", field)
    assert not Label.objects.exists()


ENDPOINTS = [
    ("post", "/api/projects/{slug}/next/", {}),
    ("put", "/api/assignments/{assignment}/draft/", {"version": 0, "draft": {}}),
    (
        "post",
        "/api/assignments/{assignment}/submit/",
        {"idempotency_key": "k", "finish_reason": "give_up", "note": "why"},
    ),
    ("post", "/api/labels/{label}/reopen/", {}),
]


@pytest.mark.parametrize(("method", "address", "body"), ENDPOINTS)
def test_strangers_are_refused(method: str, address: str, body: dict[str, Any]) -> None:
    project = make.project()
    held, label = make.assignment(make.item(project=project)), make.label(project=project)
    address = address.format(slug=project.slug, assignment=held.pk, label=label.pk)
    unsigned = getattr(Client(), method)(address, body, content_type=JSON)
    assert (unsigned.status_code, unsigned.json()["code"]) == (403, "not_authenticated")
    without_token = Client(enforce_csrf_checks=True)
    without_token.force_login(held.labeler)
    assert getattr(without_token, method)(address, body, content_type=JSON).status_code == 403
    get = signed_in(held.labeler).get(address)
    assert get.status_code == 405
    if "projects" not in address:
        other = getattr(signed_in(make.labeler(project)), method)(address, body, content_type=JSON)
        assert (other.status_code, other.json()["code"]) == (404, "not_yours")


def test_who_is_not_enrolled_is_told_so() -> None:
    project = make.project()
    response = signed_in(make.user()).post(f"/api/projects/{project.slug}/next/", {}, content_type=JSON)
    assert (response.status_code, response.json()["code"]) == (409, "not_allowed_now")
    assert signed_in(make.user()).post("/api/projects/none/next/", {}, content_type=JSON).status_code == 404


def test_a_busy_database_is_tried_again_before_the_page_hears_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = make.assignment(make.item(project=make.project()))
    tries = []

    def busy_at_first(*args: Any, **kwargs: Any) -> Label:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("database is locked")
        return labels_submit(*args, **kwargs)

    labels_submit = labels.submit
    monkeypatch.setattr(labels, "submit", busy_at_first)
    assert send(signed_in(held.labeler), held.pk, [1, 1, 1]).status_code == 200
    assert len(tries) == 3


def test_a_database_that_stays_busy_gives_503_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("database is locked")

    project = make.project()
    monkeypatch.setattr("labeling.api.RETRY_AFTER_S", (0.0, 0.0))
    monkeypatch.setattr(queue, "claim_next", busy)
    address = f"/api/projects/{project.slug}/next/"
    response = signed_in(make.labeler(project)).post(address, {}, content_type=JSON)
    assert (response.status_code, response.json()["code"]) == (503, "busy")
