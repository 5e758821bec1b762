"""The pages of generations: opening one, what became of its picks, closing it, overruling its verdict."""

import re
from typing import Any

import pytest
from django.urls import reverse

from labeling import jobs
from labeling.models import Job, Pool, QueueItem
from selection.generations import S
from selection.models import Generation
from tests import make
from tests.selection import world
from tests.selection.pages import REPORT, opened, signed_in, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("page_home")]


@pytest.fixture
def pool(page_pool: Pool) -> Pool:
    return page_pool


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
