"""A background job in words, for the pages that show one."""

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labeling import jobs
from labeling.models import Job

register = template.Library()

BADGES = {
    Job.Status.DONE: "badge-good",
    Job.Status.FAILED: "badge-bad",
    Job.Status.CANCELLED: "badge-neutral",
    Job.Status.RUNNING: "badge-info",
}


@register.filter
def job_title(job: Job) -> str:
    return jobs.title_of(job)


@register.filter
def job_page(job: Job) -> str:
    return jobs.page_of(job)


@register.filter
def job_badge(job: Job) -> str:
    return BADGES.get(Job.Status(job.status), "")


@register.filter
def job_left(job: Job) -> str:
    """The time left in round words, "" while it is not known."""
    left = jobs.time_left(job)
    if left is None:
        return ""
    minutes = round(left.total_seconds() / 60)
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 90:
        return ngettext("about %d minute left", "about %d minutes left", minutes) % minutes
    hours = round(minutes / 60)
    return ngettext("about %d hour left", "about %d hours left", hours) % hours


@register.filter
def job_waits_for_worker(job: Job) -> bool:
    """Whether a waiting job waits because no worker has been seen for a while."""
    return job.status == Job.Status.QUEUED and not jobs.worker_is_alive()
