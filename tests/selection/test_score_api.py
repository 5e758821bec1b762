"""The endpoint for scores: who may ask, what is refused, and that a job gives what the model gives."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from labeling import jobs
from labeling.models import Job, Project, User
from models_prm.aggregate import Neutral, score_of
from models_prm.fakes import FakeScorer
from models_prm.records import ScoringItem
from selection import scores
from selection.models import ModelVersion
from tests import make
from tests.models_prm.prm_make import random_prm
from tests.selection import world

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("page_home")]

JSON = "application/json"
GOOD: Neutral = "good"
BAD: Neutral = "bad"
SOLUTION = {"problem": "What is 2 + 3?", "steps": ["2 + 3 = 5", "# Answer\n\n5"]}


def signed_in(role: str, name: str = "ada") -> Client:
    client = Client()
    client.force_login(User.objects.create_user(name, role=role), "django.contrib.auth.backends.ModelBackend")
    return client


def ask(client: Client, project: Project, **body: Any) -> Any:
    body = {"solutions": [SOLUTION]} | body
    return client.post(f"/api/projects/{project.slug}/score/", body, content_type=JSON)


def saved_model(project: Project, settings: Any) -> ModelVersion:
    random_prm().save(Path(settings.HOME) / "models" / "m")
    return world.model(project, "prm-x", path="models/m")


def test_the_scores_are_those_of_the_model(page_project: Project, settings: Any) -> None:
    version = saved_model(page_project, settings)
    client = signed_in("researcher")
    response = ask(client, page_project, solutions=[SOLUTION, SOLUTION | {"steps": ["So 6."]}])
    assert response.status_code == 202, response.content
    asked = response.json()
    assert asked["status"] == "queued"
    assert client.get(asked["url"]).json()["status"] == "queued"
    jobs.run_job(asked["job"])
    said = client.get(asked["url"]).json()
    assert (said["status"], said["model"], said["method"]) == ("done", "prm-x", "product")
    items = [ScoringItem("a", "What is 2 + 3?", ("2 + 3 = 5", "# Answer\n\n5"))]
    (direct,) = scores.load_scorer(version).score(items)
    first, second = said["solutions"]
    for step, probs in zip(first["rating_probs"], direct.probs, strict=True):
        assert [step["-1"], step["0"], step["1"]] == pytest.approx(probs)
    assert first["score"] == pytest.approx(score_of(direct))
    assert len(second["step_scores"]) == 1


def test_neutral_and_method_change_the_score() -> None:
    version, fake = world.model(make.project()), FakeScorer()
    good, bad = (
        scores.score_solutions(
            version, [SOLUTION], neutral=neutral, method="minimum", load=lambda _version: fake
        )[0]
        for neutral in (GOOD, BAD)
    )
    assert good["score"] == min(good["step_scores"])
    assert bad["score"] < good["score"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"solutions": []}, "solutions"),
        ({"solutions": [{"problem": "x", "steps": []}]}, "solutions.0.steps"),
        ({"solutions": [SOLUTION, {"steps": ["x"]}]}, "solutions.1.problem"),
        ({"solutions": [SOLUTION] * 65}, "solutions"),
        ({"method": "magic"}, "method"),
        ({"model": "none"}, "model"),
    ],
)
def test_a_bad_request_is_told_its_field(page_project: Project, body: dict[str, Any], field: str) -> None:
    world.model(page_project, "prm-x")
    response = ask(signed_in("researcher"), page_project, **body)
    assert response.status_code == 400
    assert response.json()["field"] == field
    assert not Job.objects.exists()


def test_without_a_model_it_says_to_train_one(page_project: Project) -> None:
    response = ask(signed_in("lead"), page_project)
    assert response.status_code == 400
    assert "train one first" in response.json()["message"]


def test_labelers_see_no_scores_and_nobody_those_of_others(page_project: Project) -> None:
    world.model(page_project, "prm-x")
    assert ask(signed_in("labeler"), page_project).status_code == 403
    url = ask(signed_in("researcher", "bob"), page_project).json()["url"]
    assert signed_in("researcher", "eve").get(url).status_code == 403


def test_a_model_whose_files_are_gone_is_a_failure_with_its_cure(page_project: Project) -> None:
    world.model(page_project, "prm-x", path="models/gone")
    client = signed_in("researcher")
    asked = ask(client, page_project).json()
    jobs.run_job(asked["job"])
    said = client.get(asked["url"]).json()
    assert said["status"] == "failed"
    assert "backup" in said["cure"]
