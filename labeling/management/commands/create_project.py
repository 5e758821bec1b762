"""Makes a project: python manage.py create_project "School algebra" --screening 30"""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.text import slugify

from labeling.models import Project


class Command(BaseCommand):
    help = (
        "Make a project, the frame of problems, pools, labelers and generations. "
        'Example: python manage.py create_project "School algebra" --screening 30 --guidelines rules.txt'
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--mode", choices=Project.Mode.values, default=Project.Mode.FIRST_ERROR)
        parser.add_argument("--screening", type=int, default=30, help="gold questions before work (30)")
        parser.add_argument("--pass-mark", type=float, default=0.75, help="share that admits (0.75)")
        parser.add_argument("--overlap", type=int, default=1, help="labelers per solution (1)")
        parser.add_argument("--guidelines", help="a text file with the rules that labelers accept first")

    def handle(self, **options: Any) -> None:
        project = Project(
            name=options["name"],
            slug=slugify(options["name"])[:60],
            mode=options["mode"],
            screening_questions=options["screening"],
            screening_pass_mark=options["pass_mark"],
            overlap=options["overlap"],
            guidelines=self._guidelines(options["guidelines"]),
        )
        try:
            project.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        project.save()
        self.stdout.write(project.slug)

    def _guidelines(self, path: str | None) -> str:
        if path is None:
            return ""
        try:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a path as it was typed
                return file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"The guidelines cannot be read: {error}") from error
