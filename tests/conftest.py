"""Fixtures that every test may use. Makers of rows are plain functions in tests/make.py."""

import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On SQLite the tests use a file as the product does, so that threads meet the real locks."""
    from django.conf import settings

    database: dict[str, Any] = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database.setdefault("TEST", {})["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the checkout; tests that need it skip where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("STEPMARK_SHARED_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("No real data: set STEPMARK_SHARED_DATA to the folder of data sets.")
    return folder


@pytest.fixture(scope="session", autouse=True)
def plain_static_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Pages render without a build: static files under their own names, from an empty root."""
    from django.conf import settings

    settings.STATIC_ROOT = tmp_path_factory.mktemp("static")
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
