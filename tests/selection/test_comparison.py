"""Blind comparison: what each rule chooses, who has to judge what, and what the judgements say."""

import random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.jobs import JobFailure
from labeling.models import Label, Pool, Project, QueueItem, Solution, User
from labeling.services.queue import claim_next
from selection import comparison, loop, registry, snapshots
from selection.comparison import Sampled, choose
from selection.generations import S
from selection.models import Generation, ModelVersion
from selection.requests import draft_generation
from tests import make
from tests.selection import world


def sample(
    pk: int, answer: str = "1", prm: float | None = 0.5, orm: float | None = 0.5, **more: Any
) -> Sampled:
    values: dict[str, Any] = {"problem_id": 1, "text_hash": f"t{pk}"} | more
    return Sampled(pk, answer=answer, prm=prm, orm=orm, **values)


def test_each_rule_chooses_its_own() -> None:
    samples = [
        sample(1, "7", prm=0.9, orm=0.1),
        sample(2, "8", prm=0.2, orm=0.8),
        sample(3, "9", prm=0.3, orm=0.3),
        sample(4, "9.0", prm=0.4, orm=0.2),
    ]
    chosen = choose(samples, size=None, seed=0)[1]
    assert (chosen["prm"], chosen["orm"]) == (1, 2)
    assert chosen["vote"] in (3, 4), "9 and 9.0 are one answer with two votes"


def test_the_order_of_the_samples_changes_nothing() -> None:
    samples = [sample(n, str(n % 3), prm=(n % 4) / 4, problem_id=n % 5) for n in range(60)]
    shuffled = random.Random(1).sample(samples, len(samples))
    assert choose(samples, size=3, seed=4) == choose(shuffled, size=3, seed=4)
    assert len(choose(samples, size=3, seed=4)) == 3
    assert choose(samples, size=3, seed=4) != choose(samples, size=3, seed=5)


def test_copies_of_a_text_are_one_choice() -> None:
    samples = [sample(1, prm=0.1, text_hash="same"), sample(2, prm=0.9, text_hash="same"), sample(3, prm=0.3)]
    assert choose(samples, size=None, seed=0)[1]["prm"] == 1


def test_what_has_no_score_or_answer_is_not_chosen() -> None:
    samples = [sample(1, "", prm=None, orm=None), sample(2, "", prm=0.1, orm=None)]
    assert choose(samples, size=None, seed=0) == {1: {"prm": 2}}
    assert choose([sample(1)], size=None, seed=0) == {}, "of one sample there is nothing to choose"


def begun(pool: Pool, **rule: Any) -> Generation:
    """A comparison that is being labeled: the process model likes the first sample of each problem, which is
    right, the outcome model the last, which is wrong."""
    project = pool.project
    prm, orm = world.model(project, "prm-x"), world.model(project, "orm-x")
    ModelVersion.objects.filter(pk=orm.pk).update(kind="orm")
    world.scores(pool, orm)
    for row in world.scores(pool, prm).scores.all():
        row.value = 1 - (row.value or 0)
        row.save()
    generation = draft_generation(project, pool, selector=prm, strategy=comparison.STRATEGY, seed=1, **rule)
    loop.open_generation(generation, lambda *_: None)
    generation.refresh_from_db()
    return generation


@pytest.mark.django_db
def test_a_comparison_queues_each_chosen_solution_once(page_pool: Pool) -> None:
    generation = begun(page_pool, size=4)
    choices = generation.settings["choices"]
    assert generation.state == S.LABELING
    assert len(choices) == 4
    wanted = {pk for chosen in choices.values() for pk in chosen.values()}
    picked = list(generation.picks.values_list("solution_id", flat=True))
    assert sorted(picked) == sorted(wanted)
    assert QueueItem.objects.filter(project=page_pool.project, generation=0).count() == len(wanted)
    first = next(iter(choices.values()))
    assert first["prm"] < first["orm"]


@pytest.mark.django_db
def test_labelers_are_not_told_whose_choice_it_is(page_pool: Pool) -> None:
    begun(page_pool, size=4)
    labeler = make.labeler(page_pool.project)
    claim = claim_next(labeler, page_pool.project)
    assert claim.assignment is not None
    client = Client()
    client.force_login(labeler, "django.contrib.auth.backends.ModelBackend")
    page = client.post(
        f"/api/projects/{page_pool.project.slug}/next/", {"have": []}, content_type="application/json"
    )
    assert page.status_code == 200
    assert not any(word in page.content.decode() for word in ("choice", "prm", "orm", "vote", "score"))


@pytest.mark.django_db
def test_the_judgements_say_whose_choices_are_sound(page_pool: Pool) -> None:
    generation = begun(page_pool, size=6)
    empty = {row.title: row for row in comparison.quality(generation)}
    assert [row.judged for row in empty.values()] == [0, 0, 0]
    for pick in generation.picks.select_related("solution__problem"):
        world.label(pick.solution)
    lucky = Label.objects.filter(solution_id=next(iter(generation.settings["choices"].values()))["prm"])
    assert lucky.update(finish_reason="found_error") == 1  # a right answer, but a bad step on the way
    rows = {row.title: row for row in comparison.quality(generation)}
    prm, orm = rows["best by the process model"], rows["best by the outcome model"]
    assert prm.problems == orm.problems == prm.judged == orm.judged == 6
    assert (prm.right, prm.sound) == (6, 5)
    assert (orm.right, orm.sound) == (0, 0)
    assert prm.low < 5 / 6 < prm.high


@pytest.mark.django_db
def test_what_is_judged_already_is_not_judged_again(page_pool: Pool) -> None:
    world.label_all(Solution.objects.filter(pool=page_pool))
    with pytest.raises(JobFailure, match="left to pick"):
        begun(page_pool)


@pytest.mark.django_db
def test_test_problems_are_compared_and_never_trained_on(page_project: Project) -> None:
    pool = world.pool(page_project, problems=3, split="test")
    generation = begun(pool)
    assert len(generation.settings["choices"]) == 3
    world.label_all(pick.solution for pick in generation.picks.select_related("solution__problem"))
    with pytest.raises(JobFailure, match="no labels to train on"):
        snapshots.freeze(page_project)


@pytest.mark.django_db
def test_it_needs_a_process_model_and_does_without_an_outcome_model(page_pool: Pool) -> None:
    with pytest.raises(JobFailure, match="needs a model's scores"):
        draft_generation(page_pool.project, page_pool, strategy=comparison.STRATEGY)
    prm = world.model(page_pool.project, "prm-x")
    world.scores(page_pool, prm)
    generation = draft_generation(page_pool.project, page_pool, selector=prm, strategy=comparison.STRATEGY)
    loop.open_generation(generation, lambda *_: None)
    assert {row.title for row in comparison.quality(generation)} == {
        "best by the process model",
        "majority vote",
    }


@pytest.mark.django_db
@pytest.mark.usefixtures("page_home")
def test_the_page_shows_the_comparison(page_pool: Pool) -> None:
    generation = begun(page_pool, size=5)
    assert registry.usable(page_pool.project).count() == 2
    client = Client()
    client.force_login(
        User.objects.create_user("r", role="researcher"), "django.contrib.auth.backends.ModelBackend"
    )
    page = client.get(reverse("generation-detail", args=[generation.number])).content.decode()
    assert "Whose choices are right through and through?" in page
    assert "best by the outcome model" in page
    for pick in generation.picks.select_related("solution__problem"):
        world.label(pick.solution)
    assert "%–" in client.get(reverse("generation-detail", args=[generation.number])).content.decode()
