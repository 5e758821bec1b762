"""Pages: background jobs."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling import jobs
from labeling.access import role_required
from labeling.models import Job, User

PER_PAGE = 25


@require_GET
@role_required("lead", "researcher")
def job_list(request: HttpRequest) -> HttpResponse:
    rows = Job.objects.select_related("created_by")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "worker_seen_at": jobs.worker_seen_at(), "alive": jobs.worker_is_alive()}
    return render(request, "labeling/jobs/list.html", context)


@require_GET
@role_required("lead", "researcher")
def job_detail(request: HttpRequest, pk: int) -> HttpResponse:
    job = get_object_or_404(Job.objects.select_related("created_by", "project"), pk=pk)
    return render(request, "labeling/jobs/detail.html", {"job": job})


@require_GET
@role_required("lead", "researcher")
def job_status(request: HttpRequest, pk: int) -> HttpResponse:
    """The part that is polled; once the job is over the page around it is loaded anew."""
    job = get_object_or_404(Job, pk=pk)
    response = render(request, "labeling/jobs/_status.html", {"job": job})
    if job.is_over:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@role_required("lead", "researcher")
def job_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    job = get_object_or_404(Job, pk=pk)
    by = request.user if isinstance(request.user, User) else None
    if jobs.request_cancel(job, by):
        messages.info(request, _("The job was asked to stop; what it has done so far is kept."))
    else:
        messages.warning(request, _("The job is over already."))
    return redirect("job-detail", pk=pk)


@require_POST
@role_required("lead", "researcher")
def job_retry(request: HttpRequest, pk: int) -> HttpResponse:
    job = get_object_or_404(Job, pk=pk)
    if not jobs.retry(job):
        messages.warning(request, _("Only a failed or cancelled job can be tried again."))
    return redirect("job-detail", pk=pk)


urlpatterns = [
    path("jobs/", job_list, name="jobs"),
    path("jobs/<int:pk>/", job_detail, name="job-detail"),
    path("jobs/<int:pk>/status/", job_status, name="job-status"),
    path("jobs/<int:pk>/cancel/", job_cancel, name="job-cancel"),
    path("jobs/<int:pk>/retry/", job_retry, name="job-retry"),
]
