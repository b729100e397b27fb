"""CPU seconds and peak memory of `write_perturbed_records` and of `verify` afterwards.

Run it from the repository as ``python benchmarks/perturb_stream.py [codes …]``; the default is 46,
100 and 215 codes of each of three variables, totals included, which makes tables of 97,336,
1,000,000 and 9,938,375 cells, from as many records in a Parquet file. Each figure comes from a
process of its own; CPU seconds are those of all threads, for other work on the machine only adds
to the time on the clock.

DuckDB may use 200 MB before it spills. "written" is the release, block by block;
"verified" is `verify` of it with the office's key. "held" is
``perturb_records(...).write(folder, ["parquet"])``, whose Parquet file is the same, and "held,
verified" is `verify` of that.

The name of one of them measures that one alone; ``spark``, or the url of a PostgreSQL database,
"written" from there. In the database a table ``diskret_benchmark`` is made and dropped. Seconds and
memory are then those of this process only, not of the server or of Spark's own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from _memory import peak_megabytes

import diskret as dk
from diskret.cellkey import PerturbationTable
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.postgres_connection import connect, login
from diskret.engines.spark import SparkEngine
from diskret.io import PostgresTable

MODULUS = 2**32
KEYS = dk.SecretKeys(bytes(range(32)))
NAMES = ("A", "B", "C")
TABLE = "diskret_benchmark"
ENGINE = partial(DuckDBEngine, memory_limit="200MB")


def main(sizes: list[int], place: str = "") -> None:
    """Print a table of seconds and peak megabytes."""
    if "://" in place:
        for codes in sizes:
            load(place, codes)
            measure("written", place, codes)
            ask(place, f"DROP TABLE {TABLE}")
        return
    print(f"{'cells':>12} {'what':<16} {'CPU s':>7} {'wall s':>7} {'MB':>6}")
    for codes in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_records(Path(folder) / "records.parquet", codes)
            for what in [place] if place else RUNS:
                measure(what, folder, codes)


def measure(what: str, place: str, codes: int) -> None:
    """Print the figures of one run in a process of its own."""
    command = [sys.executable, __file__, "--run", what, place, str(codes)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    cpu, wall, peak = map(float, output.split())
    print(f"{codes**3:>12,} {what:<16} {cpu:>7.1f} {wall:>7.1f} {peak:>6.0f}", flush=True)


def load(url: str, codes: int) -> None:
    """Make such records in a database, with its own random numbers."""
    columns = [f"'{n}' || floor({codes - 1} * power(random(), 1.5))::int AS \"{n}\"" for n in NAMES]
    key = f"floor({MODULUS} * random())::bigint AS key"
    ask(url, "SELECT setseed(0.5)")
    made = f"SELECT {', '.join(columns)}, {key} FROM generate_series(1, {codes**3})"
    ask(url, f"CREATE TABLE {TABLE} AS {made}")


def ask(url: str, statement: str) -> None:
    """Run a statement in a database."""
    connection = connect(login(url), "diskret benchmark")
    try:
        connection.ask(statement)
    finally:
        connection.close()


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


def asked(codes: int) -> dict[str, Any]:
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


def from_postgres(url: str, folder: Path, codes: int) -> None:
    """The same from a database."""
    dk.write_perturbed_records(PostgresTable(url, TABLE), folder / "out", **asked(codes), keys=KEYS)


def from_spark(folder: Path, codes: int) -> None:
    """The same from Spark."""
    dk.write_perturbed_records(
        folder / "records.parquet", folder / "out", **asked(codes), engine=SparkEngine, keys=KEYS
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


def run_here(what: str, place: str, codes: int) -> None:
    """Run one contestant and print its figures; imports are not counted as time."""
    with tempfile.TemporaryDirectory() as small:
        write_records(Path(small) / "records.parquet", 3)
        for one in RUNS.values():
            one(Path(small), 3)
        start, used = time.perf_counter(), time.process_time()
        if "://" in place:
            from_postgres(place, Path(small), codes)
        elif what == "spark":
            from_spark(Path(place), codes)
        else:
            RUNS[what](Path(place), codes)
    print(time.process_time() - used, time.perf_counter() - start, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        numbers = [int(given) for given in sys.argv[1:] if given.isdigit()]
        places = [given for given in sys.argv[1:] if not given.isdigit()]
        main(numbers or [46, 100, 215], *places[:1])
