"""Open the next generation: score, pick, and hand the batch to the labelers."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from labeling import jobs
from labeling.models import Project
from selection import comparison, registry
from selection.management.running import LoopCommand, pool_named, run_here
from selection.models import Generation
from selection.picking import STRATEGIES
from selection.requests import DEFAULT_SIZE, draft_generation, request_opening


class Command(LoopCommand):
    help = (
        "Open the next generation: score the pool where needed, pick solutions, put them into the queue. "
        "Generation 0 needs no model: leave --model out, or use --strategy uniform."
    )
    example = "open_generation --pool practice --model prm-1 --strategy convincing_wrong --size 100"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", required=True, help="name of the pool")
        parser.add_argument("--model", default="", help="name of the model whose scores pick")
        parser.add_argument(
            "--strategy",
            default="",
            choices=["", *STRATEGIES, comparison.STRATEGY],
            help="picking rule (default: convincing_wrong)",
        )
        parser.add_argument("--size", type=int, help=f"how many solutions (default {DEFAULT_SIZE})")
        parser.add_argument(
            "--per-problem",
            type=int,
            help="at most this many of a problem; without --size: this many of each",
        )
        parser.add_argument(
            "--wrong-share", type=float, default=0.8, help="share of convincing wrong answers"
        )
        parser.add_argument("--random-share", type=float, default=0.0, help="share of the random slice")
        parser.add_argument("--seed", type=int, help="seed of the draw (default: a new one, which is kept)")

    def work(self, project: Project, options: dict[str, Any]) -> None:
        pool = pool_named(project, options["pool"])
        model = registry.model_named(project, options["model"]) if options["model"] else None
        rule = {
            key: options[key] for key in ("strategy", "per_problem", "wrong_share", "random_share", "seed")
        }
        rule["size"] = options["size"] or (None if options["per_problem"] else DEFAULT_SIZE)
        if options["background"]:
            generation = request_opening(project, pool, selector=model, **rule)
            self.say(_("Queued: job %d opens it.") % (generation.open_job_id or 0))
            return
        generation = draft_generation(project, pool, selector=model, **rule)
        job = jobs.create("open_generation", {"generation": generation.pk}, project=project)
        Generation.objects.filter(pk=generation.pk).update(open_job=job)
        run_here(job)
        self.say(
            _("Generation %(number)d is open: %(n)d solutions wait for labelers.")
            % {"number": generation.number, "n": generation.picks.count()}
        )
