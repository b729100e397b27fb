"""The package's own code, read once for all tests of a process that walk it.

They are in one group (``pytestmark = source.TOGETHER``), so that one process reads it for all.
"""

import ast
from functools import cache
from pathlib import Path

import garbage
import pytest

import diskret as dk

PACKAGE = Path(dk.__file__).parent
TOGETHER = pytest.mark.xdist_group("source")


@cache
def trees() -> dict[Path, ast.Module]:
    """Every module of the package by its file."""
    files = sorted(PACKAGE.rglob("*.py"))
    with garbage.nowhere():
        return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def children(of: ast.AST) -> tuple[ast.AST, ...]:
    """What `ast.iter_child_nodes` gives."""
    return tuple(ast.iter_child_nodes(of))


@cache
def nodes(of: ast.AST) -> tuple[ast.AST, ...]:
    """What `ast.walk` gives."""
    found = [of]
    for node in found:
        found += children(node)
    return tuple(found)


def dotted(name: ast.expr) -> str:
    """What `ast.unparse` gives, sooner if there are only names and dots."""
    if isinstance(name, ast.Name):
        return name.id
    if isinstance(name, ast.Attribute):
        return f"{dotted(name.value)}.{name.attr}"
    return ast.unparse(name)
