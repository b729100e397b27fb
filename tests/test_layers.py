"""Imports point downwards only, and no modules import each other in a circle."""

import ast
import importlib.util
from collections import Counter
from pathlib import Path

import pytest
from source import PACKAGE, TOGETHER, nodes, trees

pytestmark = TOGETHER
ROOT = Path(__file__).parent.parent


def script(name):
    """A program beside the package, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COUNT = script("count")

#: Folder (or module beside them) → its layer; an import goes to a lower number. Folders of one
#: number do not import each other. The house that is being moved into, and what is where today.
HOUSE = {
    # interfaces; python -m diskret is the command line
    "__main__": 91,
    "cli": 90,
    # one page for what the commands do, started by one of them
    "workbench": 88,
    # what is asked over the wire: tables in real time, remote access, the checker's desk
    "serve": 86,
    # remote access reads its files as jobs do, keeps a log in the ledger, and lets results go
    # through output checking
    "remote": 85,
    # jobs; τ-ARGUS files become jobs
    "argus": 81,
    "plan": 81,
    "jobs": 80,
    # finds by name what the docstrings of all of them say
    "citation": 74,
    # verbs
    "outputs": 73,
    "ledger": 71,
    "protect": 70,
    "anonymize": 70,
    "datasets": 70,
    # publish
    "publish": 60,
    # methods
    "suppression": 50,
    "rounding": 50,
    "cellkey": 50,
    "adjustment": 50,
    "microdata": 50,
    "safe": 50,
    "spatial": 50,
    # assessment; the risk of synthetic files asks whether they look like the original
    "risk": 41,
    "rules": 40,
    "attack": 40,
    "utility": 40,
    # core, one above the other
    "system": 27,
    "tables": 26,
    "engines": 25,
    "io": 24,
    "population": 23,
    "hierarchy": 22,
    "keys": 21,
    "texts": 20,
    # base
    "deadline": 1,
    "drawing": 1,
    "parallel": 1,
    "parameters": 1,
    "solver": 1,
    "disk": 0,
    "effort": 0,
    "errors": 0,
    "graphs": 0,
    "kernel": 0,
    "progress": 0,
    "unbiased_rounding": 0,
    "unrepeatable": 0,
}
#: What must not know of each other although the layers allow it: the attack judges the
#: protection, so it builds its equations and programmes itself; the guard judges what the
#: writers wrote.
STRANGERS = {
    ("attack", "solver"),
    ("attack", "system"),
    ("publish.guard", "publish.formats"),
    ("publish.guard", "publish.pages"),
}


def test_imports_point_downwards():
    found = [
        offence
        for path, tree in trees().items()
        for offence in offences(
            "diskret." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts), tree
        )
    ]
    assert found == [], "\n".join(found)


def test_no_modules_import_each_other_in_a_circle():
    graph = {COUNT.module_of(path): COUNT.imports(path, tree) for path, tree in trees().items()}
    found = [", ".join(sorted(circle)) for circle in COUNT.circles(graph)]
    assert found == [], "modules import each other: " + "; ".join(found)


def test_no_two_files_of_tests_have_one_name():
    """They are imported by their names, so the second one could not be."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, number in names.items() if number > 1] == []


def test_a_circle_is_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert COUNT.circles(graph) == [{"a", "b", "c"}]
    inside = "def f():\n    from diskret.tables import table\n    import diskret.kernel as k\n"
    found = COUNT.imported("diskret.tables.cells", ast.parse(inside))
    assert [name for _, name in found] == ["diskret.tables.table", "diskret.kernel"]
    types = "if TYPE_CHECKING:\n    from diskret.tables import table\n"
    assert list(COUNT.imported("diskret.tables.cells", ast.parse(types))) == []


