"""The researcher's pages: who may see them, what they show at every stage, what their buttons do."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling import jobs
from labeling.models import AnswerCheck, Job, Label, Pool, Project, QueueItem, Solution, User
from selection.generations import S
from selection.models import Generation, ModelVersion, ScoreSet
from tests import make
from tests.selection import world
from tests.selection.pages import REPORT, opened, signed_in, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("page_home")]


@pytest.fixture
def pool(page_pool: Pool) -> Pool:
    return page_pool


@pytest.fixture
def project(page_project: Project) -> Project:
    return page_project


def everything(pool: Pool) -> dict[str, list[Any]]:
    """Arguments of every page of the bridge and of jobs, with rows behind them."""
    model = world.model(pool.project, status="ready")
    world.scores(pool, model)
    job = jobs.create("score_pool", {"pool": pool.pk, "model": model.pk}, project=pool.project)
    solution = Solution.objects.filter(pool=pool).first()
    assert solution is not None
    generation = opened(pool, selector=model)
    return {
        "research": [],
        "pools": [],
        "pool-detail": [pool.pk],
        "solution-detail": [solution.pk],
        "models": [],
        "model-detail": [model.pk],
        "generations": [],
        "generation-detail": [generation.number],
        "jobs": [],
        "job-detail": [job.pk],
        "job-status": [job.pk],
    }


POSTS = {
    "pool-score": "pool-detail",
    "model-train": "models",
    "model-promote": "model-detail",
    "model-reject": "model-detail",
    "generation-open": "generations",
    "generation-close": "generation-detail",
    "generation-overrule": "generation-detail",
    "job-cancel": "job-detail",
    "job-retry": "job-detail",
}


@pytest.mark.parametrize("role", User.Role.values)
def test_pages_are_for_leads_and_researchers(role: str, pool: Pool) -> None:
    client, expected = signed_in(role), 403 if role == "labeler" else 200
    for name, args in everything(pool).items():
        assert client.get(reverse(name, args=args)).status_code == expected, name


def test_labelers_and_strangers_can_press_no_button(pool: Pool) -> None:
    pages = everything(pool)
    labeler, stranger = signed_in("labeler"), Client()
    before = list(Job.objects.values("pk", "status")), list(Generation.objects.values("pk", "state"))
    for name, page in POSTS.items():
        url = reverse(name, args=pages[page] if name not in ("model-train", "generation-open") else [])
        assert labeler.post(url).status_code == 403, name
        response = stranger.post(url)
        assert response.status_code == 302, name
        assert "sign-in" in response["Location"]
    assert before == (
        list(Job.objects.values("pk", "status")),
        list(Generation.objects.values("pk", "state")),
    )


def test_a_button_is_no_link(pool: Pool) -> None:
    pages, client = everything(pool), signed_in()
    for name, page in POSTS.items():
        url = reverse(name, args=pages[page] if name not in ("model-train", "generation-open") else [])
        assert client.get(url).status_code == 405, name


def test_another_projects_rows_are_not_found(pool: Pool) -> None:
    """The page shows the chosen project; the address of another one's rows leads nowhere."""
    client = signed_in()
    other = world.pool(make.project(), problems=1, samples=1, name="other")
    solution = Solution.objects.get(pool=other)
    assert client.get(reverse("pool-detail", args=[other.pk])).status_code == 404
    assert client.get(reverse("solution-detail", args=[solution.pk])).status_code == 404


def test_without_a_project_pages_say_so() -> None:
    assert "No project yet" in text_of(signed_in(), "research")


def test_an_empty_project_says_what_to_do_first(project: Project) -> None:
    client = signed_in()
    assert "Bring in solutions" in text_of(client, "research")
    assert "No pool yet" in text_of(client, "pools")
    assert "No model yet" in text_of(client, "models")
    assert "nothing to train on" in text_of(client, "models")
    assert "No solutions to pick from" in text_of(client, "generations")
    assert "No job has been asked for yet" in text_of(client, "jobs")


