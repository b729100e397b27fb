"""Statistical disclosure control: protect tables, prove the protection, publish.

Every name below is imported when it is first used, so that ``import diskret`` costs
nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskret import attack as attack
    from diskret import datasets as datasets
    from diskret import rules as rules
    from diskret.attack import Attacker as Attacker
    from diskret.errors import DiskretError as DiskretError
    from diskret.hierarchy import Hierarchy as Hierarchy
    from diskret.io import PostgresTable as PostgresTable
    from diskret.keys import SecretKeys as SecretKeys
    from diskret.rules import Sensitivity as Sensitivity
    from diskret.tables import Perturbed as Perturbed
    from diskret.tables import Published as Published
    from diskret.tables import Table as Table
    from diskret.workflow import Result as Result
    from diskret.workflow import adjust as adjust
    from diskret.workflow import derive as derive
    from diskret.workflow import make_additive as make_additive
    from diskret.workflow import suppress as suppress
    from diskret.workflow import tabulate as tabulate
    from diskret.workflow.ledger import Ledger as Ledger
    from diskret.workflow.write import write as write

__version__ = "0.1.0"

__all__ = [
    "Attacker",
    "DiskretError",
    "Hierarchy",
    "Ledger",
    "Perturbed",
    "PostgresTable",
    "Published",
    "Result",
    "SecretKeys",
    "Sensitivity",
    "Table",
    "__version__",
    "adjust",
    "attack",
    "datasets",
    "derive",
    "make_additive",
    "rules",
    "suppress",
    "tabulate",
    "write",
]

_MODULES = ("attack", "datasets", "rules")
_HOME = {
    "Attacker": "attack",
    "DiskretError": "errors",
    "Hierarchy": "hierarchy",
    "Ledger": "workflow.ledger",
    "Perturbed": "tables",
    "PostgresTable": "io",
    "Published": "tables",
    "Result": "workflow",
    "SecretKeys": "keys",
    "Sensitivity": "rules",
    "Table": "tables",
    "adjust": "workflow",
    "derive": "workflow",
    "make_additive": "workflow",
    "suppress": "workflow",
    "tabulate": "workflow",
    "write": "workflow.write",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
