"""The package's own code, read once for all tests of a process that walk it.

They are in one group (``pytestmark = source.TOGETHER``), so that one process reads it for all.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

import diskret as dk

PACKAGE = Path(dk.__file__).parent
TOGETHER = pytest.mark.xdist_group("source")


@cache
def trees() -> dict[Path, ast.Module]:
    """Every module of the package by its file."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def nodes(of: ast.AST) -> tuple[ast.AST, ...]:
    """What `ast.walk` gives."""
    return tuple(ast.walk(of))
