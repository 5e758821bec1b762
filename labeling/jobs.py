"""Background work whose truth is a row: it survives a killed worker, and the broker is only a doorbell.

    @register("export_file", title=_("Export labels"))
    def run(job: JobRun) -> dict[str, Any]:
        for done, row in enumerate(rows): ...; job.progress(done, len(rows), "writing")
        return {"rows": len(rows)}

    enqueue("export_file", {"format": "trl"}, project=project, user=request.user)

A kind may be killed at any moment and is then run again from its start, so it must go on from what it finds.
A thread with its own connection writes progress and heartbeat once a second, also while `run` computes or
holds a transaction open.
"""

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError as BrokerError

from labeling.errors import LabelingError
from labeling.models import AuditEntry, Job, Project, User

log = logging.getLogger(__name__)

# A worker that dies this often in one job most likely dies because of it (memory): stop and say so.
MAX_ATTEMPTS = 8
REPORT_S = 1.0
# Workers are seen at each sweep (every 30 s) and at each heartbeat.
ALIVE_S = 90
RUN_TASK = "selection.tasks.run_job"

Run = Callable[["JobRun"], dict[str, Any]]
Page = Callable[[Job], str]
OnProgress = Callable[[int, int, str], None]


class JobFailure(Exception):
    """A failure that a person can act on: what is wrong, and what to do about it."""

    def __init__(self, message: str, cure: str = "") -> None:
        self.message, self.cure = message, cure
        super().__init__(message)


class JobCancelled(Exception):
    """A person asked to stop, or another worker has taken the job over."""


@dataclass(frozen=True)
class Kind:
    name: str
    title: Any  # str or lazy translation
    queue: str
    run: Run
    page: Page | None


_kinds: dict[str, Kind] = {}


def register(
    name: str, *, queue: str = "default", title: Any = "", page: Page | None = None
) -> Callable[[Run], Run]:
    """Make a function the way to run jobs of this kind.

    `queue` is "default" or "gpu"; `page` gives the address of what a job works on, for a link.
    """

    def keep(run: Run) -> Run:
        _kinds[name] = Kind(name, title or name, queue, run, page)
        return run

    return keep


def kind_of(job: Job) -> Kind:
    """The registered kind of a job. Raises JobFailure when this installation does not know it."""
    if job.kind not in _kinds:
        raise JobFailure(
            _("This installation does not know the job kind “%s”.") % job.kind,
            _("Run the web process and the workers from the same version."),
        )
    return _kinds[job.kind]


def title_of(job: Job) -> str:
    """What the job is called on pages; its bare name when the kind is unknown."""
    return str(_kinds[job.kind].title) if job.kind in _kinds else job.kind


def page_of(job: Job) -> str:
    """Address of what the job works on, "" if its kind has none."""
    kind = _kinds.get(job.kind)
    return kind.page(job) if kind is not None and kind.page is not None else ""


def time_left(job: Job) -> timedelta | None:
    """How long a running job's present stage will still take at its pace so far; None while that is unknown."""
    since, first = job.result.get("stage_since"), job.result.get("stage_from", 0)
    if job.status != Job.Status.RUNNING or not since or job.done <= first or job.total <= job.done:
        return None
    elapsed = (job.heartbeat_at or timezone.now()) - datetime.fromisoformat(since)
    return max(elapsed, timedelta()) * ((job.total - job.done) / (job.done - first))


# --- Asking for work --------------------------------------------------------------------------


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
    if kind not in _kinds:
        raise ValueError(f"job kind {kind!r} is not registered")
    return Job.objects.create(
        kind=kind, params=params, project=project, created_by=user, heartbeat_at=timezone.now()
    )


def ring(job: Job) -> None:
    """Tell a worker. A bell that cannot ring is no loss: the sweep rings again."""
    Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED).update(heartbeat_at=timezone.now())
    queue = _kinds[job.kind].queue if job.kind in _kinds else "default"
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


# --- Doing it ---------------------------------------------------------------------------------


@dataclass
class JobRun:
    """A job in progress, as its kind sees it."""

    job: Job
    claim: str = ""
    on_progress: OnProgress | None = None
    stop: threading.Event = field(default_factory=threading.Event)
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
    claim, now = f"{_process()}:{uuid.uuid4().hex[:8]}", timezone.now()
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
    except (KeyboardInterrupt, SystemExit) as error:
        # Ctrl-C at a command: stopped on purpose. What was done stays, and the job can be run again.
        return {"status": Job.Status.CANCELLED}, error
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        cure = _("This was not expected: the worker's log has the details.")
        return {"status": Job.Status.FAILED, "error": text, "cure": cure}, error


def _finish(run: JobRun, outcome: dict[str, Any]) -> None:
    if run.latest is not None:
        outcome["done"], outcome["total"], outcome["stage"] = run.latest
    mine = Job.objects.filter(pk=run.job.pk, claimed_by=run.claim, status=Job.Status.RUNNING)
    mine.update(finished_at=timezone.now(), heartbeat_at=timezone.now(), **({"result": {}} | outcome))


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
        if row["cancel_requested"] or row["claimed_by"] != self.run_.claim:
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


# --- Taking over from the dead ----------------------------------------------------------------


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
    if host == _host() and pid.isdigit():
        return _start_of(int(pid)) != started or silent > 10 * settings.JOB_STALE_S
    return silent > settings.JOB_STALE_S


def _host() -> str:
    return socket.gethostname().replace(":", "_")[:60]


def _process() -> str:
    return f"{_host()}:{os.getpid()}:{_start_of(os.getpid())}"


def _start_of(pid: int) -> str:
    """When a process started, in clock ticks; "?" where the system does not say, "" when it is gone.

    A process identifier alone is used again by the system, with its start it is not.
    """
    with suppress(OSError):
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if after_name[0] == "Z" else after_name[19]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        return "?"
    return "?"


# --- Health -----------------------------------------------------------------------------------


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
