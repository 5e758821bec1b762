"""Pages about projects: choose one, make one, change its rules."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.access import role_required
from labeling.models import Project, User
from labeling.scope import choose_project, current_project
from labeling.services import audit
from labeling.views.lead_forms import ProjectForm


@require_GET
@role_required("lead", "researcher")
def projects(request: HttpRequest) -> HttpResponse:
    context = {"projects": Project.objects.all(), "current": current_project(request)}
    return render(request, "labeling/lead/projects.html", context)


@require_POST
@role_required("lead", "researcher")
def project_choose(request: HttpRequest, pk: int) -> HttpResponse:
    choose_project(request, get_object_or_404(Project, pk=pk))
    return redirect("home")


def _save(request: HttpRequest, form: ProjectForm, action: str) -> HttpResponse:
    project = form.save()
    by = request.user if isinstance(request.user, User) else None
    audit.note(action, project.name, project=project, by=by, changed=form.changed_data)
    choose_project(request, project)
    messages.success(request, _("The project is saved."))
    return redirect("projects")


@require_http_methods(["GET", "POST"])
@role_required("lead", "researcher")
def project_create(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if form.is_valid():
        return _save(request, form, "project.created")
    return render(request, "labeling/lead/project.html", {"form": form})


@require_http_methods(["GET", "POST"])
@role_required("lead", "researcher")
def project_edit(request: HttpRequest, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    form = ProjectForm(request.POST or None, instance=project)
    if form.is_valid():
        return _save(request, form, "project.changed")
    return render(request, "labeling/lead/project.html", {"form": form, "edited": project})


urlpatterns = [
    path("projects/", projects, name="projects"),
    path("projects/new/", project_create, name="project-create"),
    path("projects/<int:pk>/", project_edit, name="project-edit"),
    path("projects/<int:pk>/choose/", project_choose, name="project-choose"),
]
