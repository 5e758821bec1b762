"""What researchers ask for: drafting generations, queueing work, and overruling a verdict."""

import secrets
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from labeling import jobs
from labeling.errors import BadSubmission, NotAllowedNow
from labeling.jobs import JobFailure
from labeling.models import Job, Pool, Project, User
from labeling.services import audit
from selection import comparison, generations, registry
from selection.generations import S
from selection.loop import rule_of
from selection.models import Generation, ModelVersion, ScoreSet
from selection.picking import NEEDS_SCORES, PickingError

DEFAULT_SIZE = 100


def new_seed() -> int:
    return secrets.randbelow(10**6)


@transaction.atomic
def draft_generation(
    project: Project,
    pool: Pool,
    *,
    selector: ModelVersion | None = None,
    strategy: str = "",
    size: int | None = DEFAULT_SIZE,
    per_problem: int | None = None,
    wrong_share: float = 0.8,
    random_share: float = 0.0,
    seed: int | None = None,
    user: User | None = None,
) -> Generation:
    """The next generation, checked but not begun. Raises JobFailure or NotAllowedNow with the cure.

    Without a strategy: "convincing_wrong" if there is a model, else "uniform".
    """
    Project.objects.select_for_update().get(pk=project.pk)
    busy = Generation.objects.filter(project=project).exclude(state__in=[*generations.OVER, S.FAILED]).first()
    if busy is not None:
        raise NotAllowedNow(
            _("Generation %(number)d is “%(state)s”: close it before opening the next.")
            % {"number": busy.number, "state": busy.get_state_display()}
        )
    strategy = strategy or ("convincing_wrong" if selector else "uniform")
    if strategy in (*NEEDS_SCORES, comparison.STRATEGY) and selector is None:
        raise JobFailure(
            _("The strategy “%s” needs a model's scores.") % strategy,
            _("Choose a model, or the strategy uniform or random_wrong."),
        )
    last = Generation.objects.filter(project=project).order_by("-number").first()
    generation = Generation(
        project=project,
        number=0 if last is None else last.number + 1,
        pool=pool,
        selector=selector,
        strategy=strategy,
        size=size or 0,
        settings={"per_problem": per_problem, "wrong_share": wrong_share, "random_share": random_share},
        seed=new_seed() if seed is None else seed,
        created_by=user,
    )
    if strategy == comparison.STRATEGY:
        rival = comparison.newest_rival(pool)
        generation.settings = {"rival": rival.pk if rival is not None else None}
    try:
        check_rule(generation)
    except PickingError as error:
        raise JobFailure(str(error)) from error
    generation.save()
    audit.note("generation_open", f"generation {generation.number}", project=project, by=user)
    return generation


def check_rule(generation: Generation) -> None:
    """Raises PickingError for a rule that cannot be followed."""
    if generation.strategy != comparison.STRATEGY:
        rule_of(generation)


@transaction.atomic
def request_opening(project: Project, pool: Pool, *, user: User | None = None, **rule: Any) -> Generation:
    """Draft a generation and queue the job that opens it."""
    generation = draft_generation(project, pool, user=user, **rule)
    generation.open_job = jobs.enqueue(
        "open_generation", {"generation": generation.pk}, project=project, user=user
    )
    generation.save(update_fields=["open_job"])
    return generation


@transaction.atomic
def begin_closing(
    generation: Generation,
    *,
    name: str = "",
    recipe: str = "",
    seed: int | None = None,
    user: User | None = None,
) -> None:
    """Claim the end of a generation. Raises NotAllowedNow if it is not being labeled."""
    registry.recipe_path(recipe or registry.default_recipe(generation.project))
    asked = {"name": name, "recipe": recipe, "seed": generation.seed if seed is None else seed}
    generations.advance(generation, S.LABELING, S.TRAINING, settings=generation.settings | {"train": asked})
    audit.note("generation_close", f"generation {generation.number}", project=generation.project, by=user)


@transaction.atomic
def request_closing(generation: Generation, *, user: User | None = None, **asked: Any) -> Job:
    """Begin closing and queue the job that trains, evaluates and decides."""
    begin_closing(generation, user=user, **asked)
    job = jobs.enqueue(
        "close_generation", {"generation": generation.pk}, project=generation.project, user=user
    )
    Generation.objects.filter(pk=generation.pk).update(close_job=job)
    return job


def job_of(generation: Generation) -> Job | None:
    """The job that works, or last worked, on it."""
    return generation.close_job or generation.open_job


@transaction.atomic
def request_scoring(pool: Pool, version: ModelVersion, *, user: User | None = None) -> Job:
    """Queue the job that scores a pool; the one at work already if there is one."""
    score_set, _made = ScoreSet.objects.select_related("job").get_or_create(pool=pool, model=version)
    if score_set.job is not None and not score_set.job.is_over:
        return score_set.job
    job = jobs.enqueue("score_pool", {"pool": pool.pk, "model": version.pk}, project=pool.project, user=user)
    ScoreSet.objects.filter(pk=score_set.pk).update(job=job)
    return job


def request_scores(project: Project, asked: dict[str, Any], *, user: User) -> Job:
    """Queue the job that scores the solutions of one API request, with the model asked for or the one in use.

    Raises BadSubmission where the project has no such model, or none that can score.
    """
    ready = registry.usable(project).filter(kind=ModelVersion.Kind.PRM)  # only these score steps
    named = asked.get("model")
    version = ready.filter(name=named).first() if named else registry.in_use(project) or ready.first()
    if version is None:
        names = ", ".join(ready.values_list("name", flat=True))
        raise BadSubmission(
            _("model: there is no such model that can score; choose one of: %s.") % names
            if names
            else _("model: this project has no trained model yet; train one first."),
            field="model",
        )
    params = asked | {"model": version.pk}
    return jobs.enqueue("score_solutions", params, project=project, user=user)


@transaction.atomic
def overrule(generation: Generation, *, by: User, reason: str) -> Generation:
    """Turn the verdict round: promote the rejected model, or reject the promoted one, which puts back the one
    before it."""
    if not reason.strip():
        raise NotAllowedNow(_("Say why: the reason is kept with the verdict."))
    if generation.trained is None:
        raise NotAllowedNow(_("This generation has trained no model."))
    before, promoted = generation.state, generation.state == S.PROMOTED
    entry = {"by": by.display_name, "reason": reason, "from": before}
    evaluation = generation.evaluation | {"overruled": [*generation.evaluation.get("overruled", []), entry]}
    after = S.REJECTED if promoted else S.PROMOTED
    generations.advance(generation, before, after, evaluation=evaluation)
    if not promoted:
        registry.promote(generation.trained, reason=reason, by=by)
        return generation
    was_in_use = registry.in_use(generation.project) == generation.trained
    registry.reject(generation.trained, reason=reason, by=by)
    earlier = ModelVersion.objects.filter(pk=generation.evaluation.get("before", {}).get("id")).first()
    if was_in_use and earlier is not None:
        registry.promote(
            earlier, reason=_("put back: generation %d was overruled") % generation.number, by=by
        )
    return generation
