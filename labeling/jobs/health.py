"""Signs of life, for pages: when a worker was last seen, and how long a job will take."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils import timezone

from labeling.models import Job

# Workers are seen at each sweep (every 30 s) and at each heartbeat.
ALIVE_S = 90


def mark_worker_seen() -> None:
    with suppress(OSError):
        (settings.HOME / "worker.seen").touch()


def worker_seen_at() -> datetime | None:
    """When a worker was last alive (to about half a minute), None if never."""
    try:
        return datetime.fromtimestamp((settings.HOME / "worker.seen").stat().st_mtime, tz=UTC)
    except OSError:
        return None


def worker_is_alive() -> bool:
    """Whether a worker was seen within two sweeps and a bit."""
    seen = worker_seen_at()
    return seen is not None and timezone.now() - seen < timedelta(seconds=ALIVE_S)


def time_left(job: Job) -> timedelta | None:
    """How long a running job's present stage will still take at its pace so far; None while unknown."""
    since, first = job.result.get("stage_since"), job.result.get("stage_from", 0)
    if job.status != Job.Status.RUNNING or not since or job.done <= first or job.total <= job.done:
        return None
    elapsed = (job.heartbeat_at or timezone.now()) - datetime.fromisoformat(since)
    return timedelta(seconds=max(0.0, elapsed.total_seconds()) * (job.total - job.done) / (job.done - first))
