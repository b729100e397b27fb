"""Statistical disclosure control: protect tables, prove the protection, publish.

Every name below is imported when it is first used, so that ``import diskret`` costs
nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskret import argus as argus
    from diskret import attack as attack
    from diskret import datasets as datasets
    from diskret import outputs as check
    from diskret import plan as plan
    from diskret import remote as remote
    from diskret import risk as risk
    from diskret import rules as rules
    from diskret import serve as serve
    from diskret import spatial as spatial
    from diskret import utility as utility
    from diskret.anonymize.data import Microdata as Microdata
    from diskret.anonymize.result import MicrodataResult as MicrodataResult
    from diskret.attack import Attacker as Attacker
    from diskret.attack.microdata import claims as claims
    from diskret.cellkey import Lookup as Lookup
    from diskret.cellkey import MagnitudeNoise as MagnitudeNoise
    from diskret.cellkey import PerturbationTable as PerturbationTable
    from diskret.citation import cite as cite
    from diskret.errors import DiskretError as DiskretError
    from diskret.hierarchy import Hierarchy as Hierarchy
    from diskret.hierarchy.draw import draw_tree as draw_tree
    from diskret.io import DataFile as DataFile
    from diskret.io import PostgresTable as PostgresTable
    from diskret.jobs.run import run_job as run_job
    from diskret.keys import SecretKeys as SecretKeys
    from diskret.ledger.ledger import Ledger as Ledger
    from diskret.protect import derive as derive
    from diskret.protect.adjust import adjust as adjust
    from diskret.protect.assess import assess as assess
    from diskret.protect.audit import audit as audit
    from diskret.protect.draw_intervals import draw_intervals as draw_intervals
    from diskret.protect.draw_map import draw_map as draw_map
    from diskret.protect.draw_table import draw_table as draw_table
    from diskret.protect.key_risk import key_risk as key_risk
    from diskret.protect.make_additive import make_additive as make_additive
    from diskret.protect.map_page import map_page as map_page
    from diskret.protect.perturb import perturb as perturb
    from diskret.protect.perturb_invariant import perturb_invariant as perturb_invariant
    from diskret.protect.perturb_records import perturb_records as perturb_records
    from diskret.protect.perturb_records import perturbation_sql as perturbation_sql
    from diskret.protect.perturbed_result import PerturbedResult as PerturbedResult
    from diskret.protect.record_keys import record_keys as record_keys
    from diskret.protect.result import Result as Result
    from diskret.protect.round_table import round_table as round_table
    from diskret.protect.suppress import suppress as suppress
    from diskret.protect.tabulate import tabulate as tabulate
    from diskret.protect.write import write as write
    from diskret.protect.write_perturbed_records import (
        write_perturbed_records as write_perturbed_records,
    )
    from diskret.publish.signature import sign as sign
    from diskret.publish.verify.folder import verify as verify
    from diskret.rules import Sensitivity as Sensitivity
    from diskret.serve.client import connect as connect
    from diskret.tables import Perturbed as Perturbed
    from diskret.tables import Published as Published
    from diskret.tables import Table as Table
    from diskret.tables.lists import tables_up_to as tables_up_to

__version__ = "0.1.0"

__all__ = [
    "Attacker",
    "DataFile",
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
    "argus",
    "assess",
    "attack",
    "audit",
    "check",
    "cite",
    "claims",
    "connect",
    "datasets",
    "derive",
    "draw_intervals",
    "draw_map",
    "draw_table",
    "draw_tree",
    "key_risk",
    "make_additive",
    "map_page",
    "perturb",
    "perturb_invariant",
    "perturb_records",
    "perturbation_sql",
    "plan",
    "record_keys",
    "remote",
    "risk",
    "round_table",
    "rules",
    "run_job",
    "serve",
    "sign",
    "spatial",
    "suppress",
    "tables_up_to",
    "tabulate",
    "utility",
    "verify",
    "write",
    "write_perturbed_records",
]

_MODULES = {
    "argus": "argus",
    "attack": "attack",
    "check": "outputs",
    "claims": "attack.microdata.claims",
    "datasets": "datasets",
    "derive": "protect.derive",
    "plan": "plan",
    "remote": "remote",
    "risk": "risk",
    "rules": "rules",
    "serve": "serve",
    "spatial": "spatial",
    "utility": "utility",
}
_HOME = {
    "Attacker": "attack",
    "DataFile": "io",
    "DiskretError": "errors",
    "Hierarchy": "hierarchy",
    "Ledger": "ledger.ledger",
    "Lookup": "cellkey",
    "MagnitudeNoise": "cellkey",
    "Microdata": "anonymize.data",
    "MicrodataResult": "anonymize.result",
    "PerturbationTable": "cellkey",
    "Perturbed": "tables",
    "PerturbedResult": "protect.perturbed_result",
    "PostgresTable": "io",
    "Published": "tables",
    "Result": "protect.result",
    "SecretKeys": "keys",
    "Sensitivity": "rules",
    "Table": "tables",
    "adjust": "protect.adjust",
    "assess": "protect.assess",
    "audit": "protect.audit",
    "cite": "citation",
    "connect": "serve.client",
    "draw_intervals": "protect.draw_intervals",
    "draw_map": "protect.draw_map",
    "draw_table": "protect.draw_table",
    "draw_tree": "hierarchy.draw",
    "key_risk": "protect.key_risk",
    "make_additive": "protect.make_additive",
    "map_page": "protect.map_page",
    "perturb": "protect.perturb",
    "perturb_invariant": "protect.perturb_invariant",
    "perturb_records": "protect.perturb_records",
    "perturbation_sql": "protect.perturb_records",
    "record_keys": "protect.record_keys",
    "round_table": "protect.round_table",
    "run_job": "jobs.run",
    "sign": "publish.signature",
    "suppress": "protect.suppress",
    "tables_up_to": "tables.lists",
    "tabulate": "protect.tabulate",
    "verify": "publish.verify.folder",
    "write": "protect.write",
    "write_perturbed_records": "protect.write_perturbed_records",
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
