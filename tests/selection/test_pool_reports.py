"""A model's report on a scored pool: made when scoring ends, stored with the model, drawn from there."""

import re
from typing import Any

import pytest
from django.urls import reverse

from labeling.models import Pool, Problem, Solution
from models_prm.fakes import FakeScorer
from selection import pool_charts, pool_reports, scores
from selection.models import ModelVersion, ScoreSet
from tests import make
from tests.selection import world
from tests.selection.pages import REPORT, signed_in, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("page_home")]
SLIPS = re.compile(r"try [13579]")


def judge(problem: str, steps: Any, index: int) -> float:
    """Sees every slip of the little world."""
    return 0.9 if SLIPS.search(steps[index]) else 0.05


def score(pool: Pool, model: ModelVersion, **options: Any) -> ScoreSet:
    def quiet(done: int, total: int, stage: str) -> None:
        return None

    return scores.score_pool(
        pool, model, on_progress=quiet, load=lambda _: FakeScorer(judge=judge), **options
    )


@pytest.fixture
def pool(page_project: Any) -> Pool:
    return world.pool(page_project, problems=10, samples=5)


def test_scoring_a_pool_stores_its_report_with_the_model(pool: Pool) -> None:
    model = world.model(pool.project)
    ModelVersion.objects.update(metrics={"parameters": 5})
    model.refresh_from_db()
    score(pool, model)
    model.refresh_from_db()
    assert model.metrics["parameters"] == 5
    entry = model.metrics["pools"][str(pool.pk)]
    report = entry["report"]
    assert (entry["pool"], report["problems"], report["samples"], report["n"]) == (
        "sums",
        10,
        50,
        [1, 2, 4, 5],
    )
    assert report["lead"] == "prm_product"
    curve = [round(p["accuracy"], 4) for p in report["best_of_n"]["prm_product"]]
    assert curve == [0.6, 0.9, 1.0, 1.0], "it never falls for a slip: only draws of slips alone fail"
    assert [round(p["accuracy"], 4) for p in report["pass_at_n"]] == curve
    assert len(report["quintiles"]) == 5
    assert len(report["grid"]["cells"]) == 4


