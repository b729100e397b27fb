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


def in_new_process(expression: str) -> list[str]:
    script = f"import diskret, json, sys; print(json.dumps(sorted({expression})))"
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
    others = {"duckdb", "jinja2", "numba", "scipy.optimize", "sqlglot", "xlsxwriter"}
    others |= {"diskret.spatial", "diskret.utility", "pyarrow.parquet", "scipy.special"}
    assert not loaded & others
