"""The project's own files, for the rules that read them. No git needed: a tarball is held to them too."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("config", "labeling", "models_prm", "selection")
NOT_OURS = {
    ".git",
    ".venv",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    "node_modules",
    "var",
    "vendor",
    "staticfiles",
    "build",
    "dist",
}
BINARY = {".png", ".jpg", ".woff2", ".ico", ".mo", ".gz", ".safetensors"}


@cache
def all_files() -> tuple[Path, ...]:
    return tuple(sorted(_walk(ROOT)))


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name in NOT_OURS or path.name.endswith(".egg-info") or path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def files(*suffixes: str, under: str = "") -> list[Path]:
    return [path for path in all_files() if path.suffix in suffixes and path.is_relative_to(ROOT / under)]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass(frozen=True)
class Import:
    """One imported name: `at_start` is False inside a function, where it costs nothing at start-up."""

    importer: str
    target: str
    line: int
    at_start: bool


@cache
def modules() -> dict[str, Path]:
    return {module_name(path): path for package in PACKAGES for path in files(".py", under=package)}


@cache
def imports() -> tuple[Import, ...]:
    return tuple(found for module, path in modules().items() for found in _imports_of(module, path))


def _imports_of(module: str, path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    lazy = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            lazy |= {id(child) for child in ast.walk(node)}
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            lazy |= {id(child) for part in node.body for child in ast.walk(part)}
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        for target in _targets(node, package):
            yield Import(module, target, getattr(node, "lineno", 0), id(node) not in lazy)


def _targets(node: ast.AST, package: str) -> Iterator[str]:
    """`from a import b` gives a.b where that is a module of ours, else a."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            full = f"{base}.{alias.name}"
            yield full if full in modules() else base
