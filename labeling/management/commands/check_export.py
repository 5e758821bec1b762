"""Checks an export: python manage.py check_export FOLDER"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.exporting import validate_export


class Command(BaseCommand):
    help = (
        "Check a finished export: sums, counts and the shape of every line, against its manifest. "
        "Example: python manage.py check_export exports/labels"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder of an export, or its manifest")

    def handle(self, **options: Any) -> None:
        check = validate_export(options["folder"])
        if not check.ok:
            raise CommandError("\n".join([*check.problems, "Cure: export again, or fetch the files again."]))
        self.stdout.write(f"good: {check.lines} lines ({check.format})")
