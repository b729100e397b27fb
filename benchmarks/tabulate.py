"""Seconds and peak memory of `tabulate` against a plain leaf aggregation in DuckDB.

Run it from the repository as ``python benchmarks/tabulate.py [records …]``; the default is
100,000, 1,000,000 and 10,000,000 records. Each figure comes from a process of its own; the
contestants take turns and the median counts.

Two kinds of data: every record a unit of its own ("unique"), and about a tenth of the units
with several records, mostly in different leaves ("shared").
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _memory import peak_megabytes

from diskret import Hierarchy, tabulate

LEAVES = {"nace": 60, "region": 20, "size": 6}
PLAIN = """
    SELECT nace, region, size, count(*), sum(records), sum(v), sum(abs(v)), max(abs(v), 2)
    FROM (
        SELECT nace, region, size, unit, count(*) AS records, sum(turnover) AS v
        FROM read_parquet($path) GROUP BY nace, region, size, unit
    )
    GROUP BY nace, region, size ORDER BY nace, region, size
"""


def main(sizes: list[int], rounds: int = 5) -> None:
    """Print a table of seconds and peak megabytes."""
    print(
        f"{'records':>12} {'units':>7} {'plain s':>8} {'MB':>6} {'tabulate s':>10} {'MB':>6} ratio"
    )
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            for units in ("unique", "shared"):
                path = Path(folder) / f"{units}.parquet"
                write_records(path, n, shared=units == "shared")
                runs: dict[str, list[tuple[float, float]]] = {"plain": [], "tabulate": []}
                for _ in range(rounds):
                    for what, figures in runs.items():
                        figures.append(measure_apart(what, path))
                (plain, plain_mb), (ours, ours_mb) = (
                    [statistics.median(column) for column in zip(*figures, strict=True)]
                    for figures in runs.values()
                )
                print(
                    f"{n:>12,} {units:>7} {plain:>8.2f} {plain_mb:>6.0f} {ours:>10.2f} "
                    f"{ours_mb:>6.0f} {ours / plain:>5.2f}",
                    flush=True,
                )


def write_records(path: Path, n: int, shared: bool) -> None:
    """Write seeded records to a Parquet file."""
    rng = np.random.default_rng(2025)
    columns: dict[str, pa.Array] = {}
    for name, number in LEAVES.items():
        share = 1 / np.arange(1, number + 1)
        drawn = rng.choice(number, n, p=share / share.sum()).astype(np.int32)
        columns[name] = pa.DictionaryArray.from_arrays(drawn, codes(name)).cast(pa.string())
    unit = rng.permutation(n)
    if shared:
        several = unit >= n * 3 // 4
        unit[several] = n + rng.integers(0, n // 12, int(several.sum()))
    columns["unit"] = pa.array(unit)
    columns["turnover"] = pa.array(np.rint(rng.lognormal(4, 2, n)).astype(np.int64))
    pq.write_table(pa.table(columns), path)


def codes(name: str) -> list[str]:
    """Codes of a dimension, with leading zeros."""
    return [f"{i:02d}" for i in range(LEAVES[name])]


def hierarchy(name: str) -> Hierarchy:
    """Leaves in groups of five below the total."""
    tree, parent = ["Total"], [-1]
    for i, code in enumerate(codes(name)):
        if i % 5 == 0:
            tree.append(f"group {i // 5}")
            parent.append(0)
        tree.append(code)
        parent.append(i // 5 * 6 + 1)
    return Hierarchy(tuple(tree), np.array(parent, dtype=np.int32))


def run_plain(path: Path) -> None:
    """Aggregate by leaf and unit, then by leaf."""
    with duckdb.connect() as connection:
        connection.sql(PLAIN, params={"path": str(path)}).to_arrow_table()


def run_tabulate(path: Path) -> None:
    """The same counts and sums for all cells, totals included, units counted once."""
    by = {name: hierarchy(name) for name in LEAVES}
    tabulate(path, by=by, value="turnover", unit="unit", largest=2)


def measure_apart(what: str, path: Path) -> tuple[float, float]:
    """Seconds and peak megabytes in a process of its own, imports not counted as time."""
    command = [sys.executable, __file__, "--run", what, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    seconds, megabytes = output.split()
    return float(seconds), float(megabytes)


def run_here(what: str, path: Path) -> None:
    """Run one contestant and print its figures."""
    if what == "tabulate":  # compiled code is loaded from the cache, but not at a first call
        write_records(path.with_name("warm.parquet"), 1_000, shared=True)
        run_tabulate(path.with_name("warm.parquet"))
    start = time.perf_counter()
    {"plain": run_plain, "tabulate": run_tabulate}[what](path)
    seconds = time.perf_counter() - start
    print(seconds, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], Path(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [100_000, 1_000_000, 10_000_000])
