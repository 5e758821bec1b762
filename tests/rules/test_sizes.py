"""Size budgets: what outgrows its room is split, or a decision note raises the budget."""

import ast

import pytest

from tests.rules.source import files, name

FUNCTION, PYTHON_FILE, TEMPLATE, SCRIPT = 60, 400, 80, 120

PYTHON = [path for path in files(".py") if "migrations" not in path.parts]


def too_long(paths: list, limit: int) -> list[str]:  # type: ignore[type-arg]
    lengths = ((path, len(path.read_text(encoding="utf-8").splitlines())) for path in paths)
    return [f"{name(path)}: {lines} lines, at most {limit}" for path, lines in lengths if lines > limit]


@pytest.mark.parametrize(
    ("what", "paths", "limit"),
    [
        ("Python files", PYTHON, PYTHON_FILE),
        ("templates", files(".html", under="templates"), TEMPLATE),
        ("scripts of the pages", files(".js", under="static"), SCRIPT),
    ],
)
def test_no_file_outgrows_its_budget(what: str, paths: list, limit: int) -> None:  # type: ignore[type-arg]
    assert paths, f"no {what} found: the rule looks in the wrong place"
    assert not too_long(paths, limit)


def test_no_function_is_longer_than_a_screen() -> None:
    found = []
    for path in PYTHON:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION:
                    found.append(f"{name(path)}:{node.lineno} {node.name}: {lines} lines")
    assert not found, f"at most {FUNCTION} lines"


def test_no_view_does_more_than_translate() -> None:
    """A view fetches, checks, calls one service or query, answers: 20 lines at most."""
    found = []
    for path in PYTHON:
        if "views" not in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            takes_request = (
                isinstance(node, ast.FunctionDef)
                and not node.name.startswith("_")
                and node.args.args
                and "request" in {argument.arg for argument in node.args.args[:2]}
            )
            if isinstance(node, ast.FunctionDef) and takes_request:
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > 20:
                    found.append(f"{name(path)}:{node.lineno} {node.name}: {lines} lines")
    assert not found
