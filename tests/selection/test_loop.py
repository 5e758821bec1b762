"""Once round the loop with the real trainer and scorer, on a recipe that takes seconds."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from labeling import jobs
from labeling.errors import NotAllowedNow
from labeling.jobs import JobCancelled, JobFailure
from labeling.models import AuditEntry, Job, Pool, QueueItem, Solution
from selection import loop, registry, requests, training
from selection.generations import S
from selection.job_kinds import run_closing
from selection.models import Generation, ModelVersion, Pick, ScoreSet, TrainingSnapshot
from tests import make
from tests.selection import world

pytestmark = pytest.mark.django_db
Status = ModelVersion.Status


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.HOME = tmp_path
    settings.MODELS_DIR = tmp_path / "models"
    return tmp_path


def quiet(done: int, total: int, stage: str) -> None:
    return None


@pytest.fixture
def pool() -> Pool:
    return world.pool(make.project(gold_per_generation=0), problems=12, samples=4)


def opened(pool: Pool, **rule: Any) -> Generation:
    generation = requests.draft_generation(pool.project, pool, **({"size": 12, "seed": 1} | rule))
    loop.open_generation(generation, quiet)
    return generation


def judged(generation: Generation) -> None:
    """People judge every pick."""
    for pick in generation.picks.select_related("solution__problem"):
        world.label(pick.solution, generation=generation.number)


def closed(generation: Generation, **asked: Any) -> Generation:
    requests.begin_closing(generation, **({"recipe": world.SMOKE} | asked))
    loop.close_generation(generation, quiet)
    generation.refresh_from_db()
    return generation


def test_generation_zero_needs_no_model(pool: Pool) -> None:
    generation = opened(pool)
    assert (generation.number, generation.strategy, generation.state) == (0, "uniform", S.LABELING)
    items = QueueItem.objects.filter(project=pool.project, generation=0).order_by("position")
    picks = Pick.objects.filter(generation=generation).order_by("position")
    assert [i.solution_id for i in items] == [p.solution_id for p in picks]
    assert [p.item_id for p in picks] == [i.pk for i in items]
    assert {i.pick_cause for i in items} == {"uniform"}
    assert len(items) == 12


def test_three_generations_train_pick_and_compare_on_the_same_held_out_problems(pool: Pool) -> None:
    first = opened(pool, size=20)
    judged(first)
    first = closed(first)
    model = first.trained
    assert model is not None
    assert (first.state, model.status, model.name) == (S.PROMOTED, Status.PROMOTED, "prm-0")
    assert model.metrics["held_out"]["steps"]["ratings"] > 0
    assert (registry.loaded_from(model) / "config.json").exists()

    second = opened(pool, selector=model, size=10)
    assert second.strategy == "convincing_wrong"
    assert ScoreSet.objects.get(model=model).is_complete
    causes = set(second.picks.values_list("cause", flat=True))
    assert causes == {"convincing_wrong", "most_convincing"}
    for pick in second.picks.select_related("solution"):
        assert pick.score is not None
        assert pick.item is not None
        assert pick.item.verifier_score == pytest.approx(pick.score)
        assert pick.cause != "convincing_wrong" or pick.solution.grade == Solution.Grade.WRONG
    judged(second)
    second = closed(second)
    assert second.state in (S.PROMOTED, S.REJECTED)
    assert second.evaluation["before"]["name"] == "prm-0"
    assert second.evaluation["comparison"]["ratings"] == second.evaluation["after"]["steps"]["ratings"]
    assert second.evaluation["verdict"]
    old, new = (set(s.held_out) for s in TrainingSnapshot.objects.order_by("pk"))
    assert old <= new
    picked_twice = set(first.picks.values_list("solution_id", flat=True)) & set(
        second.picks.values_list("solution_id", flat=True)
    )
    assert not picked_twice
    third = opened(pool, selector=registry.in_use(pool.project), size=5)
    assert third.number == 2


def test_the_same_seed_picks_the_same_batch(pool: Pool) -> None:
    first = opened(pool)
    chosen = list(first.picks.values_list("solution_id", flat=True))
    QueueItem.objects.all().delete()
    first.delete()
    again = opened(pool)
    assert list(again.picks.values_list("solution_id", flat=True)) == chosen


def test_one_generation_at_a_time(pool: Pool) -> None:
    opened(pool)
    with pytest.raises(NotAllowedNow, match="close it before"):
        requests.draft_generation(pool.project, pool, size=3)


def test_a_strategy_that_needs_scores_needs_a_model(pool: Pool) -> None:
    with pytest.raises(JobFailure, match="scores") as caught:
        requests.draft_generation(pool.project, pool, strategy="uncertainty", size=3)
    assert "uniform" in caught.value.cure


def test_an_empty_pool_fails_with_the_cure_and_can_go_on_later(pool: Pool) -> None:
    empty = Pool.objects.create(project=pool.project, name="empty")
    generation = requests.draft_generation(pool.project, empty, size=3)
    with pytest.raises(JobFailure, match="left to pick"):
        loop.open_generation(generation, quiet)
    generation.refresh_from_db()
    assert generation.state == S.PICKING
    assert not Pick.objects.exists()


def test_a_generation_without_labels_says_so_and_goes_on_when_there_are_some(pool: Pool) -> None:
    generation = opened(pool)
    requests.begin_closing(generation, recipe=world.SMOKE)
    with pytest.raises(JobFailure, match="no labels to train on"):
        loop.close_generation(generation, quiet)
    failed = ModelVersion.objects.get()
    assert failed.status == Status.FAILED
    judged(generation)
    loop.close_generation(generation, quiet)
    assert generation.state == S.PROMOTED
    assert ModelVersion.objects.get().status == Status.PROMOTED


def test_closing_twice_is_refused(pool: Pool) -> None:
    generation = opened(pool)
    judged(generation)
    closed(generation)
    with pytest.raises(NotAllowedNow):
        requests.begin_closing(generation, recipe=world.SMOKE)


def test_closing_closes_the_queue(pool: Pool) -> None:
    generation = opened(pool)
    judged(generation)
    closed(generation)
    assert not QueueItem.objects.exclude(state=QueueItem.State.CLOSED).exists()


def test_the_lead_turns_a_verdict_round_and_the_reason_is_kept(pool: Pool) -> None:
    lead = make.lead()
    generation = opened(pool)
    judged(generation)
    closed(generation)
    with pytest.raises(NotAllowedNow, match="Say why"):
        requests.overrule(generation, by=lead, reason=" ")
    requests.overrule(generation, by=lead, reason="It flatters long answers.")
    generation.refresh_from_db()
    assert generation.state == S.REJECTED
    assert registry.in_use(pool.project) is None
    assert generation.evaluation["overruled"][0]["reason"] == "It flatters long answers."
    assert AuditEntry.objects.get(action="model_reject").actor == lead
    requests.overrule(generation, by=lead, reason="After all.")
    assert registry.in_use(pool.project) == generation.trained


def test_rejecting_a_promoted_model_puts_back_the_one_before(pool: Pool) -> None:
    old = world.model(pool.project, "old", status=Status.READY)
    new = world.model(pool.project, "new", status=Status.PROMOTED)
    generation = opened(pool)
    Generation.objects.filter(pk=generation.pk).update(
        state=S.PROMOTED, trained=new, evaluation={"before": {"id": old.pk}}
    )
    generation.refresh_from_db()
    requests.overrule(generation, by=make.lead(), reason="worse on long problems")
    assert registry.in_use(pool.project) == old


def test_training_that_is_cancelled_goes_on_from_its_checkpoint(pool: Pool) -> None:
    world.label_all(Solution.objects.filter(pool=pool))
    version = training.draft_model(pool.project, name="a", recipe=world.SMOKE)
    steps: list[tuple[str, int]] = []

    def note(done: int, total: int, stage: str) -> None:
        steps.append((stage, done))

    with pytest.raises(JobCancelled):
        training.train_model(version, on_progress=note, should_stop=lambda: len(steps) > 8)
    version.refresh_from_db()
    assert version.status == Status.TRAINING
    snapshot, seen = version.snapshot, len(steps)
    training.train_model(version, on_progress=note)
    version.refresh_from_db()
    assert (version.status, version.snapshot) == (Status.READY, snapshot)
    again = steps[seen:]
    assert not [done for stage, done in again if stage == "reading texts"], "it began anew"
    assert ("training", 15) in again


def test_a_model_knows_where_its_numbers_come_from(pool: Pool) -> None:
    world.label_all(Solution.objects.filter(pool=pool))
    version = training.draft_model(pool.project, name="a", recipe=world.SMOKE, seed=5)
    training.train_model(version, on_progress=quiet)
    version.refresh_from_db()
    assert version.recipe["file"] == "recipes/smoke.toml"
    assert version.recipe["seed"] == version.seed == 5
    assert version.snapshot is not None
    assert version.metrics["held_out"]["files_sha256"]
    assert version.metrics["train"]["ratings"]["-1"] > 0


def test_a_name_is_used_once_and_a_recipe_must_be_there(pool: Pool) -> None:
    training.draft_model(pool.project, name="a", recipe=world.SMOKE)
    with pytest.raises(NotAllowedNow, match="exists already"):
        training.draft_model(pool.project, name="a", recipe=world.SMOKE)
    with pytest.raises(JobFailure, match="no recipe"):
        training.draft_model(pool.project, name="b", recipe="nonsense")


def test_the_commands_go_once_round(pool: Pool, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--project", pool.project.slug]
    call_command("open_generation", "--pool", "sums", "--size", "20", "--seed", "1", *where)
    judged(Generation.objects.get())
    call_command("close_generation", "0", "--recipe", world.SMOKE, *where)
    call_command("train_reward_model", "--name", "mine", "--recipe", world.SMOKE, *where)
    call_command("score_pool", "--pool", "sums", "--model", "mine", *where)
    call_command("open_generation", "--pool", "sums", "--model", "prm-0", "--size", "8", *where)
    said = capsys.readouterr().out
    assert "Generation 0 is open: 20 solutions" in said
    assert "Generation 0: model promoted" in said
    assert "Model mine is ready" in said
    assert "48 solutions of sums are scored" in said
    assert "Generation 1 is open: 8 solutions" in said
    assert set(Job.objects.values_list("status", flat=True)) == {Job.Status.DONE}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["score_pool", "--pool", "none", "--model", "m"], "There is no pool “none”. Choose one of: sums."),
        (["score_pool", "--pool", "sums", "--model", "none"], "There is no model “none”. Train one first"),
        (["open_generation", "--pool", "sums", "--strategy", "uncertainty"], "needs a model's scores"),
        (["open_generation", "--pool", "sums", "--wrong-share", "2"], "shares must lie between 0 and 1"),
        (["close_generation", "7"], "There is no generation 7. Open one first"),
        (["train_reward_model", "--name", "a", "--recipe", "x"], "There is no recipe “x”. Choose one of"),
        (["train_reward_model", "--name", "a", "--project", "x"], "There is no project “x”. Choose one of"),
    ],
)
def test_errors_are_one_line_with_the_cure(pool: Pool, arguments: list[str], says: str) -> None:
    where = [] if "--project" in arguments else ["--project", pool.project.slug]
    with pytest.raises(CommandError) as caught:
        call_command(*arguments, *where)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["train_reward_model", "score_pool", "open_generation", "close_generation"])
def test_help_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        call_command(name, "--help")
    assert caught.value.code == 0
    assert f"python manage.py {name} " in capsys.readouterr().out


@pytest.mark.django_db(transaction=True)
def test_in_the_background_the_work_is_only_queued(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rung: list[int] = []
    monkeypatch.setattr("labeling.jobs.asking.ring", lambda job: rung.append(job.pk))
    where = ["--project", pool.project.slug, "--background"]
    call_command("open_generation", "--pool", "sums", "--size", "3", *where)
    call_command("train_reward_model", "--name", "a", "--recipe", world.SMOKE, *where)
    assert rung == list(Job.objects.order_by("pk").values_list("pk", flat=True))
    assert "Queued: job" in capsys.readouterr().out
    assert Generation.objects.get().state == S.DRAFTED


def test_a_cancelled_job_marks_its_model_and_generation_and_can_go_on(pool: Pool) -> None:
    generation = opened(pool)
    judged(generation)
    requests.begin_closing(generation, recipe=world.SMOKE)
    job = jobs.create("close_generation", {"generation": generation.pk}, project=pool.project)

    def cancel_in_the_middle(_done: int, _total: int, stage: str) -> None:
        if stage == "training":
            raise JobCancelled

    jobs.run_job(job.pk, on_progress=cancel_in_the_middle)
    generation.refresh_from_db()
    model = generation.trained
    assert model is not None
    assert (generation.state, generation.failed_in, generation.failure) == (S.FAILED, S.TRAINING, "cancelled")
    assert (model.status, model.status_reason) == (Status.FAILED, "cancelled")
    jobs.retry(job)
    jobs.run_job(job.pk)
    generation.refresh_from_db()
    assert generation.state == S.PROMOTED
    assert ModelVersion.objects.get() == model


def test_who_has_lost_its_job_leaves_the_generation_to_the_other(pool: Pool) -> None:
    generation = opened(pool)
    judged(generation)
    requests.begin_closing(generation, recipe=world.SMOKE)
    job = jobs.create("close_generation", {"generation": generation.pk}, project=pool.project)
    with pytest.raises(JobCancelled):
        run_closing(jobs.JobRun(job, on_progress=_lose, is_lost=True))
    generation.refresh_from_db()
    assert generation.state == S.TRAINING
    assert ModelVersion.objects.get().status == Status.TRAINING


@pytest.mark.parametrize(
    "moment", ["reading texts", "training", "evaluating", "comparing with the model before"]
)
def test_a_close_that_is_killed_at_any_moment_ends_the_same(pool: Pool, moment: str) -> None:
    generation = opened(pool)
    judged(generation)
    requests.begin_closing(generation, recipe=world.SMOKE)

    def killed(_done: int, _total: int, stage: str) -> None:
        if stage == moment:
            raise SystemExit

    with pytest.raises(SystemExit):
        loop.close_generation(generation, killed)
    again = Generation.objects.get(pk=generation.pk)
    assert again.state in (S.TRAINING, S.EVALUATING)
    loop.close_generation(again, quiet)
    assert again.state == S.PROMOTED
    assert [m.status for m in ModelVersion.objects.all()] == [Status.PROMOTED]
    assert TrainingSnapshot.objects.count() == 1


def test_an_open_that_is_killed_after_scoring_scores_nothing_again(pool: Pool) -> None:
    generation = opened(pool)
    judged(generation)
    first = closed(generation).trained
    second = requests.draft_generation(pool.project, pool, selector=first, size=5)

    def killed(_done: int, _total: int, stage: str) -> None:
        if stage == "picking":
            raise SystemExit

    with pytest.raises(SystemExit):
        loop.open_generation(second, killed)
    assert ScoreSet.objects.get().is_complete
    said: list[str] = []
    again = Generation.objects.get(pk=second.pk)
    assert again.state == S.PICKING
    loop.open_generation(again, lambda _done, _total, stage: said.append(stage))
    assert "scoring" not in said
    assert again.state == S.LABELING
    assert again.picks.count() == QueueItem.objects.filter(generation=1).count() == 5


def _lose(_done: int, _total: int, stage: str) -> None:
    if stage == "training":
        raise JobCancelled
