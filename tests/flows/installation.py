"""A whole installation of its own for a test: database, broker, home folder, web server and worker."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from selection.demo import servers
from selection.demo.supervisor import Supervisor
from tests.redis_place import own_redis
from tests.rules.source import ROOT

PROLOGUE = "import django, json; django.setup()\n"


@dataclass
class Installation:
    """`base_url` is empty until `serving`."""

    home: Path
    env: dict[str, str]
    base_url: str = ""

    @property
    def on_servers(self) -> bool:
        return bool(self.env["DATABASE_URL"])

    def run(self, code: str) -> Any:
        """Run code in a process of this installation; what it leaves in `result` comes back through JSON."""
        program = f"{PROLOGUE}result = None\n{code}\nprint('\\n' + json.dumps(result, default=str))"
        done = self._call([sys.executable, "-c", program])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = self._call([sys.executable, "manage.py", *arguments])
        assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}\n{self.logs()}"
        return done

    def _call(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=ROOT, env=self.env, capture_output=True, text=True, check=False, timeout=900
        )

    def logs(self) -> str:
        found = sorted((self.home / "logs").glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}" for log in found)

    @contextmanager
    def serving(self) -> Iterator[Supervisor]:
        """Web server and worker as in the demo, gone afterwards."""
        port = servers.free_port(18000 + os.getpid() % 2000)
        logs = self.home / "logs"
        children = [servers.web(port, logs), servers.worker(self.home, logs)]
        supervisor = Supervisor(children, self.env, ROOT)
        try:
            supervisor.start()
            healthy = servers.wait_until_healthy(port, seconds=90, give_up=lambda: False)
            assert healthy, self.logs()
            self.base_url = f"http://127.0.0.1:{port}"
            yield supervisor
        finally:
            supervisor.shut_down()


@contextmanager
def installation(home: Path) -> Iterator[Installation]:
    """On PostgreSQL and Redis when this test run is, else on SQLite and files."""
    with _database() as database_url, own_redis(os.environ.get("REDIS_URL", "")) as redis_url:
        env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "STEPMARK_HOME": str(home),
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "STEPMARK_ALLOWED_HOSTS": "127.0.0.1,localhost",
            "OMP_NUM_THREADS": "1",
        }
        made = Installation(home, env)
        made.manage("migrate", "--verbosity", "0")
        made.manage("collectstatic", "--noinput", "--verbosity", "0")
        yield made


@contextmanager
def _database() -> Iterator[str]:
    given = os.environ.get("DATABASE_URL", "")
    if not given.startswith("postgres"):
        yield ""
        return
    server = urlunsplit(urlsplit(given)._replace(path="/postgres"))
    # The runner drops everything whose name holds its own, should this process be killed.
    name = f"{urlsplit(given).path.strip('/')}_flow_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
        try:
            yield urlunsplit(urlsplit(given)._replace(path=f"/{name}"))
        finally:
            connection.execute(f'drop database "{name}" with (force)')
