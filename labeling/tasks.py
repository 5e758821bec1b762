"""Celery tasks of the people side: thin, rung by the clock in config/celery.py."""

from celery import shared_task

from labeling.services import queue

EXPIRE_S = 60


@shared_task(name="labeling.tasks.expire_leases", ignore_result=True, expires=EXPIRE_S)
def expire_leases() -> None:
    """Return the places of leases that ran out (claims do it too; this keeps the counts true)."""
    queue.expire_leases()
