"""Pages of the QC lead about reported problems and about what was changed by whom."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling.access import role_required
from labeling.models import AuditEntry, Problem, User
from labeling.queries.answers import answers_to_check
from labeling.queries.problems import reported_problems
from labeling.scope import project_or_404
from labeling.services.problems import decide_problem

PER_PAGE = 25


@require_GET
@role_required("lead", "researcher")
def problems(request: HttpRequest) -> HttpResponse:
    project = project_or_404(request)
    page = Paginator(reported_problems(project), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "answers_to_check": answers_to_check(project)}
    return render(request, "labeling/lead/problems.html", context)


@require_POST
@role_required("lead", "researcher")
def problem_decide(request: HttpRequest, pk: int) -> HttpResponse:
    problem = get_object_or_404(Problem, pk=pk)
    is_bad = request.POST.get("decision") == "bad"
    actor = request.user
    assert isinstance(actor, User)  # noqa: S101 - role_required let only users in
    decide_problem(problem, by=actor, is_bad=is_bad)
    text = _("The problem is out of every queue.") if is_bad else _("The problem is in use.")
    messages.success(request, text)
    return redirect("lead-problems")


@require_GET
@role_required("lead", "researcher")
def audit(request: HttpRequest) -> HttpResponse:
    rows = AuditEntry.objects.select_related("actor", "project")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "labeling/lead/audit.html", {"page_obj": page})


urlpatterns = [
    path("lead/problems/", problems, name="lead-problems"),
    path("lead/problems/<int:pk>/decide/", problem_decide, name="problem-decide"),
    path("lead/audit/", audit, name="audit"),
]
