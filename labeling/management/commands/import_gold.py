"""Imports gold questions: python manage.py import_gold screening.jsonl --generation -1"""

import argparse

from django.core.management.base import CommandParser

from labeling.formats.registry import names
from labeling.management.files import ImportCommand


def generation(text: str) -> int | None:
    if text == "any":
        return None
    try:
        number = int(text)
    except ValueError:
        number = -2
    if number < -1:
        raise argparse.ArgumentTypeError("give -1 (screening), 0, 1, 2, ... or any")
    return number


class Command(ImportCommand):
    kind = "gold"
    help = (
        "Import gold questions: solutions whose steps have expected ratings (own lines or ProcessBench). "
        "Example: python manage.py import_gold screening.jsonl --generation -1"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--generation", type=generation, required=True, help="-1: screening; N; or any")
        parser.add_argument("--format", choices=names(self.kind), default="auto")
        parser.add_argument("--dataset", default="", help="the name of the set, kept with each problem")
        parser.add_argument("--split", choices=["train", "test"], help="test problems are never trained on")
