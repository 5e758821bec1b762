"""What all tests share at the root: which of them meet a database, and the guard of CI."""

import os

import pytest

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "live_server"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "database: meets a database (set by itself; do not write it)")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what runs a second time on PostgreSQL, so that no list has to be kept by hand."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or fixtures & DATABASE_FIXTURES:
            item.add_marker("database")


@pytest.fixture(scope="session")
def in_ci() -> bool:
    """True where nothing may be skipped silently."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}
