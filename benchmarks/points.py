"""Points in a Parquet file become cells of 100 m, a table, and a quadtree; and areas of a country.

Run with ``--large`` for 10 million points, too. Each size runs in a process of its own, so that
its peak of memory is its own.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _memory import peak_megabytes

import diskret as dk

SIZES = (100_000, 1_000_000, 10_000_000)
#: Square kilometres with the centres of towns, far fewer than persons.
TOWNS = 4_000
BLOCK = 1_000_000


def write_points(path: Path, number: int) -> None:
    """Persons around towns of very different sizes, a block at a time."""
    draw = np.random.default_rng(1)
    towns = draw.random((TOWNS, 2)) * 600_000 + (4_000_000, 2_600_000)
    share = draw.pareto(1.1, TOWNS) + 0.05
    schema = pa.schema({"x": pa.float64(), "y": pa.float64(), "sex": pa.string()})
    with pq.ParquetWriter(path, schema) as file:
        for begin in range(0, number, BLOCK):
            rows = min(BLOCK, number - begin)
            town = draw.choice(TOWNS, rows, p=share / share.sum())
            spread = 300 * (share[town] ** 0.4)[:, None]
            place = np.round(towns[town] + draw.normal(0, 1, (rows, 2)) * spread, 2)
            sex = pa.array(["f", "m"]).take(pa.array(draw.integers(0, 2, rows)))
            file.write_table(pa.table({"x": place[:, 0], "y": place[:, 1], "sex": sex}))


def run(path: Path) -> None:
    """One size: each step's seconds, CPU seconds of all, peak memory."""
    grid = dk.spatial.Grid(100, spelling="short")
    rule = dk.rules.MinimumFrequency(3)
    records = dk.spatial.located(path, grid, coarser=[200, 400, 800, 1_600, 3_200])
    begin, cpu = perf_counter(), process_time()
    table = dk.tabulate(records, by={"cell": None})
    counted = perf_counter()
    merged = dk.spatial.quadtree(table, rule, "cell")
    done = perf_counter()
    leaves = len(table.dimensions[0].hierarchy.leaves)
    kept = len(merged.dimensions[0].hierarchy.leaves)
    print(
        f"{pq.read_metadata(path).num_rows:>11,} {leaves:>9,} {kept:>8,} "
        f"{counted - begin:>8.1f} {done - counted:>8.1f} {process_time() - cpu:>6.1f} "
        f"{peak_megabytes():>6,.0f}"
    )


def main() -> None:
    if len(sys.argv) > 2:
        run(Path(sys.argv[2]))
        return
    print(f"{'points':>11} {'cells':>9} {'kept':>8} {'table s':>8} {'merge s':>8} {'CPU s':>6} MB")
    for size in SIZES if "--large" in sys.argv else SIZES[:2]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "persons.parquet"
            write_points(path, size)
            subprocess.run([sys.executable, __file__, "--one", str(path)], check=True)


if __name__ == "__main__":
    main()
