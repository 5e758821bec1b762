"""Pages of the QC lead about answers that the graders leave in doubt."""

from collections.abc import Callable

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from labeling.access import role_required
from labeling.errors import NotAllowedNow
from labeling.models import AnswerCheck, Solution, User
from labeling.queries.answers import answer_checks, answers_to_check
from labeling.scope import project_or_404
from labeling.services.answers import reopen_answer, settle_answer

PER_PAGE = 25


@require_GET
@role_required("lead", "researcher")
def answers(request: HttpRequest) -> HttpResponse:
    project, settled = project_or_404(request), request.GET.get("settled") == "1"
    page = Paginator(answer_checks(project, settled=settled), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "settled": settled, "waiting": answers_to_check(project)}
    return render(request, "labeling/lead/answers.html", context)


@require_POST
@role_required("lead", "researcher")
def answer_settle(request: HttpRequest, pk: int) -> HttpResponse:
    check, grade = get_object_or_404(AnswerCheck, pk=pk), request.POST.get("grade", "")
    if grade not in Solution.Grade.values:
        return HttpResponseBadRequest(_("The grade must be right, wrong or unknown."))
    _try(request, lambda: settle_answer(check, by=_actor(request), grade=grade))
    return redirect("answers")


@require_POST
@role_required("lead", "researcher")
def answer_reopen(request: HttpRequest, pk: int) -> HttpResponse:
    check = get_object_or_404(AnswerCheck, pk=pk)
    _try(request, lambda: reopen_answer(check, by=_actor(request)))
    return redirect("answers")


def _try(request: HttpRequest, change: Callable[[], int]) -> None:
    """Do it and say how many solutions it touched, or why it was refused."""
    try:
        n = change()
    except NotAllowedNow as refused:
        messages.error(request, refused.message)
    else:
        text = ngettext(
            "The grade of %d solution was written.", "The grades of %d solutions were written.", n
        )
        messages.success(request, text % n)


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 - role_required let only users in
    return request.user


urlpatterns = [
    path("lead/problems/answers/", answers, name="answers"),
    path("lead/problems/answers/<int:pk>/settle/", answer_settle, name="answer-settle"),
    path("lead/problems/answers/<int:pk>/reopen/", answer_reopen, name="answer-reopen"),
]
