"""A job is a row: claimed once, cancelled, failed with a cure, and taken over from a dead worker."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.conf import settings as live_settings
from django.db import connection, transaction
from django.utils import timezone

from labeling import jobs
from labeling.errors import NotAllowedNow
from labeling.jobs import JobFailure, JobRun
from labeling.jobs import running as running_jobs
from labeling.jobs.workers import this_host, this_process
from labeling.models import AuditEntry, Job
from tests import make

pytestmark = pytest.mark.django_db
real_commits = pytest.mark.django_db(transaction=True)
Status = Job.Status


@pytest.fixture(autouse=True)
def bells(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, settings: Any) -> list[tuple[int, str]]:
    """What was rung: (job id, queue). No broker is touched."""
    rung: list[tuple[int, str]] = []

    def send_task(name: str, args: list[int], queue: str, **_: Any) -> None:
        assert name == jobs.RUN_TASK
        rung.append((args[0], queue))

    monkeypatch.setattr(current_app, "send_task", send_task)
    monkeypatch.setattr(running_jobs, "REPORT_S", 0.02)
    settings.HOME = tmp_path
    return rung


Register = Callable[[jobs.Run], str]


@pytest.fixture
def kind() -> Iterator[Register]:
    """Register a function as a kind for one test; gives its name."""
    names: list[str] = []

    def add(run: jobs.Run) -> str:
        name = f"test_{len(names)}_{id(run)}"
        jobs.register(name, queue="gpu", title="A test")(run)
        names.append(name)
        return name

    yield add
    for name in names:
        jobs.forget(name)


def nothing(job: JobRun) -> dict[str, Any]:
    return {"ok": True}


def running(kind_name: str, *, claimed_by: str, age_s: float, **fields: Any) -> Job:
    """A job that a worker claimed and then fell silent about."""
    job = jobs.create(kind_name, {})
    at = timezone.now() - timedelta(seconds=age_s)
    fields = {"attempts": 1, **fields}
    Job.objects.filter(pk=job.pk).update(
        status=Status.RUNNING, claimed_by=claimed_by, heartbeat_at=at, started_at=at, **fields
    )
    job.refresh_from_db()
    return job


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    return process.pid


@real_commits
def test_a_job_rings_only_after_its_transaction(kind: Register, bells: list[tuple[int, str]]) -> None:
    name = kind(nothing)
    with transaction.atomic():
        job = jobs.enqueue(name, {"a": 1})
        assert bells == []
    assert bells == [(job.pk, "gpu")]


def test_a_job_of_a_rolled_back_transaction_never_rings(kind: Register, bells: list[tuple[int, str]]) -> None:
    name = kind(nothing)
    with transaction.atomic():
        jobs.enqueue(name, {})
        transaction.set_rollback(True)
    assert bells == []
    assert not Job.objects.exists()


def test_an_unknown_kind_cannot_be_queued() -> None:
    with pytest.raises(ValueError, match="not registered"):
        jobs.enqueue("no such kind", {})


@real_commits
def test_a_broker_that_does_not_answer_loses_no_job(
    kind: Register, monkeypatch: pytest.MonkeyPatch, bells: list[tuple[int, str]]
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ConnectionError("nobody there")

    with monkeypatch.context() as patch:
        patch.setattr(current_app, "send_task", broken)
        job = jobs.enqueue(kind(nothing), {})
    assert job.status == Status.QUEUED
    assert jobs.sweep(at_start=True) == 1
    assert bells == [(job.pk, "gpu")]


def test_a_finished_job_keeps_its_result_and_counts(kind: Register) -> None:
    def run(job: JobRun) -> dict[str, Any]:
        for done in range(1, 4):
            job.progress(done, 3, "counting")
        return {"counted": job.params["n"]}

    done = jobs.run_job(jobs.create(kind(run), {"n": 3}).pk)
    assert done is not None
    assert (done.status, done.done, done.total, done.stage) == (Status.DONE, 3, 3, "counting")
    assert done.result == {"counted": 3}
    assert done.attempts == 1
    assert done.finished_at is not None


@real_commits
def test_two_workers_claim_one_job_once(kind: Register) -> None:
    ran: list[int] = []
    gate = threading.Barrier(4)

    def run(job: JobRun) -> dict[str, Any]:
        ran.append(job.job.pk)
        time.sleep(0.1)
        return {}

    job = jobs.create(kind(run), {})

    def worker() -> None:
        try:
            gate.wait()
            jobs.run_job(job.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ran == [job.pk]
    job.refresh_from_db()
    assert (job.status, job.attempts) == (Status.DONE, 1)


@pytest.mark.parametrize("status", [Status.DONE, Status.FAILED, Status.CANCELLED])
def test_a_job_that_is_over_is_never_run_again_by_a_late_bell(kind: Register, status: str) -> None:
    def run(job: JobRun) -> dict[str, Any]:
        raise AssertionError("it ran")

    job = jobs.create(kind(run), {})
    Job.objects.filter(pk=job.pk).update(status=status)
    assert jobs.run_job(job.pk) is None
    assert jobs.run_job(job.pk + 1000) is None


@real_commits
def test_progress_and_heartbeat_are_seen_from_outside_while_the_job_runs(kind: Register) -> None:
    seen: list[tuple[int, int]] = []

    def run(job: JobRun) -> dict[str, Any]:
        job.progress(7, 10, "half way")
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            row = Job.objects.get(pk=job.job.pk)
            if row.done:
                seen.append((row.done, row.total))
                break
            time.sleep(0.02)
        return {}

    jobs.run_job(jobs.create(kind(run), {}).pk)
    assert seen == [(7, 10)]
    assert jobs.worker_seen_at() is not None


def test_a_failure_keeps_its_cure_and_is_not_raised(kind: Register) -> None:
    def run(job: JobRun) -> dict[str, Any]:
        raise JobFailure("The disk is full.", "Free some space.")

    done = jobs.run_job(jobs.create(kind(run), {}).pk)
    assert done is not None
    assert (done.status, done.error, done.cure) == (Status.FAILED, "The disk is full.", "Free some space.")


def test_an_error_of_the_people_side_keeps_its_details(kind: Register) -> None:
    def run(job: JobRun) -> dict[str, Any]:
        raise NotAllowedNow("Line 3 is bad.", problems=[{"line": 3}])

    done = jobs.run_job(jobs.create(kind(run), {}).pk)
    assert done is not None
    assert (done.status, done.error) == (Status.FAILED, "Line 3 is bad.")
    assert done.result == {"problems": [{"line": 3}]}


def test_an_unexpected_error_is_short_on_the_page_and_raised_for_the_log(kind: Register) -> None:
    def run(job: JobRun) -> dict[str, Any]:
        raise KeyError("x" * 5000)

    job = jobs.create(kind(run), {})
    with pytest.raises(KeyError):
        jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.status == Status.FAILED
    assert job.error.startswith("KeyError")
    assert len(job.error) <= 300
    assert "log" in job.cure


def test_a_job_of_an_unknown_kind_fails_with_a_cure(kind: Register) -> None:
    job = jobs.create(kind(nothing), {})
    Job.objects.filter(pk=job.pk).update(kind="from the future")
    done = jobs.run_job(job.pk)
    assert done is not None
    assert done.status == Status.FAILED
    assert "same version" in done.cure


def test_cancelling_a_waiting_job_ends_it_at_once(kind: Register) -> None:
    job, lead = jobs.create(kind(nothing), {}), make.lead()
    assert jobs.request_cancel(job, lead)
    assert job.status == Status.CANCELLED
    assert jobs.run_job(job.pk) is None
    assert AuditEntry.objects.get(action="job_cancel").actor == lead
    assert not jobs.request_cancel(job, lead)


@real_commits
def test_cancelling_a_running_job_stops_it_at_its_next_word(kind: Register) -> None:
    steps: list[int] = []

    def run(job: JobRun) -> dict[str, Any]:
        for step in range(500):
            steps.append(step)
            if step == 2:
                jobs.request_cancel(Job.objects.get(pk=job.job.pk))
            time.sleep(0.01)
            job.progress(step, 500)
        return {}

    done = jobs.run_job(jobs.create(kind(run), {}).pk)
    assert done is not None
    assert done.status == Status.CANCELLED
    assert 3 <= len(steps) < 400


def test_ctrl_c_at_a_command_leaves_a_job_that_can_be_run_again(kind: Register) -> None:
    def run(job: JobRun) -> dict[str, Any]:
        if job.job.attempts == 1 and job.params["first"]:
            raise KeyboardInterrupt
        return {"ok": True}

    job = jobs.create(kind(run), {"first": True})
    with pytest.raises(KeyboardInterrupt):
        jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.status == Status.CANCELLED
    Job.objects.filter(pk=job.pk).update(params={"first": False})
    assert jobs.retry(job)
    done = jobs.run_job(job.pk)
    assert done is not None
    assert done.status == Status.DONE


def test_a_worker_that_is_stopped_gives_its_job_back(kind: Register) -> None:
    """SIGTERM becomes SystemExit in a worker: as when a container is stopped."""

    def run(job: JobRun) -> dict[str, Any]:
        if job.job.attempts == 1:
            raise SystemExit(15)
        return {"ok": True}

    job = jobs.create(kind(run), {})
    with pytest.raises(SystemExit):
        jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.finished_at) == (Status.QUEUED, None)
    done = jobs.run_job(job.pk)
    assert done is not None
    assert (done.status, done.attempts) == (Status.DONE, 2)


@real_commits
def test_a_failed_job_can_be_tried_again_and_its_old_error_goes(
    kind: Register, bells: list[tuple[int, str]]
) -> None:
    job = jobs.create(kind(nothing), {})
    Job.objects.filter(pk=job.pk).update(status=Status.FAILED, error="no", cure="do", attempts=8)
    assert jobs.retry(job)
    assert (job.status, job.error, job.cure, job.attempts) == (Status.QUEUED, "", "", 0)
    assert bells == [(job.pk, "gpu")]
    assert not jobs.retry(job)


def test_a_job_whose_process_is_gone_is_taken_over_at_once(
    kind: Register, bells: list[tuple[int, str]]
) -> None:
    job = running(kind(nothing), claimed_by=f"{this_host()}:{dead_pid()}:123:abc", age_s=1)
    assert jobs.sweep(at_start=True) == 1
    assert bells == [(job.pk, "gpu")]
    done = jobs.run_job(job.pk)
    assert done is not None
    assert (done.status, done.attempts) == (Status.DONE, 2)


def test_a_job_whose_identifier_went_to_another_process_is_taken_over(kind: Register) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        job = running(kind(nothing), claimed_by=f"{this_host()}:{process.pid}:1:abc", age_s=1)
        assert jobs.is_abandoned(job)
    finally:
        process.kill()
        process.wait()


def test_a_living_process_keeps_its_job_though_its_heartbeat_is_late(kind: Register) -> None:
    job = running(kind(nothing), claimed_by=f"{this_process()}:abc", age_s=3 * live_settings.JOB_STALE_S)
    assert not jobs.take_back(job)
    assert jobs.run_job(job.pk) is None
    silent = 11 * live_settings.JOB_STALE_S
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=silent))
    job.refresh_from_db()
    assert jobs.take_back(job)


def test_a_job_of_another_machine_is_taken_over_when_it_is_stale(kind: Register) -> None:
    name = kind(nothing)
    fresh = running(name, claimed_by="elsewhere:1:1:abc", age_s=live_settings.JOB_STALE_S / 2)
    stale = running(name, claimed_by="elsewhere:1:1:def", age_s=live_settings.JOB_STALE_S * 2)
    jobs.sweep()
    fresh.refresh_from_db()
    stale.refresh_from_db()
    assert (fresh.status, stale.status) == (Status.RUNNING, Status.QUEUED)


@real_commits
def test_the_one_that_was_taken_over_stops_and_writes_nothing(kind: Register) -> None:
    """A machine that was cut off comes back: its job runs elsewhere by now."""

    def run(job: JobRun) -> dict[str, Any]:
        Job.objects.filter(pk=job.job.pk).update(claimed_by="elsewhere:1:1:abc")
        for step in range(500):
            time.sleep(0.01)
            job.progress(step, 500)
        return {"written": "by the wrong one"}

    job = jobs.create(kind(run), {})
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.claimed_by, job.result) == (Status.RUNNING, "elsewhere:1:1:abc", {})


def test_a_job_that_kills_its_workers_ends_with_the_likely_cause(kind: Register) -> None:
    job = running(kind(nothing), claimed_by="elsewhere:1:1:abc", age_s=10**6, attempts=jobs.MAX_ATTEMPTS)
    jobs.sweep()
    job.refresh_from_db()
    assert job.status == Status.FAILED
    assert "memory" in job.cure


def test_a_cancelled_job_of_a_dead_worker_is_not_run_again(kind: Register) -> None:
    job = running(kind(nothing), claimed_by="elsewhere:1:1:abc", age_s=10**6, cancel_requested=True)
    jobs.sweep()
    job.refresh_from_db()
    assert job.status == Status.CANCELLED


def test_the_sweep_rings_young_waiting_jobs_only_at_the_start(
    kind: Register, bells: list[tuple[int, str]]
) -> None:
    name = kind(nothing)
    young, old = jobs.create(name, {}), jobs.create(name, {})
    late = timezone.now() - timedelta(seconds=live_settings.JOB_STALE_S + 1)
    Job.objects.filter(pk=old.pk).update(heartbeat_at=late)
    assert jobs.sweep() == 1
    assert bells == [(old.pk, "gpu")]
    assert jobs.sweep() == 0, "it was rung a moment ago"
    assert jobs.sweep(at_start=True) == 2
    assert {pk for pk, _queue in bells} == {young.pk, old.pk}
