"""Asking for background work: a row, and a bell rung after the commit."""

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from labeling.jobs.kinds import is_known, queue_of
from labeling.models import AuditEntry, Job, Project, User

log = logging.getLogger(__name__)

RUN_TASK = "selection.tasks.run_job"


def enqueue(
    kind: str, params: dict[str, Any], *, project: Project | None = None, user: User | None = None
) -> Job:
    """Write the job's row and ring the bell once the present transaction is committed."""
    job = create(kind, params, project=project, user=user)
    transaction.on_commit(lambda: ring(job))
    return job


def create(
    kind: str, params: dict[str, Any], *, project: Project | None = None, user: User | None = None
) -> Job:
    """The row alone, for a command that runs the job itself with `run_job`."""
    if not is_known(kind):
        raise ValueError(f"job kind {kind!r} is not registered")
    return Job.objects.create(
        kind=kind, params=params, project=project, created_by=user, heartbeat_at=timezone.now()
    )


def ring(job: Job) -> None:
    """Tell a worker. A bell that cannot ring is no loss: the sweep rings again."""
    Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED).update(heartbeat_at=timezone.now())
    queue = queue_of(job)
    try:
        current_app.send_task(RUN_TASK, args=[job.pk], queue=queue, ignore_result=True)
    except (BrokerError, OSError) as error:
        log.warning("job %s waits for the sweep: the broker does not answer (%s)", job.pk, error)


@transaction.atomic
def request_cancel(job: Job, by: User | None = None) -> bool:
    """Cancel a waiting job at once, ask a running one to stop; False when it is over already."""
    now = timezone.now()
    waiting = Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED)
    running = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING)
    changed = waiting.update(
        status=Job.Status.CANCELLED, cancel_requested=True, finished_at=now
    ) or running.update(cancel_requested=True)
    if changed:
        AuditEntry.objects.create(
            project=job.project,
            actor=by,
            action="job_cancel",
            subject=f"job {job.pk}",
            detail={"kind": job.kind},
        )
    job.refresh_from_db()
    return bool(changed)


def retry(job: Job) -> bool:
    """Queue a failed or cancelled job once more; it goes on from what it finds."""
    over = Job.objects.filter(pk=job.pk, status__in=[Job.Status.FAILED, Job.Status.CANCELLED])
    changed = over.update(
        status=Job.Status.QUEUED,
        attempts=0,
        cancel_requested=False,
        error="",
        cure="",
        started_at=None,
        finished_at=None,
        heartbeat_at=timezone.now(),
    )
    if changed:
        transaction.on_commit(lambda: ring(job))
    job.refresh_from_db()
    return bool(changed)
