"""`import diskret` is quick: it loads nothing but itself."""

import json
import subprocess
import sys

HEAVY = {
    "duckdb",
    "highspy",
    "jinja2",
    "narwhals",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "sqlglot",
    "typer",
    "xlsxwriter",
}


#: A table of 20 cells, protected.
PROTECTED = """
import pyarrow as pa
firms = [("N", 4), ("N", 9), ("N", 2), ("S", 7), ("S", 1), ("S", 8), ("W", 6), ("W", 5), ("W", 3)]
region, firms = zip(*firms)
table = pa.table({"region": region, "activity": [*"xyz"] * 3, "firms": firms})
table = diskret.Table.from_cells(table, by={"region": None, "activity": None}, count="firms")
result = diskret.suppress(table, diskret.rules.MinimumFrequency(3))
assert result.published.suppressed.sum() > 2
"""
#: What neither the verb nor such a table needs.
NOT_FOR_TABLES = {
    "diskret.attack.insiders",
    "diskret.attack.noise",
    "diskret.attack.noise_certificate",
    "diskret.engines",
    "diskret.io.px",
    "diskret.io.statistical",
    "diskret.io.workbook",
    "diskret.protect.insiders",
    "diskret.publish.contract",
    "diskret.publish.pages.public",
    "diskret.spatial",
    "diskret.tables.rollup",
    "diskret.utility",
    "duckdb",
    "jinja2",
    "narwhals",
    "numba",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.special",
    "sqlglot",
    "tomllib",
    "xlsxwriter",
}


def in_new_process(expression: str, before: str = "") -> list[str]:
    script = f"import diskret, json, sys{before}\nprint(json.dumps(sorted({expression})))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_loads_no_heavy_package():
    loaded = {name.partition(".")[0] for name in in_new_process("sys.modules")}
    assert "diskret" in loaded
    assert not loaded & HEAVY


def test_loads_no_folder_of_its_own():
    loaded = in_new_process("sys.modules")
    assert [name for name in loaded if name.startswith("diskret.")] == []


def test_lists_the_public_names():
    names = in_new_process("dir(diskret)")
    assert names == in_new_process("diskret.__all__")
    assert {"suppress", "tabulate", "Hierarchy", "rules"} <= set(names)


def test_suppress_loads_what_it_needs_only():
    loaded = {*in_new_process("[diskret.suppress] and list(sys.modules)")}
    assert not {*NOT_FOR_TABLES, "highspy", "scipy.linalg"} & loaded
    assert not NOT_FOR_TABLES & {*in_new_process("sys.modules", PROTECTED)}