def test_an_interrupted_scoring_stores_nothing_and_the_next_one_does(pool: Pool) -> None:
    model = world.model(pool.project)

    class Killed(FakeScorer):
        def score(self, *args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        scores.score_pool(pool, model, on_progress=lambda *_: None, load=lambda _: Killed())
    model.refresh_from_db()
    assert "pools" not in model.metrics
    score(pool, model)
    model.refresh_from_db()
    assert list(model.metrics["pools"]) == [str(pool.pk)]


def test_more_solutions_make_a_new_report_in_the_old_ones_place(pool: Pool) -> None:
    model = world.model(pool.project)
    score(pool, model)
    problem = Problem.objects.filter(solutions__pool=pool).first()
    assert problem is not None
    make.solution(problem, steps=["one"], pool=pool, sample_index=99, answer="1", grade="wrong")
    score(pool, model)
    model.refresh_from_db()
    assert model.metrics["pools"][str(pool.pk)]["report"]["samples"] == 51


def test_orm_scores_and_missing_answers_come_along(pool: Pool) -> None:
    rows = list(Solution.objects.filter(pool=pool).order_by("pk"))
    for index, row in enumerate(rows):
        row.extra = {"orm_score": index / 50, "finish": "length" if index == 0 else "stop"}
    Solution.objects.bulk_update(rows, ["extra"])
    Solution.objects.filter(pk=rows[1].pk).update(answer=None)
    model = world.model(pool.project)
    score(pool, model)
    model.refresh_from_db()
    report = model.metrics["pools"][str(pool.pk)]["report"]
    assert "orm_score" in report["best_of_n"]
    assert report["unfinished"]["samples"] == 2


def test_problems_with_few_samples_are_left_out_and_counted(pool: Pool) -> None:
    lonely = make.problem(pool.project, text="alone", ground_truth_answer="1")
    make.solution(lonely, steps=["one"], pool=pool, sample_index=0, answer="1", grade="right")
    model = world.model(pool.project)
    score(pool, model)
    model.refresh_from_db()
    report = model.metrics["pools"][str(pool.pk)]["report"]
    assert (report["problems"], report["left_out"]) == (10, 1)


def test_a_pool_of_single_samples_has_no_curve(page_project: Any) -> None:
    pool = world.pool(page_project, problems=3, samples=1)
    model = world.model(pool.project)
    assert pool_reports.report_of(score(pool, model)) is None
    model.refresh_from_db()
    assert model.metrics == {}
    assert "It has scored no pool with several solutions" in text_of(signed_in(), "model-detail", model.pk)


def test_the_models_page_draws_the_report_with_its_numbers_in_text(pool: Pool) -> None:
    model = world.model(pool.project)
    score(pool, model)
    client = signed_in()
    html = client.get(reverse("model-detail", args=[model.pk])).content.decode()
    assert html.count('<svg xmlns="http://www.w3.org/2000/svg" class="plot"') == 2
    assert "style=" not in html.split("<svg", 1)[1].split("</svg>")[0], "the page's policy forbids it"
    page = text_of(client, "model-detail", model.pk)
    for words in (
        "Best of N on the pool “sums”",
        "60.0%",
        "any sample right",
        "By difficulty, best of 5",
        "Four ways to score a solution, best of 5",
        "50 solutions of 10 problems",
    ):
        assert words in page
    ModelVersion.objects.filter(pk=model.pk).update(
        metrics={"held_out": REPORT | {"steps": {**REPORT["steps"], "reliability_bad": BINS}}}  # type: ignore[dict-item]
    )
    page = text_of(client, "model-detail", model.pk)
    assert "Is its doubt to be believed?" in page
    assert "81.2% 77.0% 40" in page


BINS = [
    {"predicted": 0.1, "observed": 0.08, "count": 80},
    {"predicted": 0.812, "observed": 0.77, "count": 40},
]


def test_agreement_with_people_is_a_measure_of_the_model(pool: Pool) -> None:
    model = world.model(pool.project)
    ModelVersion.objects.update(metrics={"held_out": REPORT | {"agreement": {"kappa_bad": 0.412}}})
    assert "(kappa) 0.412 0.000 – 120 ratings" in text_of(signed_in(), "model-detail", model.pk)


def test_an_old_report_without_bins_draws_no_reliability() -> None:
    assert pool_charts.reliability_chart(REPORT) == ""
    assert pool_charts.reliability_chart({}) == ""


def test_names_from_outside_are_escaped_in_pictures(pool: Pool) -> None:
    """A curve that the page has no words for shows its own name."""
    model = world.model(pool.project)
    score(pool, model)
    model.refresh_from_db()
    entry = model.metrics["pools"][str(pool.pk)]
    report = entry["report"]
    evil = "<script>alert(1)</script>"
    report["lead"] = evil
    report["best_of_n"][evil] = report["best_of_n"]["prm_product"]
    for row in report["quintiles"]:
        row["accuracy"][evil] = row["accuracy"]["prm_product"]
    model.save()
    html = signed_in().get(reverse("model-detail", args=[model.pk])).content.decode()
    assert evil not in html
    assert "&lt;script&gt;alert(1)" in html


def test_figure_2_shows_score_word_and_people_beside_each_step(pool: Pool) -> None:
    solution = Solution.objects.filter(pool=pool, grade="wrong").first()
    assert solution is not None
    model = world.model(pool.project, "prm-7")
    score(pool, model)
    page = text_of(signed_in(), "solution-detail", solution.pk)
    assert "not rated" in page
    world.label(solution, first_error=1)
    world.label(solution, first_error=1)
    response = signed_in().get(reverse("solution-detail", args=[solution.pk]))
    first, second, third = response.context["steps"]
    assert (first.band, first.is_first_doubt, [(o.rating, o.n) for o in first.opinions]) == (
        4,
        False,
        [(1, 2)],
    )
    assert (second.band, second.is_first_doubt, second.first_errors) == (0, True, 2)
    assert [(o.rating, o.n) for o in second.opinions] == [(-1, 2)]
    assert (third.opinions, third.first_errors) == ([], 0)
    page = text_of(signed_in(), "solution-detail", solution.pk)
    for words in (
        "0.95",
        "very likely fine",
        "0.10",
        "very likely wrong",
        "first below 0.50",
        "first error ×2",
        "bad ×2",
    ):
        assert words in page
    html = response.content.decode()
    assert html.count('class="band-4"') == 2
    assert html.count('class="band-0"') == 1


def test_an_outcome_model_is_reported_by_its_own_score_and_not_by_its_steps(pool: Pool) -> None:
    model = world.model(pool.project)
    ModelVersion.objects.update(kind=ModelVersion.Kind.ORM)
    model.refresh_from_db()
    set_ = score(pool, model)
    # A step that is likely bad in the middle says nothing where only the last one is read.
    for row in set_.scores.select_related("solution"):
        right = row.solution.grade == Solution.Grade.RIGHT
        row.value = 0.9 if right else 0.1
        row.step_probs = [[0.9 if right else 0.1, 0.0, 0.1 if right else 0.9]] * len(row.step_probs)
        row.save()
    report = pool_reports.report_of(set_)
    assert report is not None
    assert (report["lead"], set(report["best_of_n"])) == ("orm_score", {"orm_score"})
    assert report["best_of_n"]["orm_score"][-1]["accuracy"] == 1.0
    assert not report["grid"]
    model.metrics = {"pools": {"1": {"pool": "sums", "at": "2026-01-01T00:00:00+00:00", "report": report}}}
    (view,) = pool_charts.pool_views(model.metrics)
    assert "outcome model" in view.names
