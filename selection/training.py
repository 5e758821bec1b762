"""Training a model version from a frozen snapshot of labels. The heavy imports happen in workers only."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from labeling import jobs
from labeling.errors import NotAllowedNow
from labeling.jobs import JobCancelled, JobFailure
from labeling.models import Job, Project, Solution, User
from models_prm.config import TrainConfig, load_recipe
from models_prm.errors import Cancelled, PrmError
from models_prm.records import Progress, problem_key
from selection import outcomes, registry, snapshots
from selection.models import ModelVersion

CORPUS = "corpus.jsonl"
# Enough text for a tokenizer and a warm-up from scratch; more would only make the start slow.
CORPUS_SOLUTIONS = 20_000
STAGES = {
    "prepare": gettext_lazy("preparing"),
    "pretrain": gettext_lazy("reading texts"),
    "train": gettext_lazy("training"),
    "evaluate": gettext_lazy("evaluating"),
    "save": gettext_lazy("saving"),
}


def draft_model(
    project: Project, *, name: str, kind: str = "prm", recipe: str = "", seed: int = 0
) -> ModelVersion:
    """A row for a model to be trained. Raises JobFailure or NotAllowedNow with the cure."""
    if kind == ModelVersion.Kind.ORM:
        outcomes.check(project)
    path = registry.recipe_path(recipe or registry.default_recipe(project))
    if ModelVersion.objects.filter(project=project, name=name).exists():
        raise NotAllowedNow(_("A model named “%s” exists already: choose another name.") % name)
    return ModelVersion.objects.create(
        project=project, name=name, kind=kind, seed=seed, recipe={"file": _portable(path)}
    )


@transaction.atomic
def request_training(
    project: Project,
    *,
    name: str,
    kind: str = "prm",
    recipe: str = "",
    seed: int = 0,
    user: User | None = None,
) -> ModelVersion:
    """Draft a model and queue the job that trains it."""
    version = draft_model(project, name=name, kind=kind, recipe=recipe, seed=seed)
    version.job = jobs.enqueue("train_model", {"model": version.pk}, project=project, user=user)
    version.save(update_fields=["job"])
    return version


def train_model(
    version: ModelVersion,
    *,
    on_progress: Callable[[int, int, str], None],
    should_stop: Callable[[], bool] = lambda: False,
) -> ModelVersion:
    """Freeze, train, evaluate, register. Killed at any moment, the same call goes on from its checkpoint."""
    Status = ModelVersion.Status
    if version.status not in (Status.TRAINING, Status.FAILED):
        return version
    ModelVersion.objects.filter(pk=version.pk).update(status=Status.TRAINING, status_reason="")
    try:
        config = prepare(version)
        metrics = _run(config, on_progress, should_stop)
    except PrmError as error:
        give_up(version, str(error))
        raise JobFailure(str(error)) from error
    except JobCancelled:
        raise
    except Exception as error:
        give_up(version, getattr(error, "message", "") or f"{type(error).__name__}: {error}")
        raise
    version.refresh_from_db()
    version.status, version.metrics = Status.READY, metrics
    version.recipe = version.recipe | config.as_json()
    version.base = config.base
    version.path = config.output_dir.relative_to(settings.HOME).as_posix()
    version.save()
    return version


def prepare(version: ModelVersion) -> TrainConfig:
    """The run's settings; its data are frozen on the first call and stay the same on every later one."""
    output = registry.directory(version)
    output.mkdir(parents=True, exist_ok=True)
    train, held_out = _frozen(version, output)
    refused = snapshots.refused_problems(version.project)
    plain = {
        "name": version.name,
        "kind": version.kind,
        "seed": version.seed,
        "data": [train],
        "held_out": [held_out] if held_out else [],
        "held_out_fraction": 0.0,
        "refuse_problems": sorted(refused),
        "output_dir": output,
    }
    recipe = _absolute(version.recipe["file"])
    config = load_recipe(recipe, **plain)
    if config.base and not _warms_up(config):
        return config
    return load_recipe(recipe, **plain, corpus=[_corpus(version, output / CORPUS, refused)])


