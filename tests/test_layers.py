"""Imports point downwards only: a new import in the wrong direction fails here."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import diskret

PACKAGE = Path(diskret.__file__).parent

# From top to bottom; a folder may import from the layers below its own. The folders of
# the core stand one above the other.
LAYERS = (
    ("cli", "workbench", "service", "argus"),
    ("workflow", "datasets"),
    ("release", "formats", "report"),
    ("suppression", "rounding", "cellkey", "adjustment", "microdata", "safe", "spatial"),
    ("rules", "attack", "risk", "utility"),
    ("system",),
    ("tables",),
    ("engines",),
    ("io",),
    ("population",),
    ("hierarchy",),
    ("keys",),
    ("errors", "kernel", "parallel", "progress"),
)
DEPTH = {folder: depth for depth, layer in enumerate(LAYERS) for folder in layer}
ALLOWED_BESIDE = {("workflow", "datasets")}
# The attack judges the protection, so it builds its equations itself.
FORBIDDEN_BELOW = {("attack", "system")}

MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path):
    module = "diskret." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    assert offences(module, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "why"),
    [
        ("diskret.tables.table", "from diskret.system import System", "points upwards"),
        ("diskret.tables.table", "import diskret.workflow.run", "points upwards"),
        ("diskret.keys.secret", "from diskret.io import source", "points upwards"),
        ("diskret.errors", "from diskret.tables import Table", "points upwards"),
        ("diskret.rules.rule", "from diskret.attack import Attacker", "same layer"),
        ("diskret.datasets.register", "from diskret.workflow import suppress", "same layer"),
        ("diskret.release.write", "def f():\n    from diskret.formats import csv", "same layer"),
        ("diskret.attack.examine", "from diskret.system import System", "must not know"),
        ("diskret.attack.examine", "from ..system.cells import Cell", "must not know"),
        ("diskret.attack.examine", "from diskret.suppression import Pattern", "points upwards"),
        ("diskret.rules.rule", "import diskret", "package root"),
        ("diskret.rules.rule", "from diskret import tables", "package root"),
        ("diskret.rules.rule", "from diskret.misc import thing", "unknown folder"),
        ("diskret.misc.thing", "import numpy", "unknown folder"),
        ("diskret.__init__", "from diskret.errors import DiskretError", "at once"),
    ],
)
def test_offence_is_found(module, source, why):
    found = offences(module, source)
    assert len(found) == 1
    assert why in found[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("diskret.workflow.run", "from diskret.datasets import business_register"),
        ("diskret.workflow.run", "from diskret.attack import examine"),
        ("diskret.attack.examine", "from diskret.attack.attacker import Attacker"),
        ("diskret.attack.examine", "from .attacker import Attacker\nimport numpy"),
        ("diskret.cli.main", "from diskret import __version__"),
        (
            "diskret.keys.secret",
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from diskret.workflow import Result",
        ),
    ],
)
def test_lawful_import_passes(module, source):
    assert offences(module, source) == []


def offences(module: str, source: str) -> list[str]:
    """What is wrong with the imports of a module, in words."""
    parts = module.split(".")
    own = parts[1]
    if own != "__init__" and own not in DEPTH:
        return [f"{module}: unknown folder {own!r}; give it a layer first"]
    found = []
    for line, target in imports(module, ast.parse(source)):
        why = objection(own, target)
        if why is not None:
            found.append(f"{module}, line {line}: {target}: {why}")
    return found


def objection(own: str, target: str) -> str | None:
    parts = target.split(".")
    if parts[0] != "diskret" or target == "diskret.__version__":
        return None
    if own == "__init__":
        return "the package root must not import anything at once"
    if len(parts) == 1:
        return "a module must not import the package root"
    folder = parts[1]
    if folder not in DEPTH:
        return f"unknown folder {folder!r}; give it a layer first"
    if (own, folder) in FORBIDDEN_BELOW:
        return f"{own} must not know {folder}"
    if folder == own or (own, folder) in ALLOWED_BESIDE:
        return None
    if DEPTH[folder] == DEPTH[own]:
        return f"{folder} stands in the same layer as {own}"
    if DEPTH[folder] < DEPTH[own]:
        return f"an import from {own} to {folder} points upwards"
    return None


def imports(module: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full name of every import that happens when the program runs."""
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
        for statement in tree.orelse:
            yield from imports(module, statement)
        return
    if isinstance(tree, ast.Import):
        for alias in tree.names:
            yield tree.lineno, alias.name
    elif isinstance(tree, ast.ImportFrom):
        yield from ((tree.lineno, target) for target in targets(module, tree))
    for child in ast.iter_child_nodes(tree):
        yield from imports(module, child)


def targets(module: str, statement: ast.ImportFrom) -> list[str]:
    source = statement.module or ""
    if statement.level:
        above = module.split(".")[: -statement.level]
        source = ".".join([*above, source] if source else above)
    # "from diskret import x" goes through the package root, whatever x is
    if source == "diskret":
        version_only = [alias.name for alias in statement.names] == ["__version__"]
        return ["diskret.__version__" if version_only else "diskret"]
    return [source]
