"""The researcher's pages: who may see them, what they show at every stage, what their buttons do."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling import jobs
from labeling.models import Job, Label, Pool, Project, QueueItem, Solution, User
from selection import loop, requests
from selection.generations import S
from selection.models import Generation, ModelVersion, ScoreSet
from tests import make
from tests.selection import world

pytestmark = pytest.mark.django_db
REPORT = {
    "problems": 9,
    "steps": {
        "ratings": 120,
        "prior_bad": 0.25,
        "auroc_bad": 0.871,
        "average_precision_bad": 0.7,
        "calibration_error_bad": 0.05,
        "loss": 0.4,
        "loss_of_prior": 0.6,
    },
    "length_only": {"auroc_bad": 0.55, "average_precision_bad": 0.3},
    "first_error": {"f1": 0.61, "solutions": 40},
    "intervals": {"auroc_bad": [0.8, 0.92]},
}


@pytest.fixture(autouse=True)
def quiet(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.HOME = tmp_path
    settings.MODELS_DIR = tmp_path / "models"
    monkeypatch.setattr("labeling.jobs.asking.current_app.send_task", lambda *_args, **_options: None)


@pytest.fixture
def project() -> Project:
    return make.project(gold_per_generation=0, name="Algebra pilot")


@pytest.fixture
def pool(project: Project) -> Pool:
    return world.pool(project, problems=10, samples=4)


def signed_in(role: str = "researcher") -> Client:
    client = Client()
    client.force_login(make.user(role), backend="django.contrib.auth.backends.ModelBackend")
    return client


def text_of(client: Client, name: str, *args: Any, query: str = "") -> str:
    response = client.get(reverse(name, args=args) + query)
    assert response.status_code == 200, name
    html = re.sub(r"<(script|style)[\s\S]*?</\1>", "", response.content.decode())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def opened(pool: Pool, **rule: Any) -> Generation:
    generation = requests.draft_generation(pool.project, pool, **({"size": 8, "seed": 1} | rule))
    loop.open_generation(generation, lambda _done, _total, _stage: None)
    return generation


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


def test_opening_from_the_page_drafts_and_queues(pool: Pool) -> None:
    client = signed_in()
    form = {"pool": pool.pk, "strategy": "uniform", "size": 5, "random_share": 0, "seed": 4}
    response = client.post(reverse("generation-open"), form)
    generation = Generation.objects.get()
    assert response["Location"] == reverse("generation-detail", args=[0])
    assert (generation.state, generation.seed, generation.size) == (S.DRAFTED, 4, 5)
    assert generation.open_job is not None
    page = client.get(response["Location"]).content.decode()
    assert reverse("job-status", args=[generation.open_job_id]) in page
    assert client.post(reverse("generation-open"), form).status_code == 409
    assert Generation.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"size": ""}, "Say how many"),
        ({"size": 0}, "greater than or equal to 1"),
        ({"random_share": 2}, "less than or equal to 1"),
        ({"strategy": "best"}, "not one of the available choices"),
        ({"pool": 0}, "not one of the available choices"),
    ],
)
def test_a_bad_rule_is_refused_with_the_field(pool: Pool, change: dict[str, Any], says: str) -> None:
    form = {"pool": pool.pk, "strategy": "uniform", "size": 5, "random_share": 0} | change
    response = signed_in().post(reverse("generation-open"), form)
    assert response.status_code == 400
    assert says in response.content.decode()
    assert not Generation.objects.exists()


def test_a_strategy_without_its_model_is_refused_with_the_cure(pool: Pool) -> None:
    form = {"pool": pool.pk, "strategy": "convincing_wrong", "size": 5, "random_share": 0}
    response = signed_in().post(reverse("generation-open"), form)
    assert response.status_code == 409
    assert "Choose a model" in response.content.decode()


def test_a_generation_shows_causes_ranks_scores_and_what_became_of_each_pick(pool: Pool) -> None:
    model = world.model(pool.project, "prm-2")
    world.scores(pool, model)
    generation = opened(pool, selector=model, size=10, random_share=0.2, seed=1729)
    items = list(QueueItem.objects.filter(generation=0).order_by("position"))
    make.assignment(items[0])
    make.label(items[1], ratings=[1, -1])
    make.label(items[2], ratings=[1, 1, 1])
    make.label(items[3], ratings=[], finish_reason="give_up", note="too long")
    client = signed_in()
    page = text_of(client, "generation-detail", 0)
    assert "picked by prm-2" in page
    assert "seed 1729" in page
    assert "8 convincing wrong · 2 random slice" in page
    assert re.search(r"convincing wrong \d(st|nd|rd|th) of 4 in its problem", page)
    for state in ("in progress", "first error at step 2", "all steps good", "gave up", "waiting"):
        assert state in page, state
    assert "Sampled 40" in page
    assert "Scored 40" in page
    assert "Picked 10" in page
    assert "Labeling 30%" in page
    assert "answer wrong ( 20)".replace("( ", "(") in page
    wrong = generation.picks.filter(solution__grade="wrong").count()
    assert f"wrong and picked ({wrong})" in page
    html = client.get(reverse("generation-detail", args=[0])).content.decode()
    assert html.count('class="chart-picked"') > 1
    assert "style=" not in html


def test_a_generation_by_chance_explains_the_missing_chart(pool: Pool) -> None:
    opened(pool)
    page = text_of(signed_in(), "generation-detail", 0)
    assert "Picked without a model" in page
    assert "No scores needed" in page


def test_closing_from_the_page_claims_the_end_once(pool: Pool) -> None:
    opened(pool)
    client = signed_in()
    for _ in range(2):
        client.post(reverse("generation-close", args=[0]), {"recipe": world.SMOKE, "seed": 2})
    generation = Generation.objects.get()
    assert generation.state == S.TRAINING
    assert Job.objects.filter(kind="close_generation").count() == 1
    assert generation.settings["train"] == {"name": "", "recipe": world.SMOKE, "seed": 2}


def test_a_failed_close_shows_its_error_and_goes_on_by_its_button(pool: Pool) -> None:
    opened(pool)
    client = signed_in()
    client.post(reverse("generation-close", args=[0]), {"recipe": world.SMOKE})
    job = Job.objects.get()
    jobs.run_job(job.pk)
    page = text_of(client, "generation-detail", 0)
    assert "There are no labels to train on" in page
    assert "Label some solutions" in page
    assert Generation.objects.get().state == S.FAILED
    for pick in Generation.objects.get().picks.select_related("solution__problem"):
        world.label(pick.solution)
    client.post(reverse("job-retry", args=[job.pk]))
    jobs.run_job(job.pk)
    assert Generation.objects.get().state == S.PROMOTED
    page = text_of(client, "generation-detail", 0)
    assert "held-out ratings" in page
    assert "There is no model before it" in page


def test_a_verdict_is_turned_round_with_a_reason(pool: Pool) -> None:
    opened(pool)
    model = world.model(pool.project, status="promoted")
    evaluation = {"before": {**REPORT, "name": "old"}, "after": REPORT, "verdict": "No worse."}
    Generation.objects.update(state=S.PROMOTED, trained=model, evaluation=evaluation)
    client = signed_in("lead")
    page = text_of(client, "generation-detail", 0)
    assert "on 120 held-out ratings" in page
    assert "No worse." in page
    assert "Before: old." in page
    client.post(reverse("generation-overrule", args=[0]), {"reason": "It flatters."})
    assert Generation.objects.get().state == S.REJECTED
    assert "It flatters." in text_of(client, "generation-detail", 0)


def test_a_job_page_shows_progress_cancels_and_reloads_when_over(pool: Pool) -> None:
    client = signed_in()
    job = jobs.create("score_pool", {"pool": pool.pk, "model": 0}, project=pool.project)
    Job.objects.filter(pk=job.pk).update(status="running", done=1200, total=5000, stage="scoring")
    page = text_of(client, "job-detail", job.pk)
    assert "scoring: 1,200 of 5,000" in page
    response = client.get(reverse("job-status", args=[job.pk]))
    assert 'hx-trigger="every 2s"' in response.content.decode()
    assert "HX-Refresh" not in response
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
