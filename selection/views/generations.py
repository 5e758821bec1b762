"""Generations: opening one, following it, closing it, and overruling its verdict."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from labeling.models import Pool, Project, User
from selection import advice, charts, comparison, queries, reports
from selection.forms import CloseForm, OpenForm, ReasonForm
from selection.generations import OVER, S
from selection.models import Generation
from selection.requests import job_of, overrule, request_closing, request_opening
from selection.views.common import back, page_of, person, research_view, try_or_say

RELATED = ("project", "pool", "selector", "trained", "open_job", "close_job", "created_by")


def _list(request: HttpRequest, project: Project, form: OpenForm, status: int = 200) -> HttpResponse:
    latest = queries.latest_generation(project)
    rows = Generation.objects.filter(project=project).select_related("pool", "selector", "trained", "project")
    page = page_of(request, rows)
    context = {
        "page_obj": page,
        "rows": [(row, queries.work_of(row)) for row in page],
        "form": form,
        "has_pools": Pool.objects.filter(project=project, solutions__isnull=False).exists(),
        "open_one": latest if latest is not None and latest.state not in (*OVER, S.FAILED) else None,
        "next_number": 0 if latest is None else latest.number + 1,
    }
    return render(request, "selection/generations.html", context, status=status)


@require_GET
@research_view
def generations(request: HttpRequest, project: Project) -> HttpResponse:
    return _list(request, project, OpenForm(project=project))


@require_POST
@research_view
def generation_open(request: HttpRequest, project: Project) -> HttpResponse:
    form = OpenForm(request.POST, project=project)
    if not form.is_valid():
        return _list(request, project, form, status=400)
    made: list[Generation] = []
    rule = dict(form.cleaned_data)
    pool = rule.pop("pool")
    if not try_or_say(
        request, lambda: made.append(request_opening(project, pool, user=person(request), **rule)), ""
    ):
        return _list(request, project, form, status=409)
    return redirect("generation-detail", made[0].number)


@require_GET
@research_view
def generation_detail(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    generation = get_object_or_404(
        Generation.objects.select_related(*RELATED), project=project, number=number
    )
    picks = page_of(request, generation.picks.select_related("solution__problem", "item"))
    states = queries.pick_states(list(picks))
    context = {
        **_progress(generation),
        **_numbers(generation),
        "generation": generation,
        "page_obj": picks,
        "rows": [(pick, states[pick.pk]) for pick in picks],
        "close_form": CloseForm(project=project, initial={"seed": generation.seed}),
        "reason_form": ReasonForm(),
    }
    return render(request, "selection/generation.html", context)


def _progress(generation: Generation) -> dict[str, Any]:
    """Where it stands: the steps with their counts, and the job that works or failed."""
    work = queries.work_of(generation)
    score_set = generation.pool.score_sets.filter(model=generation.selector_id, is_complete=True).first()
    sampled = generation.pool.solutions.count()
    stopped = generation.state == S.FAILED
    return {
        "work": work if generation.picks.exists() else None,
        "stages": advice.stages_of(generation, work, sampled, score_set.n_scored if score_set else 0),
        "job": job_of(generation) if stopped or queries.is_busy(generation) else None,
        "is_labeling": generation.state == S.LABELING,
        "is_over": generation.state in OVER,
    }


def _numbers(generation: Generation) -> dict[str, Any]:
    """The chart of scores, the causes, and the model before and after."""
    before, after = (generation.evaluation.get(side, {}) for side in ("before", "after"))
    return {
        "histogram": charts.histogram(queries.score_bins(generation)),
        "causes": queries.causes_of(generation),
        "quality": comparison.quality(generation),
        "changes": reports.changes(before, after),
        "n": reports.held_out_n(after),
        "few": reports.FEW,
    }


@require_POST
@research_view
def generation_close(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    generation = get_object_or_404(Generation, project=project, number=number)
    form = CloseForm(request.POST, project=project)
    if form.is_valid():
        asked = form.cleaned_data
        try_or_say(request, lambda: request_closing(generation, user=person(request), **asked), "")
    return back("generation-detail", number)


@require_POST
@research_view
def generation_overrule(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    generation = get_object_or_404(Generation, project=project, number=number)
    form, by = ReasonForm(request.POST), person(request)
    if form.is_valid() and isinstance(by, User):
        reason = form.cleaned_data["reason"]
        try_or_say(
            request, lambda: overrule(generation, by=by, reason=reason), _("The verdict is turned round.")
        )
    return back("generation-detail", number)


urlpatterns = [
    path("research/generations/", generations, name="generations"),
    path("research/generations/open/", generation_open, name="generation-open"),
    path("research/generations/<int:number>/", generation_detail, name="generation-detail"),
    path("research/generations/<int:number>/close/", generation_close, name="generation-close"),
    path("research/generations/<int:number>/overrule/", generation_overrule, name="generation-overrule"),
]
