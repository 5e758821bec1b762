"""Taking over from the dead: whose worker is gone, and ringing again."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.jobs.asking import ring
from labeling.jobs.health import mark_worker_seen
from labeling.jobs.workers import parent_of, start_of, this_host
from labeling.models import Job

# A worker that dies this often in one job most likely dies because of it (memory): stop and say so.
MAX_ATTEMPTS = 8


def sweep(*, at_start: bool = False) -> int:
    """Ring again for jobs whose worker died or whose bell was lost; how many were rung.

    `at_start`: no worker has heard the old bells, so every waiting job is rung, however young.
    """
    mark_worker_seen()
    for job in Job.objects.filter(status=Job.Status.RUNNING):
        take_back(job)
    waiting = Job.objects.filter(status=Job.Status.QUEUED)
    if not at_start:
        waiting = waiting.filter(heartbeat_at__lt=timezone.now() - timedelta(seconds=settings.JOB_STALE_S))
    jobs = list(waiting.order_by("pk"))
    for job in jobs:
        ring(job)
    return len(jobs)


def give_back(worker_pid: int) -> int:
    """A worker on this machine is about to stop: queue the jobs of its processes again; how many there were.

    Each of them sees at its next report that its job is no longer its own, writes its checkpoint and ends, so
    that stopping takes seconds and not the rest of a training. The next start goes on.
    """
    given = 0
    for job in Job.objects.filter(status=Job.Status.RUNNING, claimed_by__startswith=f"{this_host()}:"):
        pid = job.claimed_by.split(":")[1]
        if pid.isdigit() and worker_pid in (int(pid), parent_of(int(pid))):
            mine = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING, claimed_by=job.claimed_by)
            given += mine.update(status=Job.Status.QUEUED, claimed_by="", heartbeat_at=timezone.now())
    return given


def take_back(job: Job) -> bool:
    """Queue a running job again if its worker is gone; False when it lives (or somebody was faster)."""
    if not is_abandoned(job):
        return False
    mine = Job.objects.filter(
        pk=job.pk, status=Job.Status.RUNNING, claimed_by=job.claimed_by, heartbeat_at=job.heartbeat_at
    )
    if job.cancel_requested:
        changed = mine.update(status=Job.Status.CANCELLED, finished_at=timezone.now())
    elif job.attempts >= MAX_ATTEMPTS:
        changed = mine.update(
            status=Job.Status.FAILED,
            finished_at=timezone.now(),
            error=_("The worker died %d times while doing this.") % job.attempts,
            cure=_("Look at the worker's log; most often the machine ran out of memory."),
        )
    else:
        # An old heartbeat, so that a sweep right after this one rings.
        changed = mine.update(status=Job.Status.QUEUED, heartbeat_at=datetime(2000, 1, 1, tzinfo=UTC))
    job.refresh_from_db()
    return bool(changed)


def is_abandoned(job: Job) -> bool:
    """Whether nobody works on a running job any more.

    On this machine the process itself is asked: one that is gone is known at once, one that lives is given
    ten times as long (a long transaction on SQLite holds its heartbeat back).
    """
    if job.heartbeat_at is None:
        return True
    silent = (timezone.now() - job.heartbeat_at).total_seconds()
    host, pid, started = (job.claimed_by.split(":") + ["", "", ""])[:3]
    if host == this_host() and pid.isdigit():
        return start_of(int(pid)) != started or silent > 10 * settings.JOB_STALE_S
    return silent > settings.JOB_STALE_S
