"""kill -9 of a real Celery worker in the middle of its work: the next start finishes the same job.

The worker has a broker of its own: files, or Redis where REDIS_URL is set.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as live_settings
from django.db import connection

from labeling import jobs
from labeling.models import Job, Pool, Solution
from selection import registry, training
from selection.models import ModelVersion, Score, ScoreSet
from tests import make, redis_place
from tests.selection import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 180
# So many that a quick machine is still in the middle when the signal arrives.
STEPS = 400
RECIPE = f"""
name = "slow smoke"
threads = 1
max_length = 256
pack_tokens = 256
checkpoint_steps = 20
[model]
vocab_size = 300
layers = 2
width = 32
heads = 2
feed_forward = 64
[pretrain]
steps = 5
batch_tokens = 512
[train]
steps = {STEPS}
batch_tokens = 1024
"""


def database_url() -> str:
    """The database of this very test."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    host = "{USER}:{PASSWORD}@{HOST}:{PORT}".format_map(connection.settings_dict)
    return f"postgres://{host}/{name}"


class Worker:
    """One worker process after another, in one home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.redis = redis_place.take(live_settings.REDIS_URL) if live_settings.REDIS_URL else ""
        self.process: subprocess.Popen[bytes] | None = None
        self.log = (home / "worker.log").open("ab")

    def start(self) -> None:
        env = os.environ | {
            "STEPMARK_HOME": str(self.home),
            "DATABASE_URL": database_url(),
            "REDIS_URL": self.redis,
            "STEPMARK_JOB_HEARTBEAT_S": "1",
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--queues", "default,gpu"]
        command += [
            "--concurrency",
            "1",
            "--loglevel",
            "INFO",
            "--beat",
            "--schedule",
            str(self.home / "beat"),
        ]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=self.log, stderr=self.log, start_new_session=True
        )

    def kill(self) -> None:
        """kill -9 of the worker and its children: nobody gets to say goodbye."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """SIGTERM to the worker alone, as a container or supervisor does."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    def close(self) -> None:
        self.kill()
        self.log.close()
        if self.redis:
            redis_place.give_back(self.redis)


@pytest.fixture
def worker(tmp_path: Path, settings: Any) -> Iterator[Worker]:
    settings.HOME = tmp_path
    settings.MODELS_DIR = tmp_path / "models"
    made = Worker(tmp_path)
    yield made
    made.close()


def until(true: Callable[[], bool], what: str, worker: Worker) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        died = worker.process is not None and worker.process.poll() is not None
        if died or time.monotonic() > deadline:
            log = (worker.home / "worker.log").read_text(errors="replace")
            pytest.fail(f"{what} did not happen (died: {died}); the worker's log ends:\n{log[-3000:]}")
        time.sleep(0.02)


def finished(job: Job) -> bool:
    job.refresh_from_db()
    if job.status in (Job.Status.FAILED, Job.Status.CANCELLED):
        pytest.fail(f"the job ended as {job.status}: {job.error} {job.cure}")
    return job.status == Job.Status.DONE


def labelled_pool(problems: int, samples: int) -> Pool:
    pool = world.pool(make.project(), problems=problems, samples=samples)
    world.label_all(Solution.objects.filter(pool=pool, sample_index__lt=4).order_by("pk"))
    return pool


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_training_ended_in_the_middle_goes_on_as_if_nothing_had_happened(worker: Worker, how: str) -> None:
    recipe = worker.home / "recipe.toml"
    recipe.write_text(RECIPE)
    pool = labelled_pool(12, 4)
    version = training.draft_model(pool.project, name="killed", recipe=str(recipe))
    job = jobs.create("train_model", {"model": version.pk}, project=pool.project)

    def in_the_middle() -> bool:
        row = Job.objects.get(pk=job.pk)
        assert row.status != Job.Status.FAILED, row.error
        return row.stage == "training" and 20 <= row.done < 0.7 * STEPS

    worker.start()
    until(in_the_middle, "training", worker)
    getattr(worker, how)()
    checkpoint = registry.directory(version) / "checkpoint.pt"
    assert checkpoint.exists(), "killed too early or too late to mean anything"
    assert not finished(job)
    worker.start()
    until(lambda: finished(job), "the end of the training", worker)
    worker.kill()
    assert job.attempts == 2
    assert list(ModelVersion.objects.values_list("status", flat=True)) == ["ready"]
    assert not checkpoint.exists()

    unbroken = training.draft_model(pool.project, name="unbroken", recipe=str(recipe))
    training.train_model(unbroken, on_progress=lambda _done, _total, _stage: None)
    version.refresh_from_db()
    unbroken.refresh_from_db()
    assert version.snapshot == unbroken.snapshot
    first, second = (
        (registry.loaded_from(row) / "train_log.jsonl").read_text().splitlines()
        for row in (version, unbroken)
    )
    assert len(first) == len(second) == STEPS + 5
    same = ("auroc_bad", "average_precision_bad", "ratings", "loss")
    one, two = (row.metrics["held_out"]["steps"] for row in (version, unbroken))
    assert [one[key] for key in same] == pytest.approx([two[key] for key in same])


def test_scoring_killed_in_the_middle_leaves_no_solution_out_and_none_twice(worker: Worker) -> None:
    pool = labelled_pool(80, 25)
    version = training.draft_model(pool.project, name="scorer", recipe=world.SMOKE)
    training.train_model(version, on_progress=lambda _done, _total, _stage: None)
    job = jobs.create("score_pool", {"pool": pool.pk, "model": version.pk}, project=pool.project)

    def in_the_middle() -> bool:
        row = ScoreSet.objects.filter(pool=pool).first()
        return row is not None and 0 < row.n_scored < 2000

    worker.start()
    until(in_the_middle, "scoring", worker)
    worker.kill()
    half = ScoreSet.objects.get()
    before = dict(Score.objects.values_list("solution_id", "pk"))
    assert not half.is_complete
    assert 0 < len(before) == half.n_scored < 2000
    worker.start()
    until(lambda: finished(job), "the end of the scoring", worker)
    worker.kill()
    done = ScoreSet.objects.get()
    assert (done.pk, done.is_complete, done.n_scored) == (half.pk, True, 2000)
    after = dict(Score.objects.values_list("solution_id", "pk"))
    assert after.keys() == set(Solution.objects.filter(pool=pool).values_list("pk", flat=True))
    assert before.items() <= after.items(), "what was scored before the kill was scored again"
    assert job.attempts == 2


def test_a_worker_hears_the_bell_and_the_beat_sweeps(worker: Worker) -> None:
    """An idle worker: a job that comes later runs, and the page can say that a worker lives."""
    worker.start()
    until((worker.home / "worker.seen").exists, "a sign of life", worker)
    pool = labelled_pool(6, 4)
    # Sent from a process of its own, as the web server is.
    code = (
        "import django; django.setup()\n"
        "from labeling import jobs; from labeling.models import Project\n"
        "from selection.models import ModelVersion; from selection import training\n"
        f"project = Project.objects.get(pk={pool.project_id})\n"
        f"training.request_training(project, name='heard', recipe={world.SMOKE!r})\n"
    )
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "STEPMARK_HOME": str(worker.home),
        "DATABASE_URL": database_url(),
        "REDIS_URL": worker.redis,
    }
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True)
    until(lambda: finished(Job.objects.get()), "the job that was rung", worker)
    assert Job.objects.get().attempts == 1
    assert ModelVersion.objects.get(name="heard").status == "ready"
