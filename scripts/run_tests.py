"""Runs every test: all on SQLite, then what meets a database or a worker again on PostgreSQL and Redis.

`make test` calls it; arguments go on to pytest (`make test ARGS="-k claim"`). PostgreSQL is looked for at
DATABASE_URL or 127.0.0.1:5432 (user postgres), Redis at REDIS_URL or 127.0.0.1:6379; both runs use a
database of their own and remove it. The last lines say what was covered and what was not. With CI=true
anything missing is a failure.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_TESTS_COLLECTED = 5


@dataclass(frozen=True)
class Outcome:
    """What one pytest run did; `ok` is its exit code, not a count."""

    name: str
    ok: bool
    passed: int
    failed: int
    skipped: int
    seconds: float


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def find_postgres() -> str | None:
    """The address of a PostgreSQL server that lets us make databases, without a database name."""
    given = os.environ.get("DATABASE_URL", "")
    url = given if given.startswith("postgres") else "postgres://postgres@127.0.0.1:5432/postgres"
    base = urlunsplit(urlsplit(url)._replace(path="/postgres"))
    try:
        with psycopg.connect(base, connect_timeout=3) as connection:
            row = connection.execute(
                "select rolcreatedb from pg_roles where rolname = current_user"
            ).fetchone()
    except psycopg.Error:
        return None
    return base if row and row[0] else None


def find_redis() -> str | None:
    """The address of an empty database of a Redis server: never one that somebody uses."""
    parts = urlsplit(os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379")
    for number in range(15, 0, -1):
        url = urlunsplit(parts._replace(path=f"/{number}"))
        try:
            with redis.Redis.from_url(url, socket_connect_timeout=3) as client:
                # The key keeps two runs at the same time apart.
                if client.dbsize() == 0 and client.set("stepmark-test", os.getpid(), nx=True, ex=7200):
                    return url
        except redis.RedisError:
            return None
    return None


def find_browser() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def count(report: Path) -> tuple[int, int, int]:
    """Passed, failed (with errors) and skipped of a JUnit report."""
    if not report.exists():
        return 0, 0, 0
    suites = ET.parse(report).getroot().iter("testsuite")  # noqa: S314 - pytest wrote it a moment ago
    tests = failed = skipped = 0
    for suite in suites:
        tests += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    return tests - failed - skipped, failed, skipped


def run_pytest(name: str, extra: list[str], env: dict[str, str]) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="stepmark-tests-") as home:
        report = Path(home) / "report.xml"
        # Tests of one group share a costly fixture and stay together.
        arguments = [
            "-m",
            "pytest",
            "-n",
            os.environ.get("STEPMARK_TEST_PROCESSES", "2"),
            "--dist",
            "loadgroup",
        ]
        arguments += [
            "--durations",
            "12",
            "--junitxml",
            str(report),
            "-o",
            f"cache_dir={home}/cache",
            *extra,
            *sys.argv[1:],
        ]
        print(f"\n===== {name} =====", flush=True)
        start = time.monotonic()
        code = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={"OMP_NUM_THREADS": "1", **os.environ, "STEPMARK_HOME": home, **env},
            check=False,
        ).returncode
        passed, failed, skipped = count(report)
    # A selection by -k may leave nothing for the second run.
    ok = code == 0 or (code == NO_TESTS_COLLECTED and len(sys.argv) > 1)
    return Outcome(name, ok, passed, failed, skipped, time.monotonic() - start)


def run_on_servers(postgres: str, redis_url: str) -> Outcome:
    database = f"stepmark_tests_{os.getpid()}"
    env = {
        "DATABASE_URL": urlunsplit(urlsplit(postgres)._replace(path=f"/{database}")),
        "REDIS_URL": redis_url,
    }
    try:
        return run_pytest("PostgreSQL and Redis", ["-m", "(database or worker) and not browser"], env)
    finally:
        drop_databases(postgres, database)
        with redis.Redis.from_url(redis_url) as client:
            client.flushdb()


def drop_databases(postgres: str, name: str) -> None:
    """What a killed test left behind; pytest-django drops its own."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        left = connection.execute("select datname from pg_database where datname like %s", [f"%{name}%"])
        for (database,) in left.fetchall():
            connection.execute(f'drop database if exists "{database}" with (force)')


def summary(outcomes: list[Outcome], missing: list[str]) -> int:
    print("\n===== covered =====")
    for outcome in outcomes:
        print(
            f"{outcome.name}: {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped "
            f"in {outcome.seconds:.0f} s{'' if outcome.ok else '  <- not all right, see above'}"
        )
    for what in missing:
        print(f"NOT covered: {what}")
    broken = [outcome.name for outcome in outcomes if not outcome.ok]
    if missing and in_ci():
        broken.append("CI=true asks for everything, and something above was not covered")
    for name in broken:
        print(f"FAILED: {name}")
    passed, failed = sum(o.passed for o in outcomes), sum(o.failed for o in outcomes)
    # A run that ended badly without a failed test (a crash, nothing collected) counts as one failure.
    failed = max(failed, len(broken))
    print(f"{passed} passed, {failed} failed, {sum(o.skipped for o in outcomes)} skipped")
    return 1 if failed else 0


def main() -> int:
    # Stopped from outside, it still removes its databases.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    missing = []
    browser, postgres, redis_url = find_browser(), find_postgres(), find_redis()
    if not browser:
        missing.append("the browser tests: no Chromium found (Debian: apt install chromium)")
    # The first run must not meet the servers that the surroundings may point at.
    plain = {"DATABASE_URL": "", "REDIS_URL": ""}
    everything = [] if browser else ["-m", "not browser"]
    outcomes = [run_pytest("SQLite and file broker, everything", everything, plain)]
    if postgres and redis_url:
        outcomes.append(run_on_servers(postgres, redis_url))
    else:
        absent = " and ".join(
            name for name, found in (("PostgreSQL", postgres), ("Redis", redis_url)) if not found
        )
        missing.append(f"the database and worker tests on servers: {absent} did not answer")
    return summary(outcomes, missing)


if __name__ == "__main__":
    sys.exit(main())
