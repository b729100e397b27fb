"""CPU seconds and peak memory of `write_perturbed_records` and of `verify` afterwards.

Run it from the repository as ``python benchmarks/perturb_stream.py [codes …]``; the default is 46,
100 and 215 codes of each of three variables, totals included, which makes tables of 97,336,
1,000,000 and 9,938,375 cells, from as many records in a Parquet file. Each figure comes from a
process of its own; CPU seconds are those of all threads, for other work on the machine only adds
to the time on the clock.

DuckDB may use 500 MB before it spills. "written" is the release, block by block;
"verified" is `verify` of it with the office's key. "held" is
``perturb_records(...).write(folder, ["parquet"])``, whose Parquet file is the same, and "held,
verified" is `verify` of that.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
from _memory import peak_megabytes

import diskret as dk
from diskret.cellkey import PerturbationTable
from diskret.engines.duckdb import DuckDBEngine

MODULUS = 2**32
KEYS = dk.SecretKeys(bytes(range(32)))
NAMES = ("A", "B", "C")
ENGINE = partial(DuckDBEngine, memory_limit="500MB")


def main(sizes: list[int]) -> None:
    """Print a table of seconds and peak megabytes."""
    print(f"{'cells':>12} {'what':<16} {'CPU s':>7} {'wall s':>7} {'MB':>6}")
    for codes in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_records(Path(folder) / "records.parquet", codes)
            for what in RUNS:
                command = [sys.executable, __file__, "--run", what, folder, str(codes)]
                output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
                cpu, wall, peak = map(float, output.stdout.split())
                print(
                    f"{codes**3:>12,} {what:<16} {cpu:>7.1f} {wall:>7.1f} {peak:>6.0f}", flush=True
                )


def write_records(path: Path, codes: int) -> None:
    """Write records whose codes and keys follow from their numbers; some codes are frequent."""
    columns = [
        f"'{name}' || CAST(floor({codes - 1} * power(hash(8 * i + {at}) % 1000003 / 1000003, 1.5)) "
        f"AS INTEGER) AS {name}"
        for at, name in enumerate(NAMES)
    ]
    query = (
        f"SELECT {', '.join(columns)}, hash(8 * i + 7) % {MODULUS} AS key FROM range({codes**3})"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query} AS t(i)) TO '{path}'")


def asked(codes: int) -> dict[str, object]:
    """What is asked for."""
    noise = np.arange(-5, 6)
    probabilities = np.array([np.where(noise >= -count, 1.0, 0) for count in range(6)])
    probabilities[0] = noise == 0
    ptable = PerturbationTable(
        np.arange(6), noise, probabilities / probabilities.sum(axis=1, keepdims=True)
    )
    by = {name: dk.Hierarchy.flat([f"{name}{i}" for i in range(codes - 1)]) for name in NAMES}
    return {"by": by, "ptable": ptable, "record_key": "key"}


def written(folder: Path, codes: int) -> None:
    """Straight from the engine."""
    dk.write_perturbed_records(
        folder / "records.parquet", folder / "written", **asked(codes), engine=ENGINE, keys=KEYS
    )


def held(folder: Path, codes: int) -> None:
    """All cells in memory."""
    result = dk.perturb_records(folder / "records.parquet", **asked(codes), engine=ENGINE)
    result.write(folder / "held", ["parquet"], keys=KEYS)


def verified(folder: Path, codes: int, what: str = "written") -> None:
    """As the office can."""
    assert dk.verify(folder / what, keys=KEYS).sealed


RUNS = {
    "written": written,
    "verified": verified,
    "held": held,
    "held, verified": partial(verified, what="held"),
}


def run_here(what: str, folder: Path, codes: int) -> None:
    """Run one contestant and print its figures; imports are not counted as time."""
    with tempfile.TemporaryDirectory() as small:
        write_records(Path(small) / "records.parquet", 3)
        for one in RUNS.values():
            one(Path(small), 3)
    start, used = time.perf_counter(), time.process_time()
    RUNS[what](folder, codes)
    print(time.process_time() - used, time.perf_counter() - start, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main([int(n) for n in sys.argv[1:]] or [46, 100, 215])
