"""The JSON endpoints of the labeling page: docs/api.md. Thin: check the body, call one service, answer.

Each service call is one transaction, tried again a few times when the database was busy.
"""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, ParamSpec, TypeVar, cast

from django.db import OperationalError
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.errors import LabelingError
from labeling.models import Enrolment, Label, Project, QueueItem, User
from labeling.serializers import DraftIn, NextIn, SubmissionIn, claim_json, label_json, valid
from labeling.services import labels, queue

P = ParamSpec("P")
T = TypeVar("T")

RETRY_AFTER_S = (0.05, 0.15, 0.4, 1.0)
BUSY = ("locked", "deadlock", "could not serialize")


class Busy(LabelingError):
    """The database is busy. Nothing was lost: it will be tried again."""

    code, status = "busy", HTTPStatus.SERVICE_UNAVAILABLE


def retried(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a transaction again when it lost a race for a lock; raise Busy when it keeps losing."""
    for pause in (*RETRY_AFTER_S, None):
        try:
            return call(*args, **kwargs)
        except OperationalError as error:
            if not any(word in str(error) for word in BUSY):
                raise
            if pause is None:
                raise Busy from error
            time.sleep(pause)
    raise AssertionError("unreachable")


def _person(request: Request) -> User:
    return cast(User, request.user)


def _next(user: User, project: Project, have: list[int]) -> dict[str, Any]:
    claim = retried(queue.claim_next, user, project, have=have)
    enrolment = Enrolment.objects.select_related("user", "project").get(user=user, project=project)
    return claim_json(claim, enrolment)


def _after(user: User, label: Label) -> dict[str, Any]:
    """What /next/ gives, except that passing the screening is shown once before work begins."""
    enrolment = Enrolment.objects.select_related("user", "project").get(user=user, project=label.project)
    over = label.purpose == QueueItem.Purpose.SCREENING and enrolment.status == Enrolment.Status.ACTIVE
    if over:
        passed = queue.Claim("screening_over", message=_("You passed the screening."))
        return claim_json(passed, enrolment)
    return _next(user, label.project, [])


class NextView(APIView):
    def post(self, request: Request, slug: str) -> Response:
        project = get_object_or_404(Project, slug=slug)
        body = valid(NextIn(data=request.data))
        return Response(_next(_person(request), project, body.get("have", [])))


class DraftView(APIView):
    def put(self, request: Request, pk: int) -> Response:
        body = valid(DraftIn(data=request.data))
        saved = retried(labels.save_draft, _person(request), pk, **body)
        return Response({"version": saved.draft_version})


class SubmitView(APIView):
    def post(self, request: Request, pk: int) -> Response:
        user, body = _person(request), SubmissionIn(data=request.data)
        valid(body)
        label = retried(labels.submit, user, pk, body.submission())
        return Response({**label_json(label), "next": _after(user, label)})


class ReopenView(APIView):
    def post(self, request: Request, pk: int) -> Response:
        user = _person(request)
        assignment = retried(labels.reopen, user, pk)
        enrolment = Enrolment.objects.select_related("user", "project").get(
            user=user, project=assignment.project
        )
        return Response(claim_json(queue.Claim("work", assignment), enrolment))


urlpatterns: list[URLPattern] = [
    path("api/projects/<slug:slug>/next/", NextView.as_view(), name="api-next"),
    path("api/assignments/<int:pk>/draft/", DraftView.as_view(), name="api-draft"),
    path("api/assignments/<int:pk>/submit/", SubmitView.as_view(), name="api-submit"),
    path("api/labels/<int:pk>/reopen/", ReopenView.as_view(), name="api-reopen"),
]
