"""The Celery tasks of background work: take an id, call one function."""

import os
import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.db import connection

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


@worker_shutting_down.connect
def give_back_at_stop(**_: Any) -> None:
    """A worker that is asked to stop does not wait for the end of a training."""
    # The signal comes inside the handler of SIGTERM or Ctrl-C, where no query should be made.
    threading.Thread(target=_give_back, args=[os.getpid()], name="give-back").start()


def _give_back(worker_pid: int) -> None:
    try:
        jobs.give_back(worker_pid)
    finally:
        connection.close()
