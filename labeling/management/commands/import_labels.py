"""Imports judgements: python manage.py import_labels phase2_train.jsonl.gz"""

from django.core.management.base import CommandParser

from labeling.management.files import ImportCommand


class Command(ImportCommand):
    kind = "labels"
    help = (
        "Import judgements from PRM800K lines, kept as they are; lines that are here already change nothing. "
        "Example: python manage.py import_labels phase2_train.jsonl.gz --dataset PRM800K"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dataset", default="", help="the name of the set, kept with each problem")
        parser.add_argument("--split", choices=["train", "test"], help="test problems are never trained on")
