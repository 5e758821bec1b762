"""Sample new solutions for a pool from a generator."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from labeling.models import Pool, Project
from selection.management.running import LoopCommand, run_here
from selection.sampling import Request, checked, create_job, request_sampling


class Command(LoopCommand):
    help = (
        "Sample solutions for a pool's problems (a new pool: the project's), import and grade them. The same "
        "command goes on where a killed one stopped; a larger -n adds the difference."
    )
    example = "sample_solutions --pool practice --generator var/generator -n 16"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", required=True, help="name of the pool, made if it is not there")
        parser.add_argument("--generator", required=True, help="model directory, or address of a server")
        parser.add_argument("--served-model", default="", help="the model's name at the server")
        parser.add_argument("-n", type=int, required=True, help="samples per problem")
        parser.add_argument("--temperature", type=float, default=1.0, help="0 is greedy (default 1)")
        parser.add_argument("--max-tokens", type=int, default=512, help="longest sample (default 512)")
        parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")
        parser.add_argument(
            "--split", choices=["train", "test"], default="train", help="problems a new pool begins with"
        )

    def work(self, project: Project, options: dict[str, Any]) -> None:
        asked = checked(
            Request(
                generator=options["generator"],
                n=options["n"],
                model=options["served_model"],
                split=options["split"],
                temperature=options["temperature"],
                max_tokens=options["max_tokens"],
                seed=options["seed"],
            )
        )
        pool, _made = Pool.objects.get_or_create(project=project, name=options["pool"])
        if options["background"]:
            self.say(_("Queued: job %d samples.") % request_sampling(project, pool, asked).pk)
            return
        done = run_here(create_job(project, pool, asked)).result
        self.say(
            _("%(sampled)d new samples, %(imported)d solutions added to %(pool)s; %(unfinished)d unfinished.")
            % {**done, "pool": pool.name}
        )
