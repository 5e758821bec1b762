"""Scoring a pool with a model. Scores are written chunk by chunk and appear in one switch at the end."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from labeling.models import Job, Pool, Solution
from models_prm.aggregate import Neutral, score_of, step_scores
from models_prm.interfaces import StepScorer
from models_prm.records import CLASSES, ScoringItem, StepScores
from selection import pool_reports, registry
from selection.models import ModelVersion, Score, ScoreSet

CHUNK = 256
Progress = Callable[[int, int, str], None]
Loader = Callable[[ModelVersion], StepScorer]


def load_scorer(version: ModelVersion) -> StepScorer:
    """The real scorer of a trained model; torch is loaded here, in a worker or command."""
    from models_prm.scoring import PrmScorer

    return PrmScorer.load(registry.loaded_from(version))


def score_pool(
    pool: Pool,
    version: ModelVersion,
    *,
    on_progress: Progress,
    job: Job | None = None,
    load: Loader = load_scorer,
) -> ScoreSet:
    """Score what is not scored yet; killed at any moment, the same call goes on after the last chunk."""
    score_set, _ = ScoreSet.objects.get_or_create(pool=pool, model=version)
    if job is not None:
        ScoreSet.objects.filter(pk=score_set.pk).update(job=job)
    todo, total = unscored(score_set)
    on_progress(total - len(todo), total, "scoring")
    if todo:
        scorer = load(version)
        for start in range(0, len(todo), CHUNK):
            _score_chunk(score_set, scorer, todo[start : start + CHUNK])
            on_progress(total - len(todo) + min(start + CHUNK, len(todo)), total, "scoring")
    ScoreSet.objects.filter(pk=score_set.pk).update(
        is_complete=True, completed_at=timezone.now(), n_scored=score_set.scores.count()
    )
    score_set.refresh_from_db()
    pool_reports.keep(score_set, on_progress)
    return score_set


def unscored(score_set: ScoreSet) -> tuple[list[int], int]:
    """Solutions that have no score yet, those of one problem together (they share its prefix); and all of
    the pool, counted."""
    solutions = Solution.objects.filter(pool=score_set.pool_id)
    ids = list(solutions.order_by("problem_id", "pk").values_list("pk", flat=True))
    done = set(score_set.scores.values_list("solution_id", flat=True))
    return [pk for pk in ids if pk not in done], len(ids)


def _score_chunk(score_set: ScoreSet, scorer: StepScorer, ids: Sequence[int]) -> None:
    rows = Solution.objects.filter(pk__in=ids).values_list("pk", "problem__text", "steps")
    items = [ScoringItem(str(pk), text, tuple(steps)) for pk, text, steps in rows if steps]
    empty = [pk for pk, _text, steps in rows if not steps]
    results = list(scorer.score(items, total=len(items)))
    scores = [_score(score_set, result) for result in results]
    scores += [Score(score_set=score_set, solution_id=pk, value=None, step_probs=[]) for pk in empty]
    with transaction.atomic():
        Score.objects.bulk_create(scores, ignore_conflicts=True)
        ScoreSet.objects.filter(pk=score_set.pk).update(n_scored=score_set.scores.count())


def score_solutions(
    version: ModelVersion,
    solutions: Sequence[dict[str, Any]],
    *,
    method: str = "product",
    neutral: Neutral = "good",
    load: Loader = load_scorer,
) -> list[dict[str, Any]]:
    """Scores of solutions that are in no pool, each {"problem", "steps"}; one entry each, in their order.

    An entry holds `rating_probs` (one {"-1", "0", "1"} a step), `step_scores`, `score` (null where steps did
    not fit the model's context, `steps_too_long` of them).
    """
    items = [ScoringItem(str(i), s["problem"], tuple(s["steps"])) for i, s in enumerate(solutions)]
    results = {result.key: result for result in load(version).score(items, total=len(items))}
    return [
        {
            "rating_probs": [dict(zip(map(str, CLASSES), p, strict=True)) for p in results[item.key].probs],
            "step_scores": step_scores(results[item.key].probs, neutral),
            "score": score_of(results[item.key], method, neutral),
            "steps_too_long": results[item.key].dropped,
        }
        for item in items
    ]


def _value(version: ModelVersion, result: StepScores) -> float | None:
    """The solution's score: of a process model the product over its steps, of an outcome model p(+1) of the
    last."""
    if version.kind == ModelVersion.Kind.ORM:
        return score_of(result, "last", "bad")
    return score_of(result)


def _score(score_set: ScoreSet, result: StepScores) -> Score:
    return Score(
        score_set=score_set,
        solution_id=int(result.key),
        value=_value(score_set.model, result),
        step_probs=[[round(p, 6) for p in step] for step in result.probs],
    )
