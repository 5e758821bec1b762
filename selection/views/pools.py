"""Pools, their solutions, and scoring them."""

from django.db.models import F, FloatField, QuerySet, Value
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from labeling.models import Label, Pool, Project, Solution
from labeling.queries.answers import answers_to_check
from selection import queries, registry
from selection.forms import ScoreForm
from selection.models import ScoreSet
from selection.requests import request_scoring
from selection.step_views import BANDS, step_rows
from selection.views.common import back, page_of, person, research_view, try_or_say


@require_GET
@research_view
def pools(request: HttpRequest, project: Project) -> HttpResponse:
    return render(request, "selection/pools.html", {"pools": queries.pools_with_counts(project)})


@require_GET
@research_view
def pool_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pool = get_object_or_404(queries.pools_with_counts(project), pk=pk)
    sets = list(queries.score_sets(pool))
    shown = next((s for s in sets if s.is_complete), None)
    grade = request.GET.get("grade", "")
    context = {
        "pool": pool,
        "sets": sets,
        "shown": shown,
        "grade": grade,
        "grades": Solution.Grade.choices,
        "form": ScoreForm(project=project, initial={"model": registry.in_use(project)}),
        "has_models": registry.usable(project).exists(),
        "answers_to_check": answers_to_check(project),
        "page_obj": page_of(request, _solutions(pool, shown, grade)),
    }
    return render(request, "selection/pool.html", context)


def _solutions(pool: Pool, shown: ScoreSet | None, grade: str) -> QuerySet[Solution]:
    """Solutions with `score` of the shown model, the most convincing first."""
    rows = Solution.objects.filter(pool=pool).select_related("problem")
    if grade in Solution.Grade.values:
        rows = rows.filter(grade=grade)
    if shown is None:
        return rows.annotate(score=Value(None, output_field=FloatField())).order_by(
            "problem_id", "sample_index"
        )
    rows = rows.filter(scores__score_set=shown).annotate(score=F("scores__value"))
    return rows.order_by(F("score").desc(nulls_last=True), "pk")


@require_GET
@research_view
def solution_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    solution = get_object_or_404(
        Solution.objects.select_related("problem", "pool"), pk=pk, problem__project=project
    )
    wanted = request.GET.get("model", "")
    ordered = queries.step_scores_of(solution)
    score = next((s for s in ordered if str(s.score_set.model_id) == wanted), ordered[0] if ordered else None)
    labels = Label.objects.filter(solution=solution, is_current=True).select_related("labeler").order_by("pk")
    context = {
        "solution": solution,
        "scores": ordered,
        "score": score,
        "labels": labels,
        "steps": step_rows(solution.steps, score.step_probs if score is not None else [], list(labels)),
        "bands": BANDS,
    }
    return render(request, "selection/solution.html", context)


@require_POST
@research_view
def pool_score(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pool = get_object_or_404(Pool, pk=pk, project=project)
    form = ScoreForm(request.POST, project=project)
    if form.is_valid():
        model = form.cleaned_data["model"]
        try_or_say(
            request,
            lambda: request_scoring(pool, model, user=person(request)),
            _("Scoring is queued."),
        )
    return back("pool-detail", pk)


urlpatterns = [
    path("research/pools/", pools, name="pools"),
    path("research/pools/<int:pk>/", pool_detail, name="pool-detail"),
    path("research/pools/<int:pk>/score/", pool_score, name="pool-score"),
    path("research/solutions/<int:pk>/", solution_detail, name="solution-detail"),
]
