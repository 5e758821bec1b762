"""Labelers that work over HTTP like browsers: python manage.py simulate_labelers --labelers 5"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from labeling.models import Project, User
from labeling.services import people
from selection.simulate import Report
from selection.simulate.crew import HEADINGS, Crew, links_of, table, work
from selection.simulate.oracle import practice_oracle, prepare

FIELDS = ("accuracy", "careless", "careless_accuracy", "give_up", "bad_problem", "pace", "limit", "seed")


class Command(BaseCommand):
    help = (
        "Sign simulated labelers in over HTTP and let them work until nothing is left: the same pages and "
        "endpoints as a browser. They know the truth of the practice problems and err as often as told. "
        "Example: python manage.py simulate_labelers --labelers 5 --careless 1 --base-url http://127.0.0.1:8000"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        crew = Crew()
        add = parser.add_argument
        add("--labelers", type=int, default=crew.size, help="how many, the careless ones among them (5)")
        add("--accuracy", type=float, default=crew.accuracy, help="share judged as the oracle does (0.95)")
        add("--careless", type=int, default=crew.careless, help="how many turn careless once admitted (0)")
        add("--careless-accuracy", type=float, default=crew.careless_accuracy, help="their accuracy (0.6)")
        add("--give-up", type=float, default=crew.give_up, help="share of solutions given up (0)")
        add("--bad-problem", type=float, default=crew.bad_problem, help="share reported as bad problems (0)")
        add("--pace", type=float, default=crew.pace, help="seconds per step (0: as fast as it goes)")
        add("--limit", type=int, help="submissions after which each goes home (none: until nothing is left)")
        add("--project", default="", help="slug of the project (the practice project)")
        add("--base-url", default="http://127.0.0.1:8000", help="address of the server")
        add("--links", type=Path, help="file of sign-in links, for a server whose database is not here")
        add("--seed", type=int, default=crew.seed)

    def handle(self, **options: Any) -> None:
        crew, links = self._crew(options)
        prepare()
        labelers = crew.labelers(links, options["base_url"], practice_oracle)
        with Progress(
            TextColumn("{task.description}"),
            TextColumn("{task.completed:.0f} submitted"),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            disable=not sys.stderr.isatty(),
        ) as bar:
            shown = bar.add_task(f"{crew.size} labelers")
            reports = work(labelers, self._show(bar, shown))
        self._print(reports)
        broken = [report.name for report in reports if not report.ending.is_expected]
        if broken:
            raise CommandError(f"Not ended as expected: {', '.join(broken)}. The table says why.")

    def _show(self, bar: Progress, shown: Any) -> Callable[[int], None]:
        return lambda submitted: bar.update(shown, completed=submitted)

    def _crew(self, options: dict[str, Any]) -> tuple[Crew, list[str]]:
        given = {name: options[name] for name in FIELDS}
        try:
            links = links_of(options["links"]) if options["links"] else None
            size = len(links) if links is not None else options["labelers"]
            crew = Crew(size, project=options["project"], **given)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        return crew, links if links is not None else self._links(crew, options["project"])

    def _links(self, crew: Crew, slug: str) -> list[str]:
        """People beside this command's own database, made where they are missing."""
        projects = Project.objects.filter(slug=slug) if slug else Project.objects.filter(is_practice=True)
        project = projects.first()
        if project is None:
            known = ", ".join(Project.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"No such project here. There are: {known}. On another machine use --links.")
        links = []
        for name in crew.names():
            user = User.objects.filter(username=name).first() or people.create_person(name, project=project)
            people.enrol(user, project)
            links.append(reverse("sign-in-link", args=[people.make_sign_in_link(user, days=1)]))
        return links

    def _print(self, reports: list[Report]) -> None:
        shown = Table(*HEADINGS)
        for row in table(reports):
            shown.add_row(*row)
        console = Console(width=None if sys.stdout.isatty() else 160)
        with console.capture() as text:
            console.print(shown)
        self.stdout.write(text.get())
