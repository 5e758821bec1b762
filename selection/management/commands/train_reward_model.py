"""Train a reward model: on the project's usable labels, or (outcome) on the grades of its pools."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from labeling.models import Project
from selection.management.running import LoopCommand, run_here
from selection.models import ModelVersion
from selection.training import request_training, resume_or_draft


class Command(LoopCommand):
    help = (
        "Train a reward model: process (prm) on the project's labels, outcome (orm) on the graded solutions "
        "of its pools. The same command goes on where a killed one stopped."
    )
    example = "train_reward_model --kind prm --name prm-1 --recipe recipes/tiny.toml"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--kind", choices=["prm", "orm"], default="prm", help="process or outcome model")
        parser.add_argument("--name", required=True, help="name of the new model")
        parser.add_argument("--recipe", default="", help="name of a recipe, or path of a TOML file")
        parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")

    def work(self, project: Project, options: dict[str, Any]) -> None:
        asked = {key: options[key] for key in ("name", "kind", "recipe", "seed")}
        if options["background"]:
            queued = request_training(project, **asked)
            self.say(_("Queued: job %d trains it.") % (queued.job_id or 0))
            return
        version, job = resume_or_draft(project, **asked)
        run_here(job)
        version.refresh_from_db()
        self.say(_("Model %(name)s is ready: %(numbers)s") % {"name": version.name, "numbers": told(version)})


def told(version: ModelVersion) -> str:
    """The held-out numbers in one line, with their n."""
    if version.kind == ModelVersion.Kind.ORM:
        return _told_of_outcomes(version.metrics.get("outcomes", {}))
    steps = version.metrics.get("held_out", {}).get("steps")
    if not steps or steps["auroc_bad"] is None:
        return _("too few held-out labels to measure it.")
    prior, n = steps["prior_bad"], steps["ratings"]
    return _("step AUROC %(auroc).3f, average precision %(ap).3f (class prior %(prior).3f), n = %(n)d.") % {
        "auroc": steps["auroc_bad"],
        "ap": steps["average_precision_bad"],
        "prior": prior,
        "n": n,
    }


def _told_of_outcomes(numbers: dict[str, Any]) -> str:
    """How often the right one of two held-out samples of a problem scores higher."""
    if not numbers.get("pairs"):
        return _("too few held-out solutions to measure it.")
    return _("the right one of two samples scores higher in %(share).1f%% of %(n)d held-out pairs.") % {
        "share": 100 * numbers["pair_accuracy"],
        "n": numbers["pairs"],
    }
