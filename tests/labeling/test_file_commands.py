"""The commands that read and write files: what they print, and how they fail."""

import gzip
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands
from django.test import override_settings

from labeling.models import Gold, Label, Pool, Problem, Project, Solution
from tests import make
from tests.labeling.file_makers import human_label, record, sample, write_lines

pytestmark = pytest.mark.django_db
COMMANDS = [
    "import_problems",
    "import_solutions",
    "import_labels",
    "import_gold",
    "export_labels",
    "check_export",
]


def run(name: str, *arguments: Any) -> str:
    out = StringIO()
    call_command(name, *map(str, arguments), stdout=out)
    return out.getvalue()


def fails(name: str, *arguments: Any) -> str:
    with pytest.raises(CommandError) as caught:
        run(name, *arguments)
    assert caught.value.returncode == 1
    return str(caught.value)


@pytest.fixture
def project() -> Project:
    return make.project()


def test_problems_come_in_with_a_summary(project: Project, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl.gz", [{"problem": "p", "answer": "1"}])
    out = run("import_problems", path, "--dataset", "own", "--split", "test")
    assert out.splitlines()[0].startswith("p.jsonl.gz: problems (jsonl), ")
    assert "        1  new problems" in out
    problem = Problem.objects.get()
    assert (problem.dataset, problem.split) == ("own", "test")


def test_a_pool_comes_in_by_one_command(project: Project, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [sample(1), sample(1)])
    assert "--repeats" not in run("import_solutions", path, "--pool", "a", "--repeats", "--format", "jsonl")
    assert Pool.objects.get().name == "a"
    assert Solution.objects.count() == 2


@pytest.mark.parametrize(("text", "generation"), [("-1", -1), ("3", 3), ("any", None)])
def test_gold_comes_in_for_its_generation(
    project: Project, tmp_path: Path, text: str, generation: int | None
) -> None:
    path = tmp_path / "g.json"
    path.write_text(json.dumps([human_label(1)]))
    run("import_gold", path, "--generation", text)
    assert Gold.objects.get().generation == generation


@pytest.mark.parametrize("text", ["-2", "first", "1.5"])
def test_a_generation_that_is_none_is_refused(project: Project, tmp_path: Path, text: str) -> None:
    assert "give -1 (screening)" in fails("import_gold", tmp_path / "g.json", f"--generation={text}")


def test_labels_go_round(project: Project, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", [record(), record(labeler="ben")])
    run("import_labels", path)
    out = run("export_labels", "--output", tmp_path / "out")
    assert out.splitlines()[0] == "2 lines of 2 labels (prm800k)"
    assert (tmp_path / "out" / "labels.jsonl").read_text() == path.read_text()
    assert "2  labels already here, unchanged" in run("import_labels", tmp_path / "out" / "labels.jsonl")
    assert run("check_export", tmp_path / "out") == "good: 2 lines (prm800k)\n"


def test_without_an_output_an_export_gets_a_folder_of_its_own(project: Project, tmp_path: Path) -> None:
    make.label(project=project)
    with override_settings(EXPORT_DIR=tmp_path):
        run("export_labels", "--format", "trl", "--generation", "0", "--usable")
        run("export_labels", "--format", "trl")
    assert len(list(tmp_path.glob(f"{project.slug}-trl-*/manifest.json"))) == 2


def test_a_refused_file_is_one_line_for_each_fault_with_its_cure(project: Project, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", [record(), record(generation="x"), "{"])
    lines = fails("import_labels", path).splitlines()
    assert lines[0] == "in.jsonl was not imported: 2 things are wrong."
    assert (
        lines[1]
        == "line 2, field generation: this is text, not whole number. Cure: write a whole number here."
    )
    assert lines[2].startswith("line 3: this is not valid JSON")
    assert not Label.objects.exists()


def test_a_check_that_fails_says_what_and_how_to_cure_it(project: Project, tmp_path: Path) -> None:
    run("export_labels", "--output", tmp_path / "out")
    (tmp_path / "out" / "side.jsonl").unlink()
    assert fails("check_export", tmp_path / "out").splitlines() == [
        "side.jsonl is missing.",
        "Cure: export again, or fetch the files again.",
    ]


def test_the_project_is_asked_for_only_where_there_are_several(tmp_path: Path) -> None:
    assert "create_project" in fails("export_labels", "--output", tmp_path / "a")
    make.project(slug="one")
    run("export_labels", "--output", tmp_path / "b")
    make.project(slug="two")
    assert "one, two" in fails("export_labels", "--output", tmp_path / "c")
    assert "'three'" in fails("export_labels", "--output", tmp_path / "c", "--project", "three")
    run("export_labels", "--output", tmp_path / "d", "--project", "two")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_and_the_file_is_short(name: str) -> None:
    import importlib

    module = importlib.import_module(f"{get_commands()[name]}.management.commands.{name}")
    assert "Example: python manage.py " + name in module.Command.help
    assert len(Path(str(module.__file__)).read_text().splitlines()) <= 40


def test_the_exit_code_tells_success_from_failure(tmp_path: Path) -> None:
    """In processes of their own, as a person starts them."""
    root = Path(__file__).resolve().parents[2]
    env = {"STEPMARK_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "DATABASE_URL": "", "REDIS_URL": ""}

    def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)

    assert manage("migrate", "-v0").returncode == 0
    assert manage("create_project", "Own").returncode == 0
    good = write_lines(tmp_path / "with a space.jsonl", [record()])
    done = manage("import_labels", str(good))
    assert (done.returncode, done.stderr) == (0, "")
    bad = tmp_path / "cut.jsonl.gz"
    bad.write_bytes(gzip.compress(b'{"a": 1}\n')[:12])
    done = manage("import_labels", str(bad))
    assert done.returncode == 1
    assert "cut off or damaged" in done.stderr
    assert "Traceback" not in done.stderr
