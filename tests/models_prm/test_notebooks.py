"""The notebooks in docs/ run from top to bottom, in a Python without Django and without our applications."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

# Any import of these fails as it would where they are not installed.
ALONE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        absent = {"django", "rest_framework", "celery", "labeling", "selection", "config"}
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Absent())
"""


def cells(path: Path) -> list[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", "-c", ALONE + code],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def beside_the_recipes(folder: Path) -> Path:
    """A folder of its own from which the recipes are where the notebooks expect them."""
    (folder / "recipes").symlink_to(ROOT / "recipes")
    home = folder / "docs" / "notebooks"
    home.mkdir(parents=True)
    return home


@pytest.mark.slow
def test_twenty_lines_go_from_labels_to_a_search(tmp_path: Path) -> None:
    code = cells(ROOT / "docs" / "notebooks" / "twenty_lines.ipynb")
    done = run("\n".join(code), beside_the_recipes(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    made = tmp_path / "docs" / "notebooks" / "notebook"
    assert (made / "prm" / "stepmark_prm.json").exists()
    scored = [json.loads(line) for line in (made / "scored.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(0 <= line["prm_score"] <= 1 for line in scored)
    report = json.loads((made / "report" / "report.json").read_text(encoding="utf-8"))
    assert "prm_score" in json.dumps(report)
    assert "<svg" in (made / "search.svg").read_text(encoding="utf-8")


def test_it_is_twenty_lines() -> None:
    lines = [
        line
        for cell in cells(ROOT / "docs" / "notebooks" / "twenty_lines.ipynb")
        for line in cell.split("\n")
    ]
    statements = [line for line in lines if line.strip() and not line.startswith(("from ", "import "))]
    assert len(statements) <= 20


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_kept_without_output(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    kept = [cell for cell in notebook["cells"] if cell.get("outputs") or cell.get("execution_count")]
    assert not kept, "clear all outputs before committing"


def test_the_library_refuses_to_lean_on_what_is_absent(tmp_path: Path) -> None:
    done = run("import django", tmp_path)
    assert "No module named 'django'" in done.stderr
    everything = (
        "import importlib, pkgutil, models_prm\n"
        "for found in pkgutil.walk_packages(models_prm.__path__, 'models_prm.'):\n"
        "    if not found.name.endswith('__main__'):\n"
        "        importlib.import_module(found.name)\n"
    )
    done = run(everything, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
