"""Imports problems: python manage.py import_problems math500.jsonl --dataset MATH --split test"""

from django.core.management.base import CommandParser

from labeling.formats.registry import names
from labeling.management.files import ImportCommand


class Command(ImportCommand):
    kind = "problems"
    help = (
        "Import problems with their answers; nothing of a bad file stays. "
        "Example: python manage.py import_problems math500.jsonl --dataset MATH --split test"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", choices=names(self.kind), default="auto")
        parser.add_argument("--dataset", default="", help="the name of the set, kept with each problem")
        parser.add_argument("--split", choices=["train", "test"], help="test problems are never trained on")
