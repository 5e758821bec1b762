"""Score every solution of a pool with a trained model."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from labeling import jobs
from labeling.models import Project
from selection import registry
from selection.management.running import LoopCommand, pool_named, run_here
from selection.requests import request_scoring


class Command(LoopCommand):
    help = "Score a pool with a model. The same command goes on where a killed one stopped."
    example = "score_pool --pool practice --model prm-1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", required=True, help="name of the pool")
        parser.add_argument("--model", required=True, help="name of the model")

    def work(self, project: Project, options: dict[str, Any]) -> None:
        pool = pool_named(project, options["pool"])
        version = registry.model_named(project, options["model"])
        registry.loaded_from(version)
        if options["background"]:
            self.say(_("Queued: job %d scores it.") % request_scoring(pool, version).pk)
            return
        params = {"pool": pool.pk, "model": version.pk}
        job = run_here(jobs.create("score_pool", params, project=project))
        self.say(
            _("%(n)d solutions of %(pool)s are scored.") % {"n": job.result["scored"], "pool": pool.name}
        )
