"""Which project a person is looking at: the one they chose last, else the first."""

from django.http import Http404, HttpRequest

from labeling.models import Project

KEY = "project"


def current_project(request: HttpRequest) -> Project | None:
    chosen = request.session.get(KEY)
    found = Project.objects.filter(pk=chosen).first() if chosen else None
    return found or Project.objects.first()


def project_or_404(request: HttpRequest) -> Project:
    project = current_project(request)
    if project is None:
        raise Http404("no project")
    return project


def choose_project(request: HttpRequest, project: Project) -> None:
    request.session[KEY] = project.pk
