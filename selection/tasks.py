"""The Celery tasks of background work: take an id, call one function."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from config.celery import app
from labeling import jobs

SWEEP_S = 30.0

app.conf.beat_schedule["sweep-jobs"] = {"task": "selection.tasks.sweep_jobs", "schedule": SWEEP_S}


@shared_task(name=jobs.RUN_TASK, ignore_result=True)
def run_job(job_id: int) -> None:
    jobs.run_job(job_id)


@shared_task(name="selection.tasks.sweep_jobs", ignore_result=True, expires=SWEEP_S)
def sweep_jobs() -> None:
    jobs.sweep()


@worker_ready.connect
def sweep_at_start(**_: Any) -> None:
    """A worker that starts takes over at once what a killed one left."""
    jobs.sweep(at_start=True)