def test_the_overview_follows_the_loop(pool: Pool) -> None:
    client = signed_in()
    assert "Open generation 0" in text_of(client, "research")
    generation = opened(pool)
    assert "8 solutions wait for labelers" in text_of(client, "research")
    QueueItem.objects.update(state="closed")
    assert "Close generation 0" in text_of(client, "research")
    Generation.objects.update(state=S.FAILED, failed_in=S.TRAINING, failure="The disk is full.")
    page = text_of(client, "research")
    assert "Generation 0 stopped" in page
    assert "The disk is full." in page
    Generation.objects.update(state=S.TRAINING, failure="", failed_in="")
    assert "Wait for generation 0" in text_of(client, "research")
    Generation.objects.update(state=S.PROMOTED)
    assert "Open generation 1" in text_of(client, "research")
    assert generation.number == 0


def test_the_pool_page_counts_filters_and_orders_by_score(pool: Pool) -> None:
    client = signed_in()
    page = text_of(client, "pools")
    assert "10 40 20 20 0" in page
    assert "no model" in page
    world.scores(pool, world.model(pool.project))
    page = text_of(client, "pool-detail", pool.pk)
    assert "40 of 40 scored" in page
    shown = re.findall(r"0\.\d{3}", page)
    assert shown == sorted(shown, reverse=True)
    assert len(shown) == 25
    wrong = text_of(client, "pool-detail", pool.pk, query="?grade=wrong")
    assert len(re.findall(r"solution \d+", wrong)) == 20


def test_the_pool_page_leads_to_answers_in_doubt(pool: Pool) -> None:
    client = signed_in()
    assert "Answers to check" not in text_of(client, "pool-detail", pool.pk)
    problem = pool.solutions.first().problem  # type: ignore[union-attr]
    AnswerCheck.objects.create(problem=problem, answer="7", grade="unknown")
    assert "Answers to check (1)" in text_of(client, "pool-detail", pool.pk)


def test_a_half_scored_pool_shows_no_scores_yet(pool: Pool) -> None:
    world.scores(pool, world.model(pool.project), complete=False)
    page = text_of(signed_in(), "pool-detail", pool.pk)
    assert "not finished" in page
    assert not re.findall(r"0\.\d{3}", page)


def test_scoring_is_queued_once(pool: Pool) -> None:
    client, model = signed_in(), world.model(pool.project)
    for _ in range(2):
        response = client.post(reverse("pool-score", args=[pool.pk]), {"model": model.pk})
        assert response.status_code == 302
    job = Job.objects.get()
    assert (job.kind, job.params) == ("score_pool", {"pool": pool.pk, "model": model.pk})
    assert ScoreSet.objects.get().job == job
    assert f"job-{job.pk}" in client.get(reverse("pool-detail", args=[pool.pk])).content.decode()


def test_a_solution_shows_each_steps_score_in_text(pool: Pool) -> None:
    solution = Solution.objects.filter(pool=pool, grade="wrong").first()
    assert solution is not None
    client = signed_in()
    assert "No model has scored it yet" in text_of(client, "solution-detail", solution.pk)
    world.scores(pool, world.model(pool.project, "prm-7"))
    world.label(solution, first_error=1)
    page = text_of(client, "solution-detail", solution.pk)
    assert "scored by prm-7" in page
    assert page.count("0.90") == len(solution.steps)
    assert "first error at step 2" in page


def test_training_from_the_page_queues_a_job_and_shows_it(pool: Pool) -> None:
    client = signed_in()
    world.label_all(Solution.objects.filter(pool=pool)[:6])
    form = {"name": "mine", "recipe": world.SMOKE, "seed": 3}
    response = client.post(reverse("model-train"), form)
    model = ModelVersion.objects.get()
    assert response["Location"] == reverse("model-detail", args=[model.pk])
    assert (model.name, model.seed, model.job.kind if model.job else "") == ("mine", 3, "train_model")
    page = client.get(response["Location"]).content.decode()
    assert f'hx-get="{reverse("job-status", args=[model.job_id])}"' in page
    again = client.post(reverse("model-train"), form)
    assert again.status_code == 400
    assert "exists already" in again.content.decode()


