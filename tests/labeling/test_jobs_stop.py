"""A worker that is asked to stop gives back its own jobs and nobody else's."""

import os
from typing import Any

import pytest

from labeling import jobs
from labeling.jobs.workers import this_host, this_process
from labeling.models import Job
from tests import make

pytestmark = pytest.mark.django_db


def running(claimed_by: str) -> Job:
    values: dict[str, Any] = {"kind": "any", "status": Job.Status.RUNNING, "claimed_by": claimed_by}
    return Job.objects.create(project=make.project(), **values)


def test_only_jobs_of_the_workers_own_processes_are_given_back() -> None:
    own = running(f"{this_process()}:a")
    elsewhere = running(f"another-machine:{os.getpid()}:1:b")
    stranger = running(f"{this_host()}:1:1:c")
    assert jobs.give_back(os.getpid()) == 1
    states = {job.pk: job.status for job in Job.objects.all()}
    assert states == {own.pk: "queued", elsewhere.pk: "running", stranger.pk: "running"}


def test_jobs_of_child_processes_are_the_workers_own() -> None:
    job = running(f"{this_process()}:a")
    assert jobs.give_back(os.getppid()) == 1
    job.refresh_from_db()
    assert (job.status, job.claimed_by) == (Job.Status.QUEUED, "")