@pytest.mark.parametrize(
    ("module", "source", "why"),
    [
        ("diskret.tables.table", "from diskret.system import System", "points upwards"),
        ("diskret.tables.table", "import diskret.jobs.run", "points upwards"),
        ("diskret.keys.secret", "from diskret.io import source", "points upwards"),
        ("diskret.errors", "from diskret.tables import Table", "points upwards"),
        ("diskret.rules.rule", "from diskret.attack import Attacker", "same layer"),
        ("diskret.datasets.register", "from diskret.ledger import Ledger", "points upwards"),
        ("diskret.protect.suppress", "from diskret.ledger import Ledger", "points upwards"),
        ("diskret.protect.suppress", "from diskret.anonymize import pram", "same layer"),
        ("diskret.rules.rule", "def f():\n    from diskret.attack import examine", "same layer"),
        ("diskret.attack.examine", "from diskret.system import System", "must not know"),
        ("diskret.attack.examine", "from ..system.cells import Cell", "must not know"),
        ("diskret.attack.shortest", "from diskret.solver import Solver", "must not know"),
        ("diskret.attack.examine", "from diskret.suppression import Pattern", "points upwards"),
        (
            "diskret.publish.guard.read",
            "from diskret.publish.formats import data_files",
            "must not know",
        ),
        ("diskret.publish.guard.read", "from ..pages.report import Page", "must not know"),
        ("diskret.rules.rule", "import diskret", "package root"),
        ("diskret.rules.rule", "from diskret import Table", "package root"),
        ("diskret.rules.rule", "from diskret.misc import thing", "unknown folder"),
        ("diskret.misc.thing", "import numpy", "unknown folder"),
        ("diskret.__init__", "from diskret.errors import DiskretError", "at once"),
    ],
)
def test_offence_is_found(module, source, why):
    found = offences(module, ast.parse(source))
    assert len(found) == 1
    assert why in found[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("diskret.jobs.run", "from diskret.datasets import business_register"),
        ("diskret.jobs.run", "from diskret.attack import examine"),
        ("diskret.outputs.check", "from diskret.ledger import Ledger"),
        ("diskret.publish.write", "from diskret.publish.guard import check"),
        ("diskret.attack.examine", "from diskret.attack.attacker import Attacker"),
        ("diskret.attack.examine", "from .attacker import Attacker\nimport numpy"),
        ("diskret.cli.main", "from diskret import __version__"),
        (
            "diskret.keys.secret",
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from diskret.protect import Result",
        ),
    ],
)
def test_lawful_import_passes(module, source):
    assert offences(module, ast.parse(source)) == []


def offences(module: str, tree: ast.Module) -> list[str]:
    """What is wrong with the imports of a module, in words."""
    own = module.split(".")[1]
    if own != "__init__" and own not in HOUSE:
        return [f"{module}: unknown folder {own!r}; give it a layer first"]
    found = []
    for line, target in COUNT.imported(module, tree):
        why = objection(module, target)
        if why is not None and line not in lines_of_version(tree):
            found.append(f"{module}, line {line}: {target}: {why}")
    return found


def lines_of_version(tree: ast.Module) -> set[int]:
    """Where nothing but the version is asked of the package root, which is lawful."""
    return {
        node.lineno
        for node in nodes(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "diskret"
        if [(alias.name, alias.asname) for alias in node.names] == [("__version__", None)]
    }


def objection(module: str, target: str) -> str | None:
    """What speaks against importing one module from another."""
    parts = target.split(".")
    own = module.split(".")[1]
    if parts[0] != "diskret":
        return None
    if own == "__init__":
        return "the package root must not import anything at once"
    if len(parts) == 1:
        return "a module must not import the package root"
    folder = parts[1]
    if folder not in HOUSE:
        return f"unknown folder {folder!r}; give it a layer first"
    for one, other in STRANGERS:
        if below(module, one) and below(target, other):
            return f"{one} must not know {other}"
    if folder == own:
        return None
    if HOUSE[folder] == HOUSE[own]:
        return f"{folder} stands in the same layer as {own}"
    if HOUSE[folder] > HOUSE[own]:
        return f"an import from {own} to {folder} points upwards"
    return None


def below(module: str, folder: str) -> bool:
    """Whether a module is this folder or lies in it."""
    return f"{module}.".startswith(f"diskret.{folder}.")
