"""Combinations of keys and individual risk of more records than memory holds.

Run it from the repository as ``python benchmarks/microdata_engine.py [records …]``; the defaults
are 1, 10 and 100 million records in Parquet files of 10 million each. DuckDB is given 4 GB. The
records are those of ``make_synth.py`` among the reference data, drawn block by block: six keys, a
weight, and one of so many households that 2.5 persons live in each. A second file has ten keys and
combinations that are mostly unique, so that DuckDB spills.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _memory import peak_megabytes
from numpy.typing import NDArray

import diskret as dk

MEMORY = "4GB"
BLOCK = 2_000_000
FILE = 10_000_000
#: Categories of the six keys, and how uneven they are.
SIX = {
    "region": (9, 0.6),
    "agegrp": (15, 0.3),
    "sex": (2, 0.0),
    "marital": (5, 1.2),
    "educ": (6, 0.8),
    "occ": (10, 0.9),
}
#: Ten keys with 2.5 * 10^13 possible combinations.
TEN = {f"key{i}": (size, 0.3) for i, size in enumerate((60, 15, 2, 5, 6, 10, 40, 30, 25, 16))}
TASKS = ("group by", "key_risk", "households", "write_records")


def main(sizes: list[int]) -> None:
    """Print a table of seconds and peak megabytes."""
    print(
        f"{'records':>12} {'keys':>4} {'task':>14} {'seconds':>8} {'CPU':>7} {'peak MB':>8}  found"
    )
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            measure(Path(folder), n, SIX)
        measure(Path(folder), max(sizes) * 3 // 10, TEN)


def measure(folder: Path, n: int, keys: dict[str, tuple[int, float]]) -> None:
    """Write records, and run each task in a process of its own."""
    paths = write_records(folder, n, keys)
    for task in TASKS:
        command = [sys.executable, __file__, "--run", task, str(len(keys)), *map(str, paths)]
        run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
        print(f"{n:>12,} {len(keys):>4} {task:>14} {run.stdout}", end="", flush=True)
    for path in paths:
        path.unlink()


def write_records(folder: Path, n: int, keys: dict[str, tuple[int, float]]) -> list[Path]:
    """Write seeded records, a block at a time."""
    rng = np.random.default_rng(20240501)
    kinds = {**dict.fromkeys(keys, pa.int16()), "w": pa.float64(), "hid": pa.int32()}
    schema = pa.schema(kinds)
    paths: list[Path] = []
    for start in range(0, n, FILE):
        paths.append(folder / f"records-{len(paths)}.parquet")
        with pq.ParquetWriter(paths[-1], schema) as writer:
            for at in range(start, min(n, start + FILE), BLOCK):
                size = min(BLOCK, n - at)
                columns = [drawn(rng, size, *key) for key in keys.values()]
                weights = np.round(rng.uniform(20, 60, size=size), 1)
                home = rng.integers(0, max(n * 2 // 5, 1), size).astype(np.int32)
                writer.write_table(pa.table([*columns, weights, home], schema=schema))
    return paths


def drawn(rng: np.random.Generator, n: int, size: int, skew: float) -> NDArray[np.int16]:
    """Codes 1 … size, the first ones more often."""
    share = 1 / np.arange(1, size + 1) ** skew
    return (rng.choice(size, size=n, p=share / share.sum()) + 1).astype(np.int16)


def run_here(task: str, number: int, paths: list[Path]) -> None:
    """Run a task; print seconds, CPU seconds, peak megabytes and what was found."""
    keys = list(SIX if number == len(SIX) else TEN)
    key_risk = dk.key_risk  # imported now, before the clock runs
    started, worked = time.perf_counter(), time.process_time()
    if task == "group by":
        found = group_by(keys, paths)
    else:
        risk = key_risk(paths, keys, weight="w", memory_limit=MEMORY)
        found = repr(risk)
        if task == "households":
            started, worked = time.perf_counter(), time.process_time()
            found = repr(risk.households("hid"))
        if task == "write_records":
            started, worked = time.perf_counter(), time.process_time()
            with tempfile.TemporaryDirectory(dir=paths[0].parent) as folder:
                risk.write_records(Path(folder) / "risk.parquet")
    seconds, cpu = time.perf_counter() - started, time.process_time() - worked
    print(f"{seconds:>8.1f} {cpu:>7.1f} {peak_megabytes():>8,.0f}  {found}")


def group_by(keys: list[str], paths: list[Path]) -> str:
    """The same aggregation in plain DuckDB, with floating point sums that depend on threads."""
    listed = ", ".join(keys)
    with tempfile.TemporaryDirectory() as spill:
        connection = duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": spill})
        files = connection.read_parquet([str(path) for path in paths])
        grouped = files.aggregate(f"{listed}, COUNT(*), SUM(w)", listed)
        blocks: Any = grouped.to_arrow_reader(1_000_000)
        return f"{sum(len(block) for block in blocks):,} combinations"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]), [Path(path) for path in sys.argv[4:]])
    else:
        main([int(size) for size in sys.argv[1:]] or [1_000_000, 10_000_000, 100_000_000])
