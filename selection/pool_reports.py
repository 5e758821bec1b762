"""The report of a model on a pool it has scored: made by the worker, kept with the model, only read here.

A page never computes it: numpy is loaded inside the functions that do.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.models import Solution
from selection.models import ModelVersion, ScoreSet

if TYPE_CHECKING:
    from models_prm.evaluation.best_of_n import PooledProblem

RESAMPLES = 500
# A curve needs problems with several samples; those with few beside others with many are left out.
ENOUGH = 0.5


def keep(score_set: ScoreSet, on_progress: Callable[[int, int, str], None] | None = None) -> None:
    """Compute the report of a complete score set and store it in its model's metrics, by pool.

    Nothing is stored for a pool without two samples of any problem. Computed again after every scoring, from
    the tables alone, so that a killed worker loses nothing.
    """
    report = report_of(score_set, on_progress)
    if report is None:
        return
    entry = {
        "pool": score_set.pool.name,
        "at": timezone.now().isoformat(timespec="seconds"),
        "report": report,
    }
    with transaction.atomic():
        model = ModelVersion.objects.select_for_update().get(pk=score_set.model_id)
        pools = model.metrics.get("pools", {}) | {str(score_set.pool_id): entry}
        model.metrics = model.metrics | {"pools": pools}
        model.save(update_fields=["metrics"])


def report_of(
    score_set: ScoreSet, on_progress: Callable[[int, int, str], None] | None = None
) -> dict[str, Any] | None:
    """Best of N, votes, oracle, quintiles and strategies of a scored pool; `left_out`: problems with too few
    samples. Answers vote together that are written alike or are the same number."""
    from models_prm.evaluation.pool_report import best_of_n_report
    from models_prm.records import Progress

    def tell(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(progress.done, progress.total, _("evaluating"))

    problems = list(_problems(score_set))
    most = max((len(p.correct) for p in problems), default=0)
    used = [p for p in problems if len(p.correct) >= max(2, ENOUGH * most)]
    if not used:
        return None
    report = best_of_n_report(used, resamples=RESAMPLES, on_progress=tell)
    return {**report, "left_out": len(problems) - len(used)}


def _problems(score_set: ScoreSet) -> "Iterator[PooledProblem]":
    from models_prm.evaluation.best_of_n import PooledProblem

    columns = ("problem_id", "subject", "level", "grade", "answer", "extra", "value")
    outcome = score_set.model.kind == ModelVersion.Kind.ORM
    rows = (
        score_set.scores.order_by("solution__problem_id", "solution_id")
        .values_list(
            "solution__problem_id",
            "solution__problem__subject",
            "solution__problem__level",
            "solution__grade",
            "solution__answer",
            "solution__extra",
            "value",
            "step_probs",
        )
        .iterator(chunk_size=2000)
    )
    problem: PooledProblem | None = None
    for *plain, step_probs in rows:
        row = dict(zip(columns, plain, strict=True))
        if problem is None or problem.key != str(row["problem_id"]):
            if problem is not None:
                yield problem
            problem = PooledProblem(str(row["problem_id"]), subject=row["subject"], level=row["level"])
        _add(problem, row, None if outcome else step_probs)
    if problem is not None:
        yield problem


def _add(problem: "PooledProblem", row: dict[str, Any], step_probs: Sequence[Sequence[float]] | None) -> None:
    """Without step probabilities the score is an outcome model's, which judges the whole: its steps mean
    nothing alone."""
    if step_probs is None:
        scores: dict[str, float | None] = {"orm_score": row["value"]}
    else:
        scores = problem.add_step_probs([(p[0], p[1], p[2]) for p in step_probs])
        orm = row["extra"].get("orm_score")
        if isinstance(orm, int | float):
            scores["orm_score"] = float(orm)
    problem.add(
        row["grade"] == Solution.Grade.RIGHT, row["answer"], scores, finish=row["extra"].get("finish")
    )
