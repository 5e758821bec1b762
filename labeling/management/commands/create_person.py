"""Makes a person and prints the sign-in link: python manage.py create_person ada --role lead"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from labeling.models import Project, User
from labeling.services import people


class Command(BaseCommand):
    help = (
        "Make a person (or find the one of that name) and print a link that signs them in. "
        "Example: python manage.py create_person ada --role lead --base-url https://labels.example.org"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", choices=User.Role.values, default=User.Role.LABELER)
        parser.add_argument("--name", default="", help="the name that pages show")
        parser.add_argument("--project", help="slug; a labeler is otherwise enrolled in every project")
        parser.add_argument("--days", type=int, default=7, help="how long the link is good (default: 7)")
        parser.add_argument("--base-url", default="http://127.0.0.1:8000", help="where people reach Stepmark")

    def handle(self, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first()
        if user is not None and user.role != options["role"]:
            raise CommandError(f"{user.username} is a {user.role} already; choose another name.")
        user = user or people.create_person(
            options["username"],
            options["role"],
            project=self._project(options["project"]),
            first_name=options["name"],
        )
        token = people.make_sign_in_link(user, days=options["days"])
        self.stdout.write(options["base_url"].rstrip("/") + reverse("sign-in-link", args=[token]))

    def _project(self, slug: str | None) -> Project | None:
        if slug is None:
            return None
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            known = ", ".join(Project.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no project {slug!r}. There are: {known}.")
        return project
