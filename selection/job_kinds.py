"""The kinds of background work of the bridge. Each may be killed at any moment and is then run again."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from labeling.jobs import JobCancelled, JobFailure, JobRun, register
from labeling.models import Job, Pool
from models_prm.errors import Cancelled, PrmError
from selection import generations, loop
from selection.models import Generation, ModelVersion
from selection.sampling import Request, sample_into
from selection.scores import score_pool, score_solutions
from selection.training import give_up, train_model


def _model_page(job: Job) -> str:
    return reverse("model-detail", args=[job.params["model"]])


def _pool_page(job: Job) -> str:
    return reverse("pool-detail", args=[job.params["pool"]])


def _generation_page(job: Job) -> str:
    found = Generation.objects.filter(pk=job.params["generation"]).first()
    return reverse("generation-detail", args=[found.number]) if found else ""


@register("train_model", queue="gpu", page=_model_page, title=gettext_lazy("Train a reward model"))
def run_training(job: JobRun) -> dict[str, Any]:
    version = ModelVersion.objects.get(pk=job.params["model"])
    try:
        train_model(version, on_progress=job.progress, should_stop=job.cancelled)
    except (JobCancelled, KeyboardInterrupt):
        if not job.is_lost:
            give_up(version, _("cancelled"))
        raise
    return {"model": version.pk, "name": version.name}


@register("score_pool", queue="gpu", page=_pool_page, title=gettext_lazy("Score a pool"))
def run_scoring(job: JobRun) -> dict[str, Any]:
    pool = Pool.objects.get(pk=job.params["pool"])
    version = ModelVersion.objects.get(pk=job.params["model"])
    try:
        score_set = score_pool(pool, version, on_progress=job.progress, job=job.job)
    except PrmError as error:
        raise JobFailure(str(error)) from error
    return {"pool": pool.pk, "model": version.pk, "scored": score_set.n_scored}


@register("sample_solutions", queue="gpu", page=_pool_page, title=gettext_lazy("Sample solutions"))
def run_sampling(job: JobRun) -> dict[str, Any]:
    params = job.params
    pool = Pool.objects.get(pk=params.pop("pool"))
    try:
        return sample_into(
            pool, Request(**params), on_progress=job.progress, should_stop=job.cancelled, job=job.job
        )
    except Cancelled as error:
        raise JobCancelled from error
    except (PrmError, OSError) as error:
        raise JobFailure(str(error)) from error


@register("score_solutions", queue="gpu", title=gettext_lazy("Score solutions sent to the API"))
def run_scoring_of_sent(job: JobRun) -> dict[str, Any]:
    version = ModelVersion.objects.get(pk=job.params["model"])
    asked = {key: job.params[key] for key in ("method", "neutral")}
    job.progress(0, len(job.params["solutions"]), "scoring")
    try:
        scored = score_solutions(version, job.params["solutions"], **asked)
    except PrmError as error:
        raise JobFailure(str(error)) from error
    return {"model": version.name, **asked, "solutions": scored}


@register("open_generation", queue="gpu", page=_generation_page, title=gettext_lazy("Open a generation"))
def run_opening(job: JobRun) -> dict[str, Any]:
    generation = _generation(job)
    with _remembered(generation, job):
        return loop.open_generation(generation, job.progress)


@register("close_generation", queue="gpu", page=_generation_page, title=gettext_lazy("Close a generation"))
def run_closing(job: JobRun) -> dict[str, Any]:
    generation = _generation(job)
    with _remembered(generation, job):
        return loop.close_generation(generation, job.progress, job.cancelled)


def _generation(job: JobRun) -> Generation:
    related = ("project", "pool", "selector", "trained", "close_job")
    return Generation.objects.select_related(*related).get(pk=job.params["generation"])


@contextmanager
def _remembered(generation: Generation, job: JobRun) -> Iterator[None]:
    """A failure is written on the generation's row too, so that it can go on where it stopped."""
    try:
        yield
    except PrmError as error:
        generations.fail(generation, str(error))
        raise JobFailure(str(error)) from error
    except (JobCancelled, KeyboardInterrupt):
        if not job.is_lost:
            generations.fail(generation, _("cancelled"))
            if generation.trained is not None:
                give_up(generation.trained, _("cancelled"))
        raise
    except Exception as error:
        generations.fail(generation, getattr(error, "message", "") or f"{type(error).__name__}: {error}")
        raise
