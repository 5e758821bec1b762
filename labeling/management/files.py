"""What the commands that read and write files share: the project, the bar, errors with their cure."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.errors import ImportRefused
from labeling.importing import ImportOptions, import_file
from labeling.management.progress import progress_bar
from labeling.models import Project


def add_project(parser: CommandParser) -> None:
    parser.add_argument("--project", help="slug of the project; needed only where there are several")


def find_project(slug: str | None) -> Project:
    """The project of that slug, or the only one. Raises CommandError with the cure."""
    projects = Project.objects.filter(slug=slug) if slug else Project.objects.all()
    found = list(projects[:2])
    if len(found) == 1:
        return found[0]
    known = ", ".join(Project.objects.values_list("slug", flat=True))
    if not known:
        raise CommandError("There is no project. Make one: python manage.py create_project NAME")
    missing = f"There is no project {slug!r}." if slug else "There are several projects."
    raise CommandError(f"{missing} Name one with --project: {known}")


class ImportCommand(BaseCommand):
    """Imports FILE as `kind`; a subclass gives the kind, its options and the help."""

    kind: str

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="plain or gzip, JSON lines or a JSON array")
        add_project(parser)

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        chosen = {name: options[name] for name in ImportOptions.__slots__ if name in options}
        name = chosen.pop("format", "auto")
        try:
            with progress_bar() as show:
                summary = import_file(
                    project,
                    self.kind,
                    options["file"],
                    format=name,
                    options=ImportOptions(**chosen),
                    on_progress=show,
                )
        except ImportRefused as refused:
            lines = [problem["text"] for problem in refused.extra.get("problems", [])]
            raise CommandError("\n".join([refused.message, *lines])) from None
        self.stdout.write(f"{summary.name}: {summary.kind} ({summary.format}), {summary.seconds} s")
        for title, n in summary.lines():
            self.stdout.write(f"{n:>9}  {title}")
