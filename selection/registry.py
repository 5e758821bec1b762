"""Model versions: names, files, recipes, and which one is in use."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from labeling.jobs import JobFailure
from labeling.models import AuditEntry, Project, User
from selection.models import ModelVersion

RECIPES = settings.BASE_DIR / "recipes"


def recipes() -> list[str]:
    """Names of the recipes that a page may offer, without their ending."""
    return sorted(path.stem for path in RECIPES.glob("*.toml") if not path.stem.startswith("lab_"))


def default_recipe(project: Project) -> str:
    """The recipe that suits a project: "demo" for practice content, else "tiny", else the first."""
    known = recipes()
    wanted = "demo" if project.is_practice else "tiny"
    return wanted if wanted in known else (known or [wanted])[0]


def recipe_path(recipe: str) -> Path:
    """File of a recipe given by name, or by path on the command line. Raises JobFailure if there is none."""
    for path in (RECIPES / f"{recipe}.toml", Path(recipe)):
        if path.is_file():
            return path.resolve()
    raise JobFailure(
        _("There is no recipe “%s”.") % recipe,
        _("Choose one of: %s; or give the path of a TOML file.") % ", ".join(recipes()),
    )


def directory(version: ModelVersion) -> Path:
    """Where the model's files are or will be, below STEPMARK_HOME."""
    return settings.MODELS_DIR / f"{version.pk}-{slugify(version.name)[:60]}"


def loaded_from(version: ModelVersion) -> Path:
    """The directory of a finished model. Raises JobFailure with the cure when it cannot be loaded."""
    path = settings.HOME / version.path
    if not version.path or not (path / "config.json").is_file():
        raise JobFailure(
            _("The files of the model “%s” are not there.") % version.name,
            _("Put back %s from your backup, or train the model again under another name.")
            % (version.path or "models/"),
        )
    return path


def files_of(version: ModelVersion) -> list[tuple[str, int]]:
    """Name and size in bytes of each file of a trained model."""
    folder = settings.HOME / version.path
    if not version.path or not folder.is_dir():
        return []
    return sorted((path.name, path.stat().st_size) for path in folder.iterdir() if path.is_file())


def model_named(project: Project, name: str) -> ModelVersion:
    """A model by name. Raises JobFailure naming those that exist."""
    found = ModelVersion.objects.filter(project=project, name=name).first()
    if found is None:
        names = ", ".join(ModelVersion.objects.filter(project=project).values_list("name", flat=True))
        raise JobFailure(
            _("There is no model “%s”.") % name,
            _("Choose one of: %s.") % names if names else _("Train one first: train_reward_model."),
        )
    return found


def usable(project: Project) -> Any:
    """Models that can score: trained to the end, newest first."""
    Status = ModelVersion.Status
    return ModelVersion.objects.filter(
        project=project, status__in=[Status.READY, Status.PROMOTED, Status.REJECTED]
    ).order_by("-id")


def in_use(project: Project) -> ModelVersion | None:
    """The promoted model: the one that picks, and that the next one is compared with."""
    return ModelVersion.objects.filter(project=project, status=ModelVersion.Status.PROMOTED).last()


def free_name(project: Project, wanted: str) -> str:
    """`wanted`, or with the first number that makes it free."""
    taken = set(ModelVersion.objects.filter(project=project).values_list("name", flat=True))
    names = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


@transaction.atomic
def promote(version: ModelVersion, *, reason: str, by: User | None = None) -> None:
    """Put a model to use in place of the one before."""
    Status = ModelVersion.Status
    ModelVersion.objects.filter(project=version.project, status=Status.PROMOTED).exclude(
        pk=version.pk
    ).update(status=Status.READY, status_reason=_("replaced by %s") % version.name)
    _set(version, Status.PROMOTED, reason, by, "model_promote")


@transaction.atomic
def reject(version: ModelVersion, *, reason: str, by: User | None = None) -> None:
    """Put a model aside; if it was in use, the page asks for another."""
    _set(version, ModelVersion.Status.REJECTED, reason, by, "model_reject")


def _set(version: ModelVersion, status: str, reason: str, by: User | None, action: str) -> None:
    version.status, version.status_reason = status, reason[:300]
    version.save(update_fields=["status", "status_reason"])
    AuditEntry.objects.create(
        project=version.project,
        actor=by,
        action=action,
        subject=f"model {version.name}"[:120],
        detail={"reason": reason},
    )
