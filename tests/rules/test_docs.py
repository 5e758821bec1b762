"""The papers say what the code does: settings, commands, links; and nothing of one machine leaks in."""

import re

import pytest

from tests.rules.source import BINARY, ROOT, all_files, files, name

DOCS = [*files(".md", under="docs"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
READ = re.compile(r"""env\.(?:text|flag|integer|words|secret)\(\s*["'](\w+)["']""")
DIRECT = re.compile(r"""os\.environ(?:\.get\(|\[)\s*["'](\w+)["']""")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
# Written so that this file does not hold what it forbids.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|farm)/")
REGISTRY = re.compile(r"https?://[a-z0-9.-]*(?:pypi|npmjs|pythonhosted|debian)")
FOREIGN = {"DJANGO_SETTINGS_MODULE", "CI", "PATH", "PYTHONPATH", "HOME", "OMP_NUM_THREADS"}


def text_of_docs() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCS)


def settings_read() -> set[str]:
    found = set()
    for package in ("config", "labeling", "selection", "models_prm"):
        for path in files(".py", under=package):
            text = path.read_text(encoding="utf-8")
            found |= set(READ.findall(text)) | set(DIRECT.findall(text))
    return found - FOREIGN


def test_every_setting_is_in_the_operations_page() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    settings = settings_read()
    assert {"DATABASE_URL", "STEPMARK_HOME"} <= settings, "the rule no longer finds the settings"
    assert not [setting for setting in sorted(settings) if f"`{setting}`" not in page]


def test_the_operations_page_names_no_setting_that_nothing_reads() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    table = set(re.findall(r"^\| `([A-Z][A-Z_]+)`", page, flags=re.MULTILINE))
    assert table, "the table of settings is gone"
    assert not table - settings_read() - {"STEPMARK_SECRET_KEY_FILE"}


def test_every_management_command_is_documented() -> None:
    text = text_of_docs()
    commands = [
        path.stem for path in files(".py") if path.parent.name == "commands" and not path.stem.startswith("_")
    ]
    assert commands
    assert not [command for command in commands if f"manage.py {command}" not in text]


@pytest.mark.parametrize("path", DOCS, ids=name)
def test_links_between_the_papers_lead_somewhere(path) -> None:  # type: ignore[no-untyped-def]
    targets = [t for t in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in t]
    assert not [t for t in targets if not (path.parent / t).exists()]


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["machine path", "registry address"])
def test_nothing_of_one_machine_is_written_down(pattern: re.Pattern[str]) -> None:
    found = []
    for path in all_files():
        if path.suffix in BINARY:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{name(path)}:{number}: {line.strip()[:80]}")
    assert not found


def test_every_makefile_command_is_in_the_readme_or_contributing() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = re.findall(r"^([a-z]+):.*## ", makefile, flags=re.MULTILINE)
    assert {"setup", "demo", "test"} <= set(commands)
    text = text_of_docs()
    assert not [command for command in commands if f"make {command}" not in text]
