"""Pages of the QC lead about people: who slips, pausing, readmitting, inviting."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.access import role_required
from labeling.models import Enrolment, User
from labeling.queries.counts import project_counts
from labeling.queries.people import labeler_detail, labeler_rows
from labeling.scope import current_project, project_or_404
from labeling.services import people
from labeling.views.lead_forms import PauseForm, PersonForm, ReadmitForm

PER_PAGE = 50
LABELS_PER_PAGE = 20
LINK_DAYS = 7


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 - role_required let only users in
    return request.user


def _enrolment(request: HttpRequest, pk: int) -> Enrolment:
    """Of any project: the page shows whose it is, so a link from elsewhere works."""
    return get_object_or_404(Enrolment.objects.select_related("user", "project"), pk=pk)


@require_GET
@role_required("lead", "researcher")
def labelers(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return redirect("project-create")
    page = Paginator(labeler_rows(project), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "counts": project_counts(project), "project": project}
    return render(request, "labeling/lead/labelers.html", context)


@require_GET
@role_required("lead", "researcher")
def labeler(request: HttpRequest, pk: int) -> HttpResponse:
    detail = labeler_detail(_enrolment(request, pk))
    page = Paginator(detail.labels, LABELS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "detail": detail,
        "row": detail.row,
        "page_obj": page,
        "pause_form": PauseForm(),
        "readmit_form": ReadmitForm(),
    }
    return render(request, "labeling/lead/labeler.html", context)


@require_POST
@role_required("lead", "researcher")
def labeler_pause(request: HttpRequest, pk: int) -> HttpResponse:
    enrolment, form = _enrolment(request, pk), PauseForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Give a reason: the labeler will read it."))
        return redirect("labeler-detail", pk=pk)
    people.pause(enrolment, by=_actor(request), reason=form.cleaned_data["reason"])
    messages.success(request, _("%s is paused.") % enrolment.user.display_name)
    return redirect("labeler-detail", pk=pk)


@require_POST
@role_required("lead", "researcher")
def labeler_readmit(request: HttpRequest, pk: int) -> HttpResponse:
    enrolment, form = _enrolment(request, pk), ReadmitForm(request.POST)
    form.is_valid()
    people.readmit(enrolment, by=_actor(request), release_quarantine=form.cleaned_data["release_quarantine"])
    messages.success(request, _("%s can work again.") % enrolment.user.display_name)
    return redirect("labeler-detail", pk=pk)


def _show_link(request: HttpRequest, user: User) -> HttpResponse:
    token = people.make_sign_in_link(user, days=LINK_DAYS, by=_actor(request))
    url = request.build_absolute_uri(reverse("sign-in-link", args=[token]))
    context = {"person": user, "url": url, "days": LINK_DAYS}
    response = render(request, "labeling/lead/link.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _may_sign_in_as(actor: User, person: User) -> bool:
    """A link is a key: only to labelers, and to people of one's own role."""
    return person.role in {User.Role.LABELER, actor.role}


@require_POST
@role_required("lead", "researcher")
def labeler_link(request: HttpRequest, pk: int) -> HttpResponse:
    person = _enrolment(request, pk).user
    if not _may_sign_in_as(_actor(request), person):
        messages.error(request, _("You can make links for labelers and for people of your own role."))
        return redirect("labeler-detail", pk=pk)
    return _show_link(request, person)


@require_http_methods(["GET", "POST"])
@role_required("lead", "researcher")
def person_create(request: HttpRequest) -> HttpResponse:
    form = PersonForm(request.POST or None)
    if form.is_valid():
        data = form.cleaned_data
        names = {"first_name": data["first_name"], "last_name": data["last_name"]}
        project = project_or_404(request)
        person = people.create_person(
            data["username"], data["role"], project=project, by=_actor(request), **names
        )
        return _show_link(request, person)
    return render(request, "labeling/lead/person.html", {"form": form})


urlpatterns = [
    path("lead/", labelers, name="lead"),
    path("lead/labelers/<int:pk>/", labeler, name="labeler-detail"),
    path("lead/labelers/<int:pk>/pause/", labeler_pause, name="labeler-pause"),
    path("lead/labelers/<int:pk>/readmit/", labeler_readmit, name="labeler-readmit"),
    path("lead/labelers/<int:pk>/link/", labeler_link, name="labeler-link"),
    path("lead/people/new/", person_create, name="person-create"),
]
