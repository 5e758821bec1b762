"""The loop on one page: from a pool to a batch of work, and from the labels to a model that picks the next.

    problems -> pool -> grades, scores -> batch -> assignments -> ratings -> training set -> PRM

People work for days between the two halves. Each half walks through its states in order; every step may be
killed and run again, because its state is left only together with its result.
"""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from labeling.jobs import JobFailure
from labeling.services.queue import NewItem, close_batch, open_batch
from selection import compare, comparison, generations, registry, snapshots
from selection.candidates import candidates
from selection.generations import S, advance
from selection.models import Generation, ModelVersion, Pick, ScoreSet
from selection.picking import NEEDS_SCORES, Picked, PickRule, pick
from selection.scores import score_pool
from selection.training import draft_model, train_model

OnProgress = Callable[[int, int, str], None]


def open_generation(generation: Generation, on_progress: OnProgress) -> dict[str, Any]:
    """Score what is not scored, pick, and put the batch into the queue."""
    generations.go_on(generation)
    if generation.state == S.DRAFTED:
        advance(generation, S.DRAFTED, S.SCORING if needs_scores(generation) else S.PICKING)
    if generation.state == S.SCORING:
        for model in _scoring_models(generation):
            score_pool(generation.pool, model, on_progress=on_progress)
        advance(generation, S.SCORING, S.PICKING)
    if generation.state == S.PICKING:
        on_progress(0, 1, _("picking"))
        if generation.strategy == comparison.STRATEGY:
            choices, picks = comparison.decide(generation)
            _hand_out(generation, picks, choices=choices)
        else:
            _hand_out(generation, pick(candidates(generation.pool, _scores(generation)), rule_of(generation)))
    on_progress(1, 1, _("ready to label"))
    return {"generation": generation.number, "picks": generation.picks.count()}


def close_generation(
    generation: Generation, on_progress: OnProgress, should_stop: Callable[[], bool] = lambda: False
) -> dict[str, Any]:
    """Freeze the labels, train, evaluate on held-out labels, promote or reject."""
    generations.go_on(generation)
    if generation.state == S.LABELING:
        advance(generation, S.LABELING, S.TRAINING)
    if generation.state == S.TRAINING:
        close_batch(generation.project, generation.number)
        train_model(_new_model(generation), on_progress=on_progress, should_stop=should_stop)
        advance(generation, S.TRAINING, S.EVALUATING)
    if generation.state == S.EVALUATING:
        on_progress(0, 1, _("comparing with the model before"))
        _judge(generation)
    on_progress(1, 1, str(generation.get_state_display()))
    return {"generation": generation.number, "verdict": generation.evaluation.get("verdict", "")}


def needs_scores(generation: Generation) -> bool:
    return generation.strategy in (*NEEDS_SCORES, comparison.STRATEGY)


def rule_of(generation: Generation) -> PickRule:
    """The picking rule as it was asked for."""
    settings = generation.settings
    return PickRule(
        strategy=generation.strategy,
        size=generation.size or None,
        per_problem=settings.get("per_problem"),
        wrong_share=settings.get("wrong_share", 0.8),
        random_share=settings.get("random_share", 0.0),
        seed=generation.seed,
    )


def _selector(generation: Generation) -> ModelVersion:
    if generation.selector is None:
        raise JobFailure(
            _("The strategy “%s” needs a model's scores.") % generation.strategy,
            _("Choose a model, or a strategy without scores: uniform or random_wrong."),
        )
    return generation.selector


def _scoring_models(generation: Generation) -> list[ModelVersion]:
    """The selector, and in a blind comparison the outcome model beside it."""
    rival = comparison.rival_of(generation) if generation.strategy == comparison.STRATEGY else None
    return [_selector(generation)] + ([rival] if rival is not None else [])


def _scores(generation: Generation) -> ScoreSet | None:
    """The selector's scores; a strategy that needs none still shows them where they are."""
    return ScoreSet.objects.filter(pool=generation.pool, model=generation.selector, is_complete=True).first()


@transaction.atomic
def _hand_out(generation: Generation, picks: list[Picked], **settings: Any) -> None:
    """Picks, queue and state change together; `settings` are what else was decided."""
    if not picks:
        raise JobFailure(
            _("Nothing in the pool “%s” is left to pick.") % generation.pool.name,
            _("Import more solutions; labeled texts, test problems and held problems are never picked."),
        )
    advance(generation, S.PICKING, S.LABELING, settings=generation.settings | settings)
    project, number = generation.project, generation.number
    items = open_batch(project, number, [NewItem(p.solution_id, p.cause, p.score) for p in picks])
    by_solution = {item.solution_id: item for item in items}
    Pick.objects.bulk_create(
        Pick(
            generation=generation,
            solution_id=p.solution_id,
            item=by_solution[p.solution_id],
            cause=p.cause,
            score=p.score,
            rank=p.rank,
            of=p.of,
            position=position,
        )
        for position, p in enumerate(picks)
    )


def _new_model(generation: Generation) -> ModelVersion:
    """The model of this generation, drafted on the first call."""
    if generation.trained is None:
        asked = generation.settings.get("train", {})
        with transaction.atomic():
            generation.trained = draft_model(
                generation.project,
                name=registry.free_name(generation.project, asked.get("name") or f"prm-{generation.number}"),
                recipe=asked.get("recipe", ""),
                seed=asked.get("seed", generation.seed),
            )
            generation.trained.job = generation.close_job
            generation.trained.save(update_fields=["job"])
            generation.save(update_fields=["trained"])
    return generation.trained


def _judge(generation: Generation) -> None:
    """Compare with the model in use on the same held-out labels, then promote or reject."""
    after, before = _new_model(generation), registry.in_use(generation.project)
    comparison = None
    if before is not None and before != after and after.snapshot is not None:
        _train, held_out = snapshots.files_of(after.snapshot)
        if held_out is not None:
            paths = registry.loaded_from(before), registry.loaded_from(after)
            comparison = {**compare.compare_models(*paths, held_out), "before": before.name}
    good, reason = compare.verdict(comparison)
    evaluation = {
        "before": _numbers(before, after),
        "after": after.metrics.get("held_out", {}),
        "comparison": comparison,
        "verdict": reason,
    }
    with transaction.atomic():
        columns = {"evaluation": evaluation, **generations.close_now()}
        advance(generation, S.EVALUATING, S.PROMOTED if good else S.REJECTED, **columns)
        (registry.promote if good else registry.reject)(after, reason=reason)


def _numbers(before: ModelVersion | None, after: ModelVersion) -> dict[str, Any]:
    """The earlier model's report on the new model's held-out labels."""
    if before is None or before == after or after.snapshot is None:
        return {}
    _train, held_out = snapshots.files_of(after.snapshot)
    if held_out is None:
        return {}
    from models_prm.evaluation.evaluate import evaluate_prm

    report = evaluate_prm(registry.loaded_from(before), [held_out], resamples=400)
    return {**report, "id": before.pk, "name": before.name}
