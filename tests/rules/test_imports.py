"""Who may import whom: the table of the house, read from the code itself."""

import subprocess
import sys

import pytest

from tests.rules.source import PACKAGES, ROOT, Import, imports, modules

MACHINES = {"torch", "transformers"}
WEB = {"django", "rest_framework", "celery", "kombu", "axes", "csp", "whitenoise", "gunicorn"}

# What a package may never import, wherever in the file.
NEVER = {
    "labeling": {"models_prm", "selection", *MACHINES},
    "models_prm": {"labeling", "selection", "config", *WEB},
    "selection": MACHINES,
    "config": {"models_prm", *MACHINES},
}
# The doors of the people side that the bridge may use; pages and formats are not among them.
DOORS = {
    "labeling",
    "labeling.access",
    "labeling.errors",
    "labeling.exporting",
    "labeling.hooks",
    "labeling.importing",
    "labeling.jobs",
    "labeling.models",
    "labeling.paging",
    "labeling.quality",
    "labeling.queries",
    "labeling.records",
    "labeling.scope",
    "labeling.services",
}
# Inside the people side arrows point one way: a module imports only what stands on its own floor or lower.
FLOORS = [
    {"errors", "formats", "hooks", "quality", "records", "digests"},
    {"models"},
    {"queries", "jobs", "access", "scope"},
    {"services"},
    {"importing", "exporting", "serializers", "forms", "tasks", "job_kinds", "paging"},
    {
        "views",
        "api",
        "api_errors",
        "context",
        "middleware",
        "navigation",
        "management",
        "templatetags",
        "apps",
    },
    {"urls"},
]


def top(module: str) -> str:
    return module.partition(".")[0]


def shown(found: list[Import]) -> str:
    return "\n".join(f"{i.importer} line {i.line} imports {i.target}" for i in found)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_imports_what_the_table_forbids(package: str) -> None:
    found = [i for i in imports() if top(i.importer) == package and top(i.target) in NEVER[package]]
    assert not found, f"{shown(found)}\nsee the table in CONTRIBUTING.md"


def test_the_bridge_uses_only_the_doors_of_the_people_side() -> None:
    found = [
        i
        for i in imports()
        if top(i.importer) == "selection"
        and top(i.target) == "labeling"
        and ".".join(i.target.split(".")[:2]) not in DOORS
        and i.target not in DOORS
    ]
    assert not found, shown(found)


def test_config_names_the_apps_and_holds_no_logic() -> None:
    found = [
        i
        for i in imports()
        if top(i.importer) == "config" and top(i.target) in {"labeling", "selection", "models_prm"}
    ]
    assert not found, shown(found)


def test_inside_the_people_side_arrows_point_down() -> None:
    floor_of = {name: level for level, names in enumerate(FLOORS) for name in names}

    def floor(module: str) -> int | None:
        parts = module.split(".")
        return floor_of.get(parts[1]) if len(parts) > 1 else None

    found = []
    for i in imports():
        if top(i.importer) != "labeling" or top(i.target) != "labeling" or not i.at_start:
            continue
        here, there = floor(i.importer), floor(i.target)
        if here is not None and there is not None and there > here:
            found.append(i)
    assert not found, shown(found)


def test_every_module_of_the_people_side_has_a_floor() -> None:
    named = set().union(*FLOORS)
    unnamed = (
        {
            module.split(".")[1]
            for module in modules()
            if top(module) == "labeling" and len(module.split(".")) > 1
        }
        - named
        - {"migrations"}
    )
    assert not unnamed, f"give {sorted(unnamed)} a floor in FLOORS"


def test_no_circle_of_imports_at_start() -> None:
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for i in imports():
        if i.at_start and i.target in graph and i.target != i.importer:
            graph[i.importer].add(i.target)
    while free := {module for module, targets in graph.items() if not targets & graph.keys()}:
        graph = {module: targets for module, targets in graph.items() if module not in free}
    # Packages whose __init__ gathers names may hold circles of no harm; modules may not.
    circles = {m: sorted(t & graph.keys()) for m, t in graph.items() if modules()[m].name != "__init__.py"}
    inside = {m: t for m, t in circles.items() if set(t) & circles.keys()}
    assert not inside, f"each of these imports the next: {inside}"


def loaded_after(code: str) -> set[str]:
    """Which of the machine's heavy packages a fresh process holds after running `code`."""
    check = f"{code}\nimport sys\nprint(*[m for m in {sorted(MACHINES)!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", check], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_the_web_process_loads_neither_torch_nor_transformers() -> None:
    code = """
import importlib, pkgutil
from config.wsgi import application
from django.urls import get_resolver
get_resolver().url_patterns
import labeling, selection
for package in (labeling, selection):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(found.name)
"""
    assert loaded_after(code) == set()


@pytest.mark.parametrize(
    "module", ["models_prm", "models_prm.practice", "models_prm.steps", "models_prm.records"]
)
def test_the_light_half_of_the_machine_side_starts_without_torch(module: str) -> None:
    assert loaded_after(f"import {module}") == set()


def test_the_machine_side_starts_without_django() -> None:
    code = "import pkgutil, importlib, models_prm\nfrom models_prm import prm, train, scoring\nimport sys\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print('django' in sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
