"""Model versions: training one, its numbers, and putting it to use."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from labeling.models import Project
from labeling.queries.labels import usable_labels
from selection import outcomes, pool_charts, queries, registry, reports
from selection.forms import ReasonForm, TrainForm
from selection.models import ModelVersion
from selection.training import request_training
from selection.views.common import back, page_of, person, research_view, try_or_say


def _list(request: HttpRequest, project: Project, form: TrainForm, status: int = 200) -> HttpResponse:
    context = {
        "page_obj": page_of(request, queries.models_of(project)),
        "form": form,
        "n_labels": usable_labels(project).count(),
        "n_graded": outcomes.graded(project).count(),
        "few": reports.FEW,
    }
    return render(request, "selection/models.html", context, status=status)


@require_GET
@research_view
def models(request: HttpRequest, project: Project) -> HttpResponse:
    return _list(request, project, TrainForm(project=project))


@require_POST
@research_view
def model_train(request: HttpRequest, project: Project) -> HttpResponse:
    form = TrainForm(request.POST, project=project)
    if not form.is_valid():
        return _list(request, project, form, status=400)
    made: list[ModelVersion] = []
    asked = form.cleaned_data
    if not try_or_say(
        request, lambda: made.append(request_training(project, user=person(request), **asked)), ""
    ):
        return _list(request, project, form, status=409)
    return redirect("model-detail", made[0].pk)


@require_GET
@research_view
def model_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    model = get_object_or_404(queries.models_of(project), pk=pk)
    report = model.metrics.get("held_out", {})
    context = {
        "model": model,
        "measures": reports.measures(report),
        "report": report,
        "few": reports.FEW,
        "n": reports.held_out_n(report),
        "reliability": pool_charts.reliability_chart(report),
        "pools": pool_charts.pool_views(model.metrics),
        "interval": report.get("intervals", {}).get("auroc_bad"),
        "sets": model.score_sets.select_related("pool"),
        "generations": model.closed_generations.all(),
        "files": registry.files_of(model),
        "form": ReasonForm(),
    }
    return render(request, "selection/model.html", context)


@require_POST
@research_view
def model_promote(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    model, form = get_object_or_404(registry.usable(project), pk=pk), ReasonForm(request.POST)
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        try_or_say(
            request,
            lambda: registry.promote(model, reason=reason, by=person(request)),
            _("This model is in use now."),
        )
    return back("model-detail", pk)


@require_POST
@research_view
def model_reject(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    model, form = get_object_or_404(registry.usable(project), pk=pk), ReasonForm(request.POST)
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        try_or_say(
            request,
            lambda: registry.reject(model, reason=reason, by=person(request)),
            _("This model is set aside."),
        )
    return back("model-detail", pk)


urlpatterns = [
    path("research/models/", models, name="models"),
    path("research/models/train/", model_train, name="model-train"),
    path("research/models/<int:pk>/", model_detail, name="model-detail"),
    path("research/models/<int:pk>/promote/", model_promote, name="model-promote"),
    path("research/models/<int:pk>/reject/", model_reject, name="model-reject"),
]
