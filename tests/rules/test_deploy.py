"""Django's own checks of a deployment are clean, and the tables match the models."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules.source import ROOT


def manage(home: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "STEPMARK_HOME": str(home), "DATABASE_URL": "", "REDIS_URL": "", **extra}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_deployment_check_is_clean(tmp_path: Path) -> None:
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", STEPMARK_HTTPS="true")
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_no_migration_is_missing(tmp_path: Path) -> None:
    done = manage(tmp_path, "makemigrations", "--check", "--dry-run")
    assert done.returncode == 0, done.stdout


def test_every_installation_has_its_own_secret(tmp_path: Path) -> None:
    secrets = set()
    for name in ("one", "two"):
        assert manage(tmp_path / name, "check").returncode == 0
        file = tmp_path / name / "secret_key"
        assert file.stat().st_mode & 0o077 == 0, "others can read the secret"
        secrets.add(file.read_text())
    assert len(secrets) == 2


@pytest.mark.parametrize(
    ("name", "value"), [("STEPMARK_DEBUG", "perhaps"), ("STEPMARK_JOB_STALE_S", "a minute")]
)
def test_a_bad_setting_stops_the_start_and_is_named(tmp_path: Path, name: str, value: str) -> None:
    done = manage(tmp_path, "check", **{name: value})
    assert done.returncode != 0
    assert name in done.stderr