def _frozen(version: ModelVersion, output: Path) -> tuple[Path, Path | None]:
    """Files of labels for a process model, of graded solutions for an outcome model."""
    if version.kind == ModelVersion.Kind.ORM:
        return outcomes.freeze(version.project, output)
    if version.snapshot is None:
        version.snapshot = snapshots.freeze(version.project)
        version.save(update_fields=["snapshot"])
    return snapshots.files_of(version.snapshot)


def _run(
    config: TrainConfig, on_progress: Callable[[int, int, str], None], should_stop: Callable[[], bool]
) -> dict[str, Any]:
    from models_prm.evaluation.evaluate import evaluate_prm
    from models_prm.train import train_prm

    def report(progress: Progress) -> None:
        # Called in the middle of a step, where nothing may be raised: should_stop asks between steps.
        if not should_stop():
            on_progress(progress.done, progress.total, str(STAGES.get(progress.stage, progress.stage)))

    try:
        result = train_prm(config, on_progress=report, should_stop=should_stop)
    except Cancelled as error:
        raise JobCancelled from error
    metrics: dict[str, Any] = {"parameters": result.card["parameters"], "train": result.card["train"]}
    if config.kind == "orm":
        metrics["outcomes"] = result.metrics
    elif config.held_out:
        metrics["held_out"] = evaluate_prm(result.model_dir, config.held_out, resamples=400)
    return metrics


def give_up(version: ModelVersion, reason: str) -> None:
    """Mark a model in training as failed; it can go on later."""
    ModelVersion.objects.filter(pk=version.pk, status=ModelVersion.Status.TRAINING).update(
        status=ModelVersion.Status.FAILED, status_reason=reason[:300]
    )


def _warms_up(config: TrainConfig) -> bool:
    return config.pretrain.epochs > 0 or config.pretrain.steps > 0


def _corpus(version: ModelVersion, path: Path, refused: frozenset[str]) -> Path:
    """Texts of the project's pools, written once, so that a resumed run reads the very same file."""
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in _texts(version, refused))
        part.replace(path)
    return path


def _texts(version: ModelVersion, refused: frozenset[str]) -> Iterator[dict[str, Any]]:
    solutions = Solution.objects.filter(pool__project=version.project).order_by("pk")
    ids = list(solutions.values_list("pk", flat=True))
    if len(ids) > CORPUS_SOLUTIONS:
        ids = sorted(random.Random(f"corpus:{version.seed}").sample(ids, CORPUS_SOLUTIONS))  # noqa: S311
    for start in range(0, len(ids), 500):
        part = Solution.objects.filter(pk__in=ids[start : start + 500]).order_by("pk")
        for problem, steps in part.values_list("problem__text", "steps"):
            if problem_key(problem) not in refused:
                yield {"problem": problem, "steps": steps}


def _portable(path: Path) -> str:
    """Path of a recipe, relative to the checkout where it lies inside."""
    inside = path.is_relative_to(settings.BASE_DIR)
    return (path.relative_to(settings.BASE_DIR) if inside else path).as_posix()


def _absolute(recipe: str) -> Path:
    return registry.recipe_path(str(settings.BASE_DIR / recipe))


def resume_or_draft(
    project: Project, *, name: str, kind: str, recipe: str, seed: int
) -> tuple[ModelVersion, Job]:
    """For the command: the model of this name if its training was left unfinished, else a new one."""
    version = ModelVersion.objects.filter(project=project, name=name).select_related("job").first()
    Status = ModelVersion.Status
    if version is not None and version.kind == kind and version.status in (Status.TRAINING, Status.FAILED):
        return version, _unfinished_job(version)
    version = draft_model(project, name=name, kind=kind, recipe=recipe, seed=seed)
    version.job = jobs.create("train_model", {"model": version.pk}, project=project)
    version.save(update_fields=["job"])
    return version, version.job


def _unfinished_job(version: ModelVersion) -> Job:
    job = version.job
    if job is not None and job.status == Job.Status.RUNNING and not jobs.is_abandoned(job):
        raise NotAllowedNow(
            _("The model “%(name)s” is being trained already by job %(job)d.")
            % {"name": version.name, "job": job.pk}
        )
    if job is None or job.is_over:
        job = jobs.create("train_model", {"model": version.pk}, project=version.project)
        ModelVersion.objects.filter(pk=version.pk).update(job=job)
    return job
