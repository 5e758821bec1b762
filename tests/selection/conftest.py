"""A project with a pool, and a home of its own for every test of pages."""

from pathlib import Path
from typing import Any

import pytest

from labeling.models import Pool, Project
from tests import make
from tests.selection import world


@pytest.fixture
def page_home(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.HOME = tmp_path
    settings.MODELS_DIR = tmp_path / "models"
    monkeypatch.setattr("labeling.jobs.asking.current_app.send_task", lambda *_args, **_options: None)


@pytest.fixture
def page_project() -> Project:
    return make.project(gold_per_generation=0, name="Algebra pilot")


@pytest.fixture
def page_pool(page_project: Project) -> Pool:
    return world.pool(page_project, problems=10, samples=4)
