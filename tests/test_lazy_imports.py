"""Imports inside functions are lazy on purpose: each stands here with its reason, and no other."""

import ast
from collections import defaultdict

from source import PACKAGE, TOGETHER, nodes, trees

pytestmark = TOGETHER

EXTRA = "not installed everywhere"
HEAVY = "heavy, and few calls need it"
COMPILED = "loads the compiler"
SHOWN = "for those who look at it in a notebook"
WRITTEN = "a result that is not written loads no writer"
READ = "for files of that kind"
CROSSED = "for tables that cross each other, with all that places need"
INSIDERS = "for those who protect against contributors"

#: What is imported inside functions, and why. Commands (`cli`) load what they run, as they like.
LAZY = {
    "copy": "hidden by a module of that name beside it",
    "cryptography": EXTRA,
    "duckdb": HEAVY,
    "fcntl": "not on every system",
    "highspy": HEAVY,
    "matplotlib": EXTRA,
    "narwhals": "for frames that are not of Arrow",
    "numba": COMPILED,
    "openpyxl": EXTRA,
    "pandas": EXTRA,
    "patsy": EXTRA,
    "pg8000": EXTRA,
    "polars": EXTRA,
    "py4j": EXTRA,
    "pyarrow": "Parquet loads the file systems of clouds",
    "pyogrio": EXTRA,
    "pyproj": EXTRA,
    "pyreadstat": EXTRA,
    "pyspark": EXTRA,
    "resource": "not on every system",
    "scipy": HEAVY,
    "scramp": EXTRA,
    "statsmodels": EXTRA,
    "tomllib": "reads catalogues, which few calls need",
    "diskret.adjustment.step_kernels": COMPILED,
    "diskret.anonymize.write": WRITTEN,
    "diskret.attack.crossed": CROSSED,
    "diskret.attack.microdata.claims": HEAVY,
    "diskret.attack.microdata.line_kernels": COMPILED,
    "diskret.attack.singled_out_kernels": COMPILED,
    "diskret.cellkey": "for one method of many",
    "diskret.io.json_stat": READ,
    "diskret.io.px": READ,
    "diskret.io.sdmx_csv": READ,
    "diskret.io.statistical": READ,
    "diskret.io.workbook": READ,
    "diskret.microdata.aggregation": COMPILED,
    "diskret.microdata.suppression": COMPILED,
    "diskret.microdata.swap_kernels": COMPILED,
    "diskret.microdata.transition_programme": HEAVY,
    "diskret.outputs.protected": "for those who have cells hidden",
    "diskret.outputs.unit_kernels": COMPILED,
    "diskret.parallel": HEAVY,
    "diskret.protect.assess_plots": HEAVY,
    "diskret.protect.assess_sums": HEAVY,
    "diskret.protect.crossed_unions": CROSSED,
    "diskret.protect.insider_repair": INSIDERS,
    "diskret.protect.insiders": INSIDERS,
    "diskret.protect.safe_intervals": "for those who publish intervals",
    "diskret.protect.tabulate": "an engine, for records only",
    "diskret.protect.write": WRITTEN,
    "diskret.protect.write_internal": WRITTEN,
    "diskret.publish.contract": WRITTEN,
    "diskret.publish.office.tables": WRITTEN,
    "diskret.publish.pages.public": WRITTEN,
    "diskret.publish.store.cells": WRITTEN,
    "diskret.remote.session": "for those who have access",
    "diskret.risk.frequency_kernels": COMPILED,
    "diskret.risk.line_kernels": COMPILED,
    "diskret.risk.robust_kernels": COMPILED,
    "diskret.risk.suda_kernels": COMPILED,
    "diskret.risk.synthetic_kernels": COMPILED,
    "diskret.rounding.small_count_kernels": COMPILED,
    "diskret.safe": COMPILED,
    "diskret.safe.cells_kernels": COMPILED,
    "diskret.safe.hoehne_kernels": COMPILED,
    "diskret.serve.web.app": EXTRA,
    "diskret.serve.web.gate": EXTRA,
    "diskret.serve.web.server": EXTRA,
    "diskret.spatial.area_kernels": COMPILED,
    "diskret.spatial.cut_kernels": COMPILED,
    "diskret.spatial.outlines": "for maps, with all that places need",
    "diskret.spatial.transport_kernels": COMPILED,
    "diskret.suppression.cube_kernels": COMPILED,
    "diskret.suppression.narrowing_kernels": COMPILED,
    "diskret.tables.card": SHOWN,
    "diskret.tables.crossed": CROSSED,
    "diskret.tables.straddler_kernels": COMPILED,
    "diskret.texts": SHOWN,
    "diskret.texts.card": SHOWN,
    "diskret.texts.markup": SHOWN,
    "diskret.utility": HEAVY,
    "diskret.utility.plots": EXTRA,
}


def lazily_imported():
    """What functions import → the modules that do so."""
    found = defaultdict(set)
    for path, tree in trees().items():
        inside = path.relative_to(PACKAGE)
        if inside.parts[0] == "cli":
            continue
        for function in nodes(tree):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in nodes(function):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = [node.module]
                for name in names:
                    ours = name.startswith("diskret.")
                    found[name if ours else name.partition(".")[0]].add(str(inside))
    return found


def test_what_is_imported_inside_functions_is_listed_with_its_reason():
    found = lazily_imported()
    unlisted = {name: sorted(where) for name, where in found.items() if name not in LAZY}
    assert unlisted == {}
    assert sorted(LAZY.keys() - found.keys()) == []
