"""Close a generation: freeze its labels, train, evaluate, promote or reject."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from labeling import jobs
from labeling.jobs import JobFailure
from labeling.models import Job, Project
from selection.generations import CLOSING, S
from selection.management.running import LoopCommand, run_here
from selection.models import Generation
from selection.requests import begin_closing, request_closing


class Command(LoopCommand):
    help = (
        "Close a generation: freeze the labels, train a model, evaluate it on held-out labels, promote or "
        "reject it. The same command goes on where a killed one stopped."
    )
    example = "close_generation 0 --recipe demo"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("number", type=int, help="number of the generation")
        parser.add_argument("--name", default="", help="name of the new model (default prm-NUMBER)")
        parser.add_argument("--recipe", default="", help="name of a recipe, or path of a TOML file")
        parser.add_argument("--seed", type=int, help="seed of the training (default: the generation's)")

    def work(self, project: Project, options: dict[str, Any]) -> None:
        generation = generation_numbered(project, options["number"])
        asked = {key: options[key] for key in ("name", "recipe", "seed")}
        if options["background"]:
            self.say(_("Queued: job %d closes it.") % request_closing(generation, **asked).pk)
            return
        if generation.state == S.LABELING:
            begin_closing(generation, **asked)
        run_here(_job(generation))
        generation.refresh_from_db()
        state, verdict = generation.get_state_display(), generation.evaluation.get("verdict", "")
        self.say(
            _("Generation %(number)d: model %(state)s. %(verdict)s")
            % {"number": generation.number, "state": state, "verdict": verdict}
        )


def generation_numbered(project: Project, number: int) -> Generation:
    """A generation by number. Raises JobFailure naming those that exist."""
    found = Generation.objects.filter(project=project, number=number).first()
    if found is None:
        known = ", ".join(
            str(n) for n in Generation.objects.filter(project=project).values_list("number", flat=True)
        )
        raise JobFailure(
            _("There is no generation %d.") % number,
            _("Choose one of: %s.") % known if known else _("Open one first: open_generation."),
        )
    return found


def _job(generation: Generation) -> Job:
    """The job that closes it: the unfinished one, or a new one where closing may begin or go on."""
    job = generation.close_job
    if job is not None and not job.is_over:
        return job
    failed_closing = generation.state == S.FAILED and generation.failed_in in CLOSING
    if generation.state not in CLOSING and not failed_closing:
        raise JobFailure(
            _("Generation %(number)d is “%(state)s” and cannot be closed.")
            % {"number": generation.number, "state": generation.get_state_display()},
            _("Only a generation that is being labeled can be closed."),
        )
    job = jobs.create("close_generation", {"generation": generation.pk}, project=generation.project)
    Generation.objects.filter(pk=generation.pk).update(close_job=job)
    return job
