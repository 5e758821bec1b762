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

from labeling.jobs.asking import RUN_TASK, create, enqueue, request_cancel, retry, ring
from labeling.jobs.health import mark_worker_seen, time_left, worker_is_alive, worker_seen_at
from labeling.jobs.kinds import JobCancelled, JobFailure, Run, forget, page_of, register, title_of
from labeling.jobs.running import JobRun, OnProgress, run_job
from labeling.jobs.sweeping import MAX_ATTEMPTS, give_back, is_abandoned, sweep, take_back

__all__ = [
    "MAX_ATTEMPTS",
    "RUN_TASK",
    "JobCancelled",
    "JobFailure",
    "JobRun",
    "OnProgress",
    "Run",
    "create",
    "enqueue",
    "forget",
    "give_back",
    "is_abandoned",
    "mark_worker_seen",
    "page_of",
    "register",
    "request_cancel",
    "retry",
    "ring",
    "run_job",
    "sweep",
    "take_back",
    "time_left",
    "title_of",
    "worker_is_alive",
    "worker_seen_at",
]
