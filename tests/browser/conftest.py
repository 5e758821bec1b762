"""A real Chromium, and the real demo to look at: web server, worker, made-up content."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from selection.demo.servers import free_port
from tests.browser.person import Visits
from tests.browser.running import Demo
from tests.rules.source import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
READY_S = 240


@pytest.fixture
def browser(in_ci: bool) -> Iterator[Browser]:
    """Lives for one test only: Playwright's loop must not stand in the way of other tests' database."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        message = "no Chromium found (Debian: apt install chromium)"
        if in_ci:
            pytest.fail(f"{message}; with CI=true that is a failure")
        pytest.skip(message)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """All pages that a test opens; at its end no console may have held an error."""
    opened = Visits(browser)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`manage.py demo` as a person starts it, with little content, stopped by Ctrl-C's signal at the end."""
    home = tmp_path_factory.mktemp("demo")
    env = {
        **os.environ,
        "STEPMARK_HOME": str(home),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "OMP_NUM_THREADS": "1",
    }
    out = home / "demo.out"
    port = free_port(21000 + os.getpid() % 2000)
    command = [sys.executable, "manage.py", "demo", "--size", "small", "--port", str(port)]
    with out.open("w") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=file, stderr=subprocess.STDOUT)
    try:
        yield Demo(home, env, wait_until_ready(process, out))
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0, out.read_text()
    assert out.read_text().rstrip().endswith("Stopped.")


def wait_until_ready(process: subprocess.Popen[bytes], out: Path) -> dict[str, str]:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        text = out.read_text()
        if "Ctrl-C stops everything" in text:
            words = [line.split() for line in text.splitlines() if "/in/" in line]
            return {role.rstrip(":"): link for role, link in words}
        time.sleep(0.2)
    raise AssertionError(f"the demo did not start\n{out.read_text()}")
