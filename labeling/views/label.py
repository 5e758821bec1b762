"""The labeler's pages: judging, guidelines, the screening's result, and recent work."""

from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_http_methods

from labeling.access import role_of
from labeling.models import Enrolment, Label, Project, User
from labeling.queries.labels import recent_labels
from labeling.scope import choose_project, current_project
from labeling.services import labels, people, standing
from labeling.views.guideline_text import blocks
from labeling.views.label_strings import label_strings

PER_PAGE = 25


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)


def _mine(user: User) -> QuerySet[Project]:
    return Project.objects.filter(enrolments__user=user)


def _project(request: HttpRequest) -> Project | None:
    """The one asked for (?project=slug) or chosen last; for a labeler always one of theirs."""
    mine = _mine(_user(request))
    asked = mine.filter(slug=request.GET.get("project", "")).first()
    if asked is not None:
        choose_project(request, asked)
    current = current_project(request)
    if current is None or role_of(request) != User.Role.LABELER:
        return current
    return mine.filter(pk=current.pk).first() or mine.first() or current


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
    project = _project(request)
    if project is None:
        return render(request, "labeling/no_project.html")
    if _enrolment(_user(request), project) is None:
        return render(request, "labeling/not_enrolled.html", {"project": project})
    others = _mine(_user(request)).exclude(pk=project.pk)
    context = {"project": project, "others": others, "strings": label_strings()}
    context |= {"config": _config(_user(request), project)}
    return render(request, "labeling/label.html", context)


@require_http_methods(["GET", "POST"])
def guidelines(request: HttpRequest) -> HttpResponse:
    project = _project(request)
    if project is None:
        return render(request, "labeling/no_project.html")
    enrolment = _enrolment(_user(request), project)
    if request.method == "POST" and enrolment is not None:
        people.accept_guidelines(enrolment)
        messages.success(request, _("Thank you. You can begin."))
        return redirect("label")
    to_accept = enrolment is not None and enrolment.accepted_guidelines < project.guideline_version
    context = {"blocks": blocks(project.guidelines), "to_accept": to_accept, "enrolment": enrolment}
    context |= {"project": project}
    return render(request, "labeling/guidelines.html", context)


@require_GET
def screening_result(request: HttpRequest) -> HttpResponse:
    project = _project(request)
    enrolment = _enrolment(_user(request), project)
    context: dict[str, Any] = {"enrolment": enrolment, "project": project}
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
    project = _project(request)
    if project is None:
        return render(request, "labeling/no_project.html")
    user, now = _user(request), timezone.now()
    page = Paginator(recent_labels(user, project), PER_PAGE).get_page(request.GET.get("page"))
    rows = [_row(made, now) for made in page]
    context = {"project": project, "page_obj": page, "rows": rows, "config": _config(user, project)}
    return render(request, "labeling/work.html", context)


urlpatterns = [
    path("label/", label, name="label"),
    path("label/guidelines/", guidelines, name="guidelines"),
    path("label/screening/", screening_result, name="screening-result"),
    path("label/mine/", my_work, name="my-work"),
]
