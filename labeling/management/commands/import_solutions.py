"""Imports a pool: python manage.py import_solutions example_model_solutions.jsonl --pool gsm8k"""

from django.core.management.base import CommandParser

from labeling.formats.registry import names
from labeling.management.files import ImportCommand


class Command(ImportCommand):
    kind = "solutions"
    help = (
        "Import sampled solutions into a pool (made if it is not there), split into steps and graded. "
        "Example: python manage.py import_solutions example_model_solutions.jsonl --pool gsm8k"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--pool", required=True, help="the pool's name")
        parser.add_argument("--format", choices=names(self.kind), default="auto")
        parser.add_argument("--dataset", default="", help="the name of the set, kept with each problem")
        parser.add_argument("--split", choices=["train", "test"], help="test problems are never trained on")
        parser.add_argument("--repeats", action="store_true", help="equal records are samples of their own")