def test_a_model_page_shows_numbers_beside_chance_and_their_n(pool: Pool) -> None:
    model = world.model(pool.project)
    client = signed_in()
    assert "nothing to measure it on" in text_of(client, "model-detail", model.pk)
    ModelVersion.objects.update(metrics={"held_out": REPORT, "parameters": 123456})
    page = text_of(client, "model-detail", model.pk)
    assert "step AUROC 0.871 0.500 0.550 120 ratings" in page
    assert "average precision (bad steps) 0.700 0.250" in page
    assert "0.800 to 0.920" in page
    assert "123,456 parameters" in page
    assert "Only" not in page
    few = REPORT | {"steps": {**REPORT["steps"], "ratings": 12}}  # type: ignore[dict-item]
    ModelVersion.objects.update(metrics={"held_out": few})
    assert "Only 12 held-out ratings" in text_of(client, "model-detail", model.pk)


def test_one_model_is_in_use_and_the_reason_is_kept(pool: Pool) -> None:
    client = signed_in("lead")
    first, second = (world.model(pool.project, name) for name in ("one", "two"))
    for model in (first, second):
        client.post(reverse("model-promote", args=[model.pk]), {"reason": f"likes {model.name}"})
    states = dict(ModelVersion.objects.values_list("name", "status"))
    assert states == {"one": "ready", "two": "promoted"}
    client.post(reverse("model-reject", args=[second.pk]), {"reason": "flatters"})
    second.refresh_from_db()
    assert (second.status, second.status_reason) == ("rejected", "flatters")
    client.post(reverse("model-promote", args=[first.pk]), {"reason": ""})
    first.refresh_from_db()
    assert first.status == "ready", "a reason is owed"


def test_a_job_page_shows_progress_cancels_and_reloads_when_over(pool: Pool) -> None:
    client = signed_in()
    job = jobs.create("score_pool", {"pool": pool.pk, "model": 0}, project=pool.project)
    Job.objects.filter(pk=job.pk).update(status="running", done=1200, total=5000, stage="scoring")
    page = text_of(client, "job-detail", job.pk)
    assert "scoring: 1,200 of 5,000" in page
    response = client.get(reverse("job-status", args=[job.pk]))
    assert 'hx-trigger="every 2s"' in response.content.decode()
    assert "HX-Refresh" not in response
    assert "<form" not in response.content.decode(), "polling would take a button away while it asks"
    client.post(reverse("job-cancel", args=[job.pk]))
    job.refresh_from_db()
    assert job.cancel_requested
    Job.objects.filter(pk=job.pk).update(status="failed", error="Disk full.", cure="Free some.")
    response = client.get(reverse("job-status", args=[job.pk]))
    assert response["HX-Refresh"] == "true"
    assert "hx-trigger" not in response.content.decode()
    assert "Disk full." in response.content.decode()
    assert "Free some." in response.content.decode()


def test_a_waiting_job_says_when_no_worker_runs(pool: Pool) -> None:
    job = jobs.create("score_pool", {"pool": pool.pk, "model": 0}, project=pool.project)
    assert "No worker is running" in text_of(signed_in(), "job-detail", job.pk)
    jobs.mark_worker_seen()
    assert "Waiting for a free worker" in text_of(signed_in(), "job-detail", job.pk)


def test_problem_text_is_never_trusted_as_html(pool: Pool) -> None:
    evil = "<script>alert(1)</script>"
    problem = make.problem(pool.project, text=evil, ground_truth_answer=evil)
    solution = make.solution(problem, steps=[evil], pool=pool, answer=evil)
    client = signed_in()
    opened(pool, size=50)
    for url in (
        reverse("pool-detail", args=[pool.pk]) + "?page=2",
        reverse("solution-detail", args=[solution.pk]),
        reverse("generation-detail", args=[0]) + "?page=2",
    ):
        html = client.get(url).content.decode()
        assert evil not in html
    assert Label.objects.count() == 0
