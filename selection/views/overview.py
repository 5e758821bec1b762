"""The overview: the loop, where it stands, and what to do next."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from labeling.models import Project
from labeling.queries.counts import project_counts
from selection import advice, queries, registry, reports
from selection.views.common import research_view


@require_GET
@research_view
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    generation = queries.latest_generation(project)
    in_use = registry.in_use(project)
    context = {
        "advice": advice.next_step(project),
        "stages": advice.loop_stages(project),
        "jobs": queries.active_jobs(project),
        "generation": generation,
        "work": queries.work_of(generation) if generation else None,
        "in_use": in_use,
        "measures": reports.measures(in_use.metrics.get("held_out", {}))[:2] if in_use else [],
        "few": reports.FEW,
        "counts": project_counts(project),
        "pools": queries.pools_with_counts(project),
    }
    return render(request, "selection/overview.html", context)


urlpatterns = [path("research/", overview, name="research")]
