"""What the bridge's commands share: the project, a progress bar, and errors as one line with the cure."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError
from django.utils.translation import gettext as _
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from labeling import jobs
from labeling.errors import LabelingError
from labeling.jobs import JobFailure
from labeling.models import Job, Pool, Project


class LoopCommand(BaseCommand):
    """A command of the loop: `example` is shown by --help, `work` does it."""

    example = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("epilog", f"example:\n  python manage.py {self.example}")
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--project", default="", help="short name of the project (default: the first one)"
        )
        parser.add_argument(
            "--background", action="store_true", help="queue the work for a worker instead of doing it here"
        )
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        with one_line_errors():
            self.work(project_named(options["project"]), options)

    def work(self, project: Project, options: dict[str, Any]) -> None:
        raise NotImplementedError

    def say(self, text: str) -> None:
        self.stdout.write(text)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Errors that a person can act on end the command with one line and exit code 1."""
    try:
        yield
    except JobFailure as error:
        raise CommandError(f"{error.message} {error.cure}".strip()) from error
    except LabelingError as error:
        raise CommandError(error.message) from error
    except (OperationalError, ProgrammingError) as error:
        hint = _("Run `python manage.py migrate` first, and check DATABASE_URL.")
        raise CommandError(f"{str(error).splitlines()[0]}. {hint}") from error


def project_named(slug: str) -> Project:
    """A project by its short name, or the first one. Raises JobFailure naming those that exist."""
    found = Project.objects.filter(slug=slug).first() if slug else Project.objects.first()
    if found is None:
        names = ", ".join(Project.objects.values_list("slug", flat=True))
        raise JobFailure(
            _("There is no project “%s”.") % slug if slug else _("There is no project yet."),
            _("Choose one of: %s.") % names
            if names
            else _("Run `python manage.py demo`, or import problems."),
        )
    return found


def pool_named(project: Project, name: str) -> Pool:
    """A pool by name. Raises JobFailure naming those that exist."""
    found = Pool.objects.filter(project=project, name=name).first()
    if found is None:
        names = ", ".join(Pool.objects.filter(project=project).values_list("name", flat=True))
        raise JobFailure(
            _("There is no pool “%s”.") % name,
            _("Choose one of: %s.") % names if names else _("Import one first: import_solutions."),
        )
    return found


def run_here(job: Job) -> Job:
    """Run a job in this process with a progress bar. Raises JobFailure if it does not end well."""
    with _bar() as show:
        done = jobs.run_job(job.pk, on_progress=show)
    if done is None:
        job.refresh_from_db()
        if job.status == Job.Status.DONE:
            return job
        raise JobFailure(
            _("Job %(id)d is “%(status)s” elsewhere.") % {"id": job.pk, "status": job.get_status_display()},
            _("Wait for it: see the page “Jobs”."),
        )
    if done.status == Job.Status.CANCELLED:
        raise JobFailure(_("Cancelled."), _("The same command goes on from here."))
    if done.status != Job.Status.DONE:
        raise JobFailure(done.error, done.cure)
    return done


@contextmanager
def _bar() -> Iterator[jobs.OnProgress]:
    """A bar with counts and time left on a terminal; silence elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=None)
        stages = [""]

        def show(done: int, total: int, stage: str) -> None:
            if stage != stages[0]:
                stages[0] = stage
                progress.reset(bar, total=total or None, description=stage)
            progress.update(bar, completed=done, total=total or None)

        yield show
