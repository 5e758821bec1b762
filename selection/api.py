"""The JSON endpoints of the bridge: scores of any solution, made by a worker. docs/api.md describes them."""

from typing import Any, cast

from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from labeling.access import role_of
from labeling.errors import BadSubmission
from labeling.models import Job, Project, User
from models_prm.aggregate import REDUCTIONS
from selection.requests import request_scores

MAX_SOLUTIONS = 64
MAX_STEPS = 200
MAX_TEXT = 20_000
KIND = "score_solutions"


class StaffOnly(BasePermission):
    """Leads and researchers: a labeler must never see a model's score."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return role_of(request) in ("lead", "researcher")


class SolutionIn(serializers.Serializer[Any]):
    problem = serializers.CharField(max_length=MAX_TEXT, trim_whitespace=False)
    steps = serializers.ListField(
        child=serializers.CharField(max_length=MAX_TEXT, trim_whitespace=False),
        min_length=1,
        max_length=MAX_STEPS,
    )


class ScoresIn(serializers.Serializer[Any]):
    model = serializers.CharField(max_length=200, required=False)
    method = serializers.ChoiceField(sorted(REDUCTIONS), default="product")
    neutral = serializers.ChoiceField(["good", "bad"], default="good")
    solutions = serializers.ListField(child=SolutionIn(), min_length=1, max_length=MAX_SOLUTIONS)


def _checked(data: Any) -> dict[str, Any]:
    """The checked body. Raises BadSubmission naming the place of the first fault."""
    body = ScoresIn(data=data)
    if body.is_valid():
        return dict(body.validated_data)
    place, fault = "", body.errors
    while isinstance(fault, dict | list):
        key, fault = next(iter(fault.items())) if isinstance(fault, dict) else ("", fault[0])
        place += f".{key}" if key != "" else ""
    raise BadSubmission(f"{place[1:]}: {fault}", field=place[1:])


class StaffView(APIView):
    permission_classes = [IsAuthenticated, StaffOnly]


class ScoreView(StaffView):
    """Ask for scores: 202 with the address where they will be."""

    def post(self, request: Request, slug: str) -> Response:
        project = get_object_or_404(Project, slug=slug)
        job = request_scores(project, _checked(request.data), user=cast(User, request.user))
        return Response(_said(job, request), status=202)


class ScoresView(StaffView):
    """How the scores are getting on, and the scores once they are there."""

    def get(self, request: Request, pk: int) -> Response:
        job = get_object_or_404(Job, pk=pk, kind=KIND)
        if job.created_by_id != request.user.pk:
            raise PermissionDenied(_("Only the person who asked for these scores can read them."))
        return Response(_said(job, request))


def _said(job: Job, request: Request) -> dict[str, Any]:
    said: dict[str, Any] = {
        "job": job.pk,
        "status": job.status,
        "url": reverse("api-scores", args=[job.pk], request=request),
    }
    if job.status == Job.Status.DONE:
        said |= job.result
    elif job.status == Job.Status.FAILED:
        said |= {"error": job.error, "cure": job.cure}
    return said


urlpatterns: list[URLPattern] = [
    path("api/projects/<slug:slug>/score/", ScoreView.as_view(), name="api-score"),
    path("api/scores/<int:pk>/", ScoresView.as_view(), name="api-scores"),
]
