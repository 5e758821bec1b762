"""Outcome reward models: trained on the grades of a pool by the same jobs, measured on problems held out."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from labeling.models import Pool, Project, Solution, User
from models_prm.records import problem_key
from selection import outcomes, registry, scores, snapshots
from selection.models import ModelVersion
from tests import make
from tests.selection import world

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("page_home")]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_graded_solutions_are_frozen_and_split_by_problem(page_pool: Pool, tmp_path: Path) -> None:
    world.pool(page_pool.project, problems=2, name="closed", split="test")
    unknown = Solution.objects.filter(pool=page_pool).first()
    assert unknown is not None
    Solution.objects.filter(pk=unknown.pk).update(grade=Solution.Grade.UNKNOWN)
    train, held_out = outcomes.freeze(page_pool.project, tmp_path)
    assert held_out is not None
    kept, closed = lines(train), lines(held_out)
    assert len(kept) + len(closed) == Solution.objects.filter(pool=page_pool).count() - 1
    assert not {line["problem"] for line in kept} & {line["problem"] for line in closed}
    assert {line["is_correct"] for line in kept} == {True, False}
    first = train.read_bytes()
    Solution.objects.filter(pool=page_pool).update(grade=Solution.Grade.RIGHT)
    outcomes.freeze(page_pool.project, tmp_path)
    assert train.read_bytes() == first, "a resumed run reads the very same file"


def test_what_labels_hold_out_is_held_out_here_too(page_pool: Pool, tmp_path: Path) -> None:
    world.label_all(Solution.objects.filter(pool=page_pool))
    closed = snapshots.freeze(page_pool.project).held_out
    texts = {s.problem.text for s in Solution.objects.filter(problem_id__in=closed).select_related("problem")}
    train, _held_out = outcomes.freeze(page_pool.project, tmp_path)
    assert texts
    assert not texts & {line["problem"] for line in lines(train)}


@pytest.mark.slow
def test_the_command_trains_one_that_scores_whole_solutions(page_pool: Pool) -> None:
    out = io.StringIO()
    arguments = ["--kind", "orm", "--name", "outcome", "--recipe", world.SMOKE]
    call_command("train_reward_model", *arguments, "--project", page_pool.project.slug, stdout=out)
    version = ModelVersion.objects.get()
    assert (version.kind, version.status, version.snapshot) == ("orm", "ready", None)
    assert "held-out pairs" in out.getvalue()
    assert version.metrics["outcomes"]["pairs"] > 0
    trained_on = {
        problem_key(line["problem"]) for line in lines(registry.directory(version) / outcomes.TRAIN)
    }
    assert trained_on
    score_set = scores.score_pool(page_pool, version, on_progress=lambda *_: None)
    row = score_set.scores.exclude(value=None).first()
    assert row is not None
    assert row.value == pytest.approx(row.step_probs[-1][2], abs=1e-5), "p(+1) at the last step"
    client = Client()
    client.force_login(
        User.objects.create_user("r", role="researcher"), "django.contrib.auth.backends.ModelBackend"
    )
    page = client.get(reverse("model-detail", args=[version.pk])).content.decode()
    assert "outcome reward model" in page
    assert "Right above wrong" in page


def test_without_wrong_solutions_there_is_nothing_to_tell_apart(page_project: Project) -> None:
    problem = make.problem(page_project)
    pool = Pool.objects.create(project=page_project, name="p", generator="g")
    make.solution(problem, pool=pool, grade=Solution.Grade.RIGHT)
    arguments = ["train_reward_model", "--kind", "orm", "--name", "o", "--project", page_project.slug]
    with pytest.raises(CommandError, match="needs right and wrong solutions; there is none of: wrong"):
        call_command(*arguments)
    assert not ModelVersion.objects.exists()


def test_the_page_offers_both_kinds(page_pool: Pool) -> None:
    client = Client()
    client.force_login(
        User.objects.create_user("r", role="researcher"), "django.contrib.auth.backends.ModelBackend"
    )
    form = {"name": "o", "kind": "orm", "recipe": world.SMOKE, "seed": 0}
    assert client.post(reverse("model-train"), form).status_code == 302
    assert ModelVersion.objects.get().kind == "orm"


def test_steps_are_never_coloured_by_an_outcome_model(page_pool: Pool) -> None:
    world.scores(page_pool, world.model(page_pool.project, "process"))
    outcome = world.model(page_pool.project, "outcome")
    ModelVersion.objects.filter(pk=outcome.pk).update(kind="orm")
    world.scores(page_pool, outcome)
    client = Client()
    client.force_login(
        User.objects.create_user("r", role="researcher"), "django.contrib.auth.backends.ModelBackend"
    )
    solution = Solution.objects.filter(pool=page_pool)[0]
    page = client.get(reverse("solution-detail", args=[solution.pk])).content.decode()
    assert "scored by process" in page
    assert "outcome" not in page
