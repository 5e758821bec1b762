"""The labeler's pages: judging, guidelines, the screening's result, and recent work."""

from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_http_methods

from labeling.models import Enrolment, Label, Project, User
from labeling.queries.labels import recent_labels
from labeling.services import labels, people, standing
from labeling.views.guideline_text import blocks
from labeling.views.label_strings import label_strings

PER_PAGE = 25


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)


def _project() -> Project | None:
    return Project.objects.first()


def _enrolment(user: User, project: Project | None) -> Enrolment | None:
    return Enrolment.objects.filter(user=user, project=project).select_related("project", "user").first()


def _config(user: User, project: Project) -> dict[str, Any]:
    return {
        "owner": user.public_id,
        "urls": {
            "next": reverse("api-next", args=[project.slug]),
            "draft": reverse("api-draft", args=[0]),
            "submit": reverse("api-submit", args=[0]),
            "reopen": reverse("api-reopen", args=[0]),
            "signIn": reverse("sign-in"),
            "guidelines": reverse("guidelines"),
            "result": reverse("screening-result"),
            "work": reverse("my-work"),
        },
    }


@require_GET
@ensure_csrf_cookie
def label(request: HttpRequest) -> HttpResponse:
    project = _project()
    if project is None:
        return render(request, "labeling/no_project.html")
    if _enrolment(_user(request), project) is None:
        return render(request, "labeling/not_enrolled.html")
    context = {"config": _config(_user(request), project), "strings": label_strings()}
    return render(request, "labeling/label.html", context)


@require_http_methods(["GET", "POST"])
def guidelines(request: HttpRequest) -> HttpResponse:
    project = _project()
    if project is None:
        return render(request, "labeling/no_project.html")
    enrolment = _enrolment(_user(request), project)
    if request.method == "POST" and enrolment is not None:
        people.accept_guidelines(enrolment)
        messages.success(request, _("Thank you. You can begin."))
        return redirect("label")
    to_accept = enrolment is not None and enrolment.accepted_guidelines < project.guideline_version
    context = {"blocks": blocks(project.guidelines), "to_accept": to_accept, "enrolment": enrolment}
    return render(request, "labeling/guidelines.html", context)


@require_GET
def screening_result(request: HttpRequest) -> HttpResponse:
    project = _project()
    enrolment = _enrolment(_user(request), project)
    context: dict[str, Any] = {"enrolment": enrolment}
    if enrolment is not None:
        right, answered = standing.screening_score(enrolment)
        context |= {"right": right, "answered": answered, "share": 100 * right / answered if answered else 0}
        context |= {"progress": standing.screening_progress(enrolment)}
        context |= {"mark": 100 * enrolment.project.screening_pass_mark}
    return render(request, "labeling/screening_result.html", context)


def _row(made: Label, now: Any) -> dict[str, Any]:
    until = labels.undo_until(made)
    return {
        "label": made,
        "step": made.first_error + 1 if made.first_error is not None else None,
        "seconds": (made.active_time_ms or 0) / 1000,
        "minutes": (made.active_time_ms or 0) / 60_000,
        "can_reopen": until is not None and until > now,
        "until": until,
    }


@require_GET
def my_work(request: HttpRequest) -> HttpResponse:
    project = _project()
    if project is None:
        return render(request, "labeling/no_project.html")
    user, now = _user(request), timezone.now()
    page = Paginator(recent_labels(user, project), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "rows": [_row(made, now) for made in page], "config": _config(user, project)}
    return render(request, "labeling/work.html", context)


urlpatterns = [
    path("label/", label, name="label"),
    path("label/guidelines/", guidelines, name="guidelines"),
    path("label/screening/", screening_result, name="screening-result"),
    path("label/work/", my_work, name="my-work"),
]
