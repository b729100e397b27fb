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
    from diskret import utility as utility
    from diskret.attack import Attacker as Attacker
    from diskret.attack.microdata import claims as claims
    from diskret.cellkey import Lookup as Lookup
    from diskret.cellkey import MagnitudeNoise as MagnitudeNoise
    from diskret.cellkey import PerturbationTable as PerturbationTable
    from diskret.errors import DiskretError as DiskretError
    from diskret.hierarchy import Hierarchy as Hierarchy
    from diskret.io import PostgresTable as PostgresTable
    from diskret.keys import SecretKeys as SecretKeys
    from diskret.rules import Sensitivity as Sensitivity
    from diskret.tables import Perturbed as Perturbed
    from diskret.tables import Published as Published
    from diskret.tables import Table as Table
    from diskret.tables.lists import tables_up_to as tables_up_to
    from diskret.workflow import PerturbedResult as PerturbedResult
    from diskret.workflow import Result as Result
    from diskret.workflow import adjust as adjust
    from diskret.workflow import derive as derive
    from diskret.workflow import make_additive as make_additive
    from diskret.workflow import perturb as perturb
    from diskret.workflow import suppress as suppress
    from diskret.workflow import tabulate as tabulate
    from diskret.workflow.assess import assess as assess
    from diskret.workflow.key_risk import key_risk as key_risk
    from diskret.workflow.ledger import Ledger as Ledger
    from diskret.workflow.microdata import Microdata as Microdata
    from diskret.workflow.microdata.result import MicrodataResult as MicrodataResult
    from diskret.workflow.perturb_invariant import perturb_invariant as perturb_invariant
    from diskret.workflow.perturb_records import perturb_records as perturb_records
    from diskret.workflow.perturb_records import perturbation_sql as perturbation_sql
    from diskret.workflow.record_keys import record_keys as record_keys
    from diskret.workflow.round_table import round_table as round_table
    from diskret.workflow.write import write as write

__version__ = "0.1.0"

__all__ = [
    "Attacker",
    "DiskretError",
    "Hierarchy",
    "Ledger",
    "Lookup",
    "MagnitudeNoise",
    "Microdata",
    "MicrodataResult",
    "PerturbationTable",
    "Perturbed",
    "PerturbedResult",
    "PostgresTable",
    "Published",
    "Result",
    "SecretKeys",
    "Sensitivity",
    "Table",
    "__version__",
    "adjust",
    "assess",
    "attack",
    "claims",
    "datasets",
    "derive",
    "key_risk",
    "make_additive",
    "perturb",
    "perturb_invariant",
    "perturb_records",
    "perturbation_sql",
    "record_keys",
    "round_table",
    "rules",
    "suppress",
    "tables_up_to",
    "tabulate",
    "utility",
    "write",
]

_MODULES = {
    "attack": "attack",
    "claims": "attack.microdata.claims",
    "datasets": "datasets",
    "rules": "rules",
    "utility": "utility",
}
_HOME = {
    "Attacker": "attack",
    "DiskretError": "errors",
    "Hierarchy": "hierarchy",
    "Ledger": "workflow.ledger",
    "Lookup": "cellkey",
    "MagnitudeNoise": "cellkey",
    "Microdata": "workflow.microdata",
    "MicrodataResult": "workflow.microdata.result",
    "PerturbationTable": "cellkey",
    "Perturbed": "tables",
    "PerturbedResult": "workflow",
    "PostgresTable": "io",
    "Published": "tables",
    "Result": "workflow",
    "SecretKeys": "keys",
    "Sensitivity": "rules",
    "Table": "tables",
    "adjust": "workflow",
    "assess": "workflow.assess",
    "derive": "workflow",
    "key_risk": "workflow.key_risk",
    "make_additive": "workflow",
    "perturb": "workflow",
    "perturb_invariant": "workflow.perturb_invariant",
    "perturb_records": "workflow.perturb_records",
    "perturbation_sql": "workflow.perturb_records",
    "record_keys": "workflow.record_keys",
    "round_table": "workflow.round_table",
    "suppress": "workflow",
    "tables_up_to": "tables.lists",
    "tabulate": "workflow",
    "write": "workflow.write",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
