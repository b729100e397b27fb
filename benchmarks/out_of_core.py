"""Tabulate more records than memory holds, under a limit that the operating system enforces.

Run it from the repository as ``python benchmarks/out_of_core.py [records …]``; the default is
100,000,000 records. They are written to one Parquet file, block by block, and tabulated in a
process that cannot get more than 8 GiB; DuckDB is given 4 GiB of them and spills the rest.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _memory import peak_megabytes
from tabulate import LEAVES, codes, hierarchy

from diskret import tabulate
from diskret.engines.duckdb import DuckDBEngine

LIMIT = 8 * 2**30
FOR_DUCKDB = "4GiB"
BLOCK = 5_000_000


def main(sizes: list[int]) -> None:
    """Print a table of seconds and peak megabytes."""
    print(f"{'records':>12} {'units':>7} {'file MB':>8} {'seconds':>8} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            for units in ("unique", "shared"):
                path = Path(folder) / "records.parquet"
                write_records(path, n, shared=units == "shared")
                command = [sys.executable, __file__, "--run", str(path)]
                run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
                seconds, megabytes = map(float, run.stdout.split())
                print(
                    f"{n:>12,} {units:>7} {path.stat().st_size / 1e6:>8,.0f} {seconds:>8.1f} "
                    f"{megabytes:>8,.0f}",
                    flush=True,
                )


def write_records(path: Path, n: int, shared: bool) -> None:
    """Write seeded records, a block at a time; as in ``tabulate.py``."""
    rng = np.random.default_rng(2025)
    schema = pa.schema(
        [*((name, pa.string()) for name in LEAVES), ("unit", pa.int64()), ("turnover", pa.int64())]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            columns: dict[str, pa.Array] = {}
            for name, number in LEAVES.items():
                share = 1 / np.arange(1, number + 1)
                drawn = rng.choice(number, size, p=share / share.sum()).astype(np.int32)
                columns[name] = pa.DictionaryArray.from_arrays(drawn, codes(name)).cast(pa.string())
            unit = start + rng.permutation(size)
            if shared:
                several = rng.random(size) < 0.25
                unit[several] = n + rng.integers(0, n // 12, int(several.sum()))
            columns["unit"] = pa.array(unit)
            columns["turnover"] = pa.array(np.rint(rng.lognormal(4, 2, size)).astype(np.int64))
            writer.write_table(pa.table(columns, schema=schema))


def run_here(path: Path) -> None:
    """Tabulate under the limit and print seconds and peak megabytes."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    begun = time.perf_counter()
    table = tabulate(
        path,
        by={name: hierarchy(name) for name in LEAVES},
        value="turnover",
        unit="unit",
        largest=2,
        engine=lambda source: DuckDBEngine(source, memory_limit=FOR_DUCKDB),
    )
    seconds = time.perf_counter() - begun
    assert table.count is not None and table.count.ravel()[0] > 0
    print(seconds, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(Path(sys.argv[2]))
    else:
        main([int(argument.replace(",", "")) for argument in sys.argv[1:]] or [100_000_000])
