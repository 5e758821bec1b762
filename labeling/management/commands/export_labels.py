"""Exports labels: python manage.py export_labels --format prm800k --output labels.jsonl"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.exporting import FORMATS, ExportRefused, new_name, write_export
from labeling.management.files import add_project, find_project
from labeling.management.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Export labels with a side file and a manifest whose totals are the dashboard's. "
        "Example: python manage.py export_labels --format prm800k --generation 1 --output labels.jsonl"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=FORMATS, default="prm800k")
        parser.add_argument("--generation", type=int, help="only labels of this generation")
        parser.add_argument("--output", type=Path, help="a folder, or a .jsonl file (default: a new folder)")
        parser.add_argument("--usable", action="store_true", help="only what training may use")
        add_project(parser)

    def handle(self, **options: Any) -> None:
        project, name = find_project(options["project"]), options["format"]
        path = options["output"] or settings.EXPORT_DIR / new_name(project, name)
        wanted = {"generation": options["generation"], "only_usable": options["usable"]}
        try:
            with progress_bar() as show:
                manifest = write_export(project, name, path, on_progress=show, **wanted)
        except ExportRefused as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(f"{manifest.lines} lines of {manifest.content['labels']} labels ({name})")
        for file in (manifest.labels, manifest.side, manifest.path):
            self.stdout.write(str(file))
