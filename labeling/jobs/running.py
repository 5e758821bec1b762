"""Running a job: claim it by a conditional update, report on it, write how it ended."""

import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.errors import LabelingError
from labeling.jobs.health import mark_worker_seen
from labeling.jobs.kinds import JobCancelled, JobFailure, kind_of
from labeling.jobs.sweeping import take_back
from labeling.jobs.workers import this_process
from labeling.models import Job, Project

REPORT_S = 1.0

OnProgress = Callable[[int, int, str], None]


@dataclass
class JobRun:
    """A job in progress, as its kind sees it."""

    job: Job
    claim: str = ""
    on_progress: OnProgress | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    # Another worker has it by now: stop, and leave everything as it is, for it belongs to that one.
    is_lost: bool = False
    latest: tuple[int, int, str] | None = None
    stage_since: dict[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.job.params)

    @property
    def project(self) -> Project:
        if self.job.project is None:
            raise JobFailure(_("This job belongs to no project."))
        return self.job.project

    def progress(self, done: int, total: int, stage: str = "") -> None:
        """Say how far it is; cheap enough to call often. Raises JobCancelled when it shall stop."""
        stage = stage[:120]
        if self.latest is None or stage != self.latest[2]:
            self.stage_since = {"stage_since": timezone.now().isoformat(), "stage_from": int(done)}
        self.latest = (max(0, int(done)), max(0, int(total)), stage)
        if self.on_progress is not None:
            self.on_progress(*self.latest)
        self.beat()

    def beat(self) -> None:
        """Raises JobCancelled when the job shall stop; the heartbeat itself needs no help."""
        if self.cancelled():
            raise JobCancelled

    def cancelled(self) -> bool:
        return self.stop.is_set()


def run_job(job_id: int, on_progress: OnProgress | None = None) -> Job | None:
    """Claim and run a job; None when there is nothing to do (over, or another worker has it).

    An unexpected error is written to the row in short and raised again for the log.
    """
    job = Job.objects.select_related("project", "created_by").filter(pk=job_id).first()
    if job is None:
        return None
    if job.status == Job.Status.RUNNING:
        take_back(job)
    run = _claim(job, on_progress)
    if run is None:
        return None
    with _Reporter(run):
        outcome, unexpected = _outcome(run)
    _finish(run, outcome)
    job.refresh_from_db()
    if unexpected is not None:
        raise unexpected
    return job


def _claim(job: Job, on_progress: OnProgress | None) -> JobRun | None:
    claim, now = f"{this_process()}:{uuid.uuid4().hex[:8]}", timezone.now()
    claimed = Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED).update(
        status=Job.Status.RUNNING,
        claimed_by=claim,
        heartbeat_at=now,
        started_at=job.started_at or now,
        attempts=job.attempts + 1,
    )
    if not claimed:
        return None
    job.refresh_from_db()
    return JobRun(job, claim, on_progress)


def _outcome(run: JobRun) -> tuple[dict[str, Any], BaseException | None]:
    """Run the kind; the columns to write, and the error to raise again if nobody expected it."""
    try:
        return {"status": Job.Status.DONE, "result": kind_of(run.job).run(run)}, None
    except JobCancelled:
        return {"status": Job.Status.CANCELLED}, None
    except JobFailure as error:
        return {"status": Job.Status.FAILED, "error": error.message, "cure": error.cure}, None
    except LabelingError as error:
        return {"status": Job.Status.FAILED, "error": error.message, "result": error.extra}, None
    except KeyboardInterrupt as error:
        # Ctrl-C at a command: stopped on purpose. What was done stays, and the job can be run again.
        return {"status": Job.Status.CANCELLED}, error
    except SystemExit as error:
        # The worker itself is stopped (SIGTERM): the next one goes on.
        return {"status": Job.Status.QUEUED}, error
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        cure = _("This was not expected: the worker's log has the details.")
        return {"status": Job.Status.FAILED, "error": text, "cure": cure}, error


def _finish(run: JobRun, outcome: dict[str, Any]) -> None:
    if run.latest is not None:
        outcome["done"], outcome["total"], outcome["stage"] = run.latest
    mine = Job.objects.filter(pk=run.job.pk, claimed_by=run.claim, status=Job.Status.RUNNING)
    now = timezone.now()
    finished = None if outcome["status"] == Job.Status.QUEUED else now
    mine.update(finished_at=finished, heartbeat_at=now, **({"result": {}} | outcome))


class _Reporter(threading.Thread):
    """Writes a running job's progress and heartbeat, and reads whether it shall stop."""

    def __init__(self, run: JobRun) -> None:
        super().__init__(name=f"job-{run.job.pk}", daemon=True)
        self.run_ = run
        self.over = threading.Event()
        self.written: tuple[int, int, str] | None = None
        self.written_at = timezone.now()

    def __enter__(self) -> "_Reporter":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()

    def run(self) -> None:
        try:
            while not self.over.wait(min(REPORT_S, settings.JOB_HEARTBEAT_S)):
                # A locked database is no reason to stop: the next round tries again.
                with suppress(DatabaseError):
                    self._report()
        finally:
            connection.close()

    def _report(self) -> None:
        latest, now = self.run_.latest, timezone.now()
        row = Job.objects.filter(pk=self.run_.job.pk).values("claimed_by", "cancel_requested").first()
        if row is None:  # not committed yet, as in a test that holds a transaction open
            return
        self.run_.is_lost = row["claimed_by"] != self.run_.claim
        if row["cancel_requested"] or self.run_.is_lost:
            self.run_.stop.set()
            return
        due = now - self.written_at >= timedelta(seconds=settings.JOB_HEARTBEAT_S)
        if latest == self.written and not due:
            return
        columns: dict[str, Any] = {"heartbeat_at": now}
        if latest is not None:
            columns["done"], columns["total"], columns["stage"] = latest
            columns["result"] = self.run_.stage_since
        Job.objects.filter(pk=self.run_.job.pk, claimed_by=self.run_.claim).update(**columns)
        self.written, self.written_at = latest, now
        mark_worker_seen()
