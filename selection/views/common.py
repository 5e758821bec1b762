"""What the researcher's views share."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise

from labeling.access import role_required
from labeling.errors import LabelingError
from labeling.jobs import JobFailure
from labeling.models import Project, User
from labeling.scope import current_project

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, Project, P], HttpResponse]


def research_view(view: View[P]) -> Callable[Concatenate[HttpRequest, P], Any]:
    """For leads and researchers, with the project they look at as second argument."""

    @role_required("lead", "researcher")
    @wraps(view)
    def with_project(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        project = current_project(request)
        if project is None:
            return render(request, "labeling/no_project.html")
        return view(request, project, *args, **kwargs)

    return with_project


def person(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


def page_of(request: HttpRequest, rows: QuerySet[Any, Any], per_page: int = 25) -> Any:
    return Paginator(rows, per_page).get_page(request.GET.get("page"))


def try_or_say(request: HttpRequest, what: Callable[[], Any], done: str | Promise) -> bool:
    """Do something that may be refused, and tell the person which of the two it was."""
    try:
        what()
    except JobFailure as error:
        messages.error(request, f"{error.message} {error.cure}".strip())
    except LabelingError as error:
        messages.error(request, error.message)
    else:
        if done:
            messages.success(request, str(done))
        return True
    return False


def back(name: str, *args: Any) -> HttpResponse:
    return redirect(name, *args)
