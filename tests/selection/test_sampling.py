"""New solutions for a pool: sampled once each, imported and graded, whatever is killed in between."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from labeling import jobs
from labeling.jobs import JobFailure
from labeling.models import Job, Pool, Project, Solution
from models_prm.errors import Cancelled
from models_prm.fakes import FakeSampler
from models_prm.records import problem_key
from selection import sampling
from selection.sampling import Request, sample_into, samples_file
from tests import make
from tests.models_prm.sampling_make import save_model
from tests.selection import world

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("page_home")]
ASKED = Request(generator="http://localhost:1", model="tiny", n=4)


def writing(request: Any) -> str:
    """Two steps and an answer, right for every second sample; the last sample does not end."""
    problem = request.prompt
    a, b, c = (int(x) for x in problem.split("$")[1].split(" + "))
    total = a + b + c + request.index % 2
    return f"I add {a} and {b}.\nThen {c}, try {request.index}.\n# Answer {total}"


def sample(pool: Pool, asked: Request = ASKED, sampler: FakeSampler | None = None) -> dict[str, Any]:
    return sample_into(
        pool,
        asked,
        on_progress=lambda *_: None,
        should_stop=lambda: False,
        load=lambda _: sampler or FakeSampler(write=writing),
    )


@pytest.fixture
def pool() -> Pool:
    return world.pool(make.project(), problems=3, samples=2)


def test_new_solutions_are_imported_numbered_and_graded_like_any_others(pool: Pool) -> None:
    told = sample(pool)
    assert told == {"pool": pool.pk, "samples": 12, "sampled": 12, "imported": 12, "unfinished": 0}
    new = Solution.objects.filter(pool=pool, generator="fake")
    assert new.count() == 12
    assert {s.grade for s in new} == {"right", "wrong"}
    assert all((s.grade == "right") == ("try 0" in s.steps[1] or "try 2" in s.steps[1]) for s in new)
    for problem in pool.project.problems.all():
        numbers = problem.solutions.filter(pool=pool).values_list("sample_index", flat=True)
        assert sorted(numbers) == list(range(6))
    assert {s.splitter for s in new} == {"newline"}


def test_asking_again_adds_nothing_and_a_larger_number_the_difference(pool: Pool) -> None:
    sample(pool)
    assert sample(pool)["imported"] == 0
    more = sample(pool, Request(**{**vars(ASKED), "n": 6}))
    assert (more["sampled"], more["imported"]) == (6, 6)
    assert Solution.objects.filter(pool=pool).count() == 6 + 18


def test_equal_samples_are_samples_of_their_own(pool: Pool) -> None:
    same = FakeSampler(write=lambda r: "It is so.\n# Answer 7")
    assert sample(pool, sampler=same)["imported"] == 12
    assert sample(pool, sampler=same)["imported"] == 0


def test_a_run_that_broke_goes_on_and_samples_nothing_twice(pool: Pool) -> None:
    with pytest.raises(RuntimeError):
        sample(pool, sampler=FakeSampler(write=writing, fail_at=5))
    assert not Solution.objects.filter(pool=pool, generator="fake").exists()
    rest = FakeSampler(write=writing)
    told = sample(pool, sampler=rest)
    assert (len(rest.seen), told["sampled"], told["imported"]) == (7, 7, 12)


def test_a_kill_between_sampling_and_importing_loses_nothing(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(sampling, "import_file", lambda *a, **k: (_ for _ in ()).throw(RuntimeError("killed")))
        with pytest.raises(RuntimeError):
            sample(pool)
    idle = FakeSampler(write=writing)
    assert sample(pool, sampler=idle)["imported"] == 12
    assert idle.seen == []


def test_unfinished_samples_are_marked_and_empty_ones_left_out(pool: Pool) -> None:
    def write(request: Any) -> str:
        return "" if request.index == 0 else "A step\n" + "and on " * 40

    told = sample(pool, Request(**{**vars(ASKED), "n": 2, "max_tokens": 50}), FakeSampler(write=write))
    assert (told["samples"], told["imported"], told["unfinished"]) == (6, 3, 3)
    new = Solution.objects.filter(pool=pool, generator="fake")
    assert {s.extra.get("finish") for s in new} == {"length"}


def test_a_new_pool_begins_with_the_projects_problems_of_one_split() -> None:
    project = make.project()
    train = world.pool(project, problems=2, samples=1)
    world.pool(project, problems=3, samples=1, name="held out", split="test")
    new = Pool.objects.create(project=project, name="fresh")
    seen = FakeSampler(write=writing)
    sample(new, sampler=seen)
    texts = set(train.project.problems.filter(split="train").values_list("text", flat=True))
    assert len({problem_key(r.prompt) for r in seen.seen}) == len(texts) == 2
    bad = Pool.objects.create(project=make.project(name="Empty"), name="none")
    with pytest.raises(JobFailure, match="no problem"):
        sample(bad)


def test_a_stop_request_keeps_what_was_finished(pool: Pool) -> None:
    with pytest.raises(Cancelled):
        sample_into(
            pool,
            ASKED,
            on_progress=lambda *_: None,
            should_stop=lambda: True,
            load=lambda _: FakeSampler(write=writing),
        )
    assert len(samples_file(pool, ASKED).read_text().splitlines()) == 1


def run(project: Project, *words: str) -> str:
    out = StringIO()
    call_command("sample_solutions", "--project", project.slug, *words, stdout=out)
    return out.getvalue()


def test_the_command_samples_from_a_real_model_and_runs_again(pool: Pool, tmp_path: Path) -> None:
    model = save_model(tmp_path / "generator", seed=3, peaked=0.25)
    words = ["--pool", pool.name, "--generator", str(model), "-n", "2", "--max-tokens", "8"]
    assert "6 new samples" in run(pool.project, *words)
    job = Job.objects.get(kind="sample_solutions")
    assert job.status == Job.Status.DONE
    held = Solution.objects.filter(pool=pool, generator="generator").count()
    assert held == job.result["imported"] > 0
    assert "0 new samples, 0 solutions" in run(pool.project, *words)
    jobs.retry(job)
    assert Solution.objects.filter(pool=pool, generator="generator").count() == held


def test_the_command_queues_for_a_worker(pool: Pool, tmp_path: Path) -> None:
    model = save_model(tmp_path / "generators" / "mine")
    said = run(pool.project, "--pool", pool.name, "--generator", "mine", "-n", "2", "--background")
    job = Job.objects.get(kind="sample_solutions")
    assert f"job {job.pk}" in said
    assert job.status == Job.Status.QUEUED
    assert job.params["generator"] == str(model.resolve())
    assert json.loads(json.dumps(job.params)) == job.params


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--generator", "nowhere", "-n", "2"], "no generator"),
        (["--generator", "http://localhost:1", "-n", "2"], "served-model"),
        (["--generator", "http://localhost:1", "--served-model", "m", "-n", "0"], "at least 1"),
    ],
)
def test_the_command_names_what_is_wrong(pool: Pool, words: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run(pool.project, "--pool", "unmade", *words)
    assert not Pool.objects.filter(name="unmade").exists()
