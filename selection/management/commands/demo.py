"""Everything for a first look, in one process tree: python manage.py demo"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.urls import reverse

from labeling.errors import LabelingError
from labeling.jobs import JobFailure
from labeling.models import Project
from selection.demo import servers
from selection.demo.check import first_solution
from selection.demo.seed import SIZES, Size, seed, sign_in_links
from selection.demo.supervisor import Supervisor
from selection.simulate.browser import Refused

START_S = 120.0
STANDARD_PORT = 8000
RULE = "-" * 78


class Command(BaseCommand):
    help = (
        "Set up a practice project of made-up school problems, start web server and worker, and print "
        "sign-in links for a labeler, a lead and a researcher. Ctrl-C stops everything; a second start goes "
        "on with what is there. Example: python manage.py demo --port 8000"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=int, default=STANDARD_PORT, help="if taken, the next free one (8000)"
        )
        parser.add_argument("--size", choices=SIZES, default="full", help="how much practice content (full)")
        parser.add_argument(
            "--check", action="store_true", help="start, take the first solution over HTTP, stop; exit code 0"
        )

    def handle(self, **options: Any) -> None:
        try:
            with one_at_a_time():
                self._run(options, time.monotonic())
        except KeyboardInterrupt:
            # Before the servers were up; the next start goes on with the seed.
            self._say("Stopped.")

    def _run(self, options: dict[str, Any], started: float) -> None:
        project = self._prepare(SIZES[options["size"]])
        port = self._port(options["port"])
        base_url = f"http://{servers.HOST}:{port}"
        tokens = sign_in_links(project)
        links = {role: base_url + reverse("sign-in-link", args=[token]) for role, token in tokens.items()}
        # Nobody keeps a connection across the start of other processes.
        connections.close_all()
        supervisor = self._supervisor(port)
        try:
            self._serve(supervisor, port)
            if options["check"] and not supervisor.stop.is_set():
                self._check(base_url, links, project.slug)
            elif not supervisor.stop.is_set():
                self._welcome(links, port, time.monotonic() - started)
                supervisor.run()
        finally:
            self._say("Stopping ...")
            supervisor.shut_down()
            self._say("Stopped.")

    def _port(self, wanted: int) -> int:
        try:
            port = servers.free_port(wanted)
        except OSError as error:
            raise CommandError(str(error)) from error
        if port != wanted:
            self._say(f"Port {wanted} is taken; using {port}.")
        return port

    def _prepare(self, size: Size) -> Project:
        self._say("Preparing the database ...")
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        try:
            return seed(self._say, size)
        except (LabelingError, JobFailure) as error:
            raise CommandError(f"{error.message} {getattr(error, 'cure', '')}".strip()) from error

    def _supervisor(self, port: int) -> Supervisor:
        logs = settings.HOME / "logs"
        children = [servers.web(port, logs), servers.worker(settings.HOME, logs)]
        supervisor = Supervisor(children, os.environ, settings.BASE_DIR, say=self._say)
        supervisor.catch_signals()
        return supervisor

    def _serve(self, supervisor: Supervisor, port: int) -> None:
        self._say("Starting web server and worker ...")
        supervisor.start()
        web = supervisor.children[0]
        healthy = servers.wait_until_healthy(
            port, seconds=START_S, give_up=lambda: supervisor.stop.is_set() or not web.is_alive()
        )
        if not healthy and not supervisor.stop.is_set():
            raise CommandError(f"The web server did not start. The end of {web.log}:\n{web.last_lines()}")

    def _check(self, base_url: str, links: dict[str, str], project: str) -> None:
        try:
            assignment = first_solution(base_url, links, project)
        except (Refused, OSError, ValueError, KeyError) as error:
            raise CommandError(f"{type(error).__name__}: {error}") from error
        self._say(f"The first solution is there: {len(assignment['steps'])} steps to judge.")

    def _welcome(self, links: dict[str, str], port: int, seconds: float) -> None:
        self._say(RULE)
        self._say(f"Stepmark is running (ready after {seconds:.0f} s). Sign in with one click:")
        self._say("")
        for role, link in links.items():
            self._say(f"  {role + ':':<12}{link}")
        self._say(
            "\nThe problems and solutions are practice content, made up by Stepmark itself; screening is"
        )
        self._say(
            "5 questions instead of 30. Your own files: the page Files, or `manage.py import_problems`."
        )
        where = "" if port == STANDARD_PORT else f" PORT={port}"
        self._say(f"Labelers without people, in another terminal:  make simulate{where}")
        self._say("Ctrl-C stops everything; nothing is lost, and the same command goes on.")
        self._say(RULE)

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two demos in one STEPMARK_HOME would share a worker's files: the second says so and ends."""
    path = settings.HOME / "demo.lock"
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CommandError(
                f"A demo is running in {settings.HOME} already. Stop it first, "
                "or set STEPMARK_HOME to another folder."
            ) from error
        yield
