"""The public names of models_prm say what they are: in a notebook the docstring is the page."""

import ast
from collections.abc import Iterator

import pytest

from tests.rules.source import files, name

LIBRARY = files(".py", under="models_prm")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Documented]]:
    """Public classes and functions of a module, and the public methods of those classes."""
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("_"):
            yield f"{prefix}{node.name}", node
            # A problem template overrides what `Template` documents, and its helpers are its own affair.
            if isinstance(node, ast.ClassDef) and "register" not in map(ast.unparse, node.decorator_list):
                yield from public(node.body, f"{node.name}.")


@pytest.mark.parametrize("path", LIBRARY, ids=name)
def test_every_public_name_of_the_library_has_a_docstring(path) -> None:  # type: ignore[no-untyped-def]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: list[tuple[str, Documented]] = [("the module", tree), *public(tree.body)]
    assert not [called for called, node in names if not ast.get_docstring(node)]
