"""Seconds of `tabulate` on records in PostgreSQL against the same records in a Parquet file.

Run it as ``python benchmarks/postgres.py URL [records …]``; the default is 100,000 and
1,000,000 records. It makes a table ``diskret_benchmark`` there and drops it afterwards.
Without a url it does nothing.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyarrow import csv
from tabulate import LEAVES, hierarchy, write_records

from diskret import PostgresTable, Table, tabulate
from diskret.engines.postgres_connection import connect, login

NAME = "diskret_benchmark"
COLUMNS = "nace TEXT, region TEXT, size TEXT, unit BIGINT, turnover BIGINT"


def main(url: str, sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds."""
    print("     records   units  PostgreSQL s  DuckDB s")
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            for units in ("unique", "shared"):
                path = Path(folder) / f"{units}.parquet"
                write_records(path, n, shared=units == "shared")
                load(url, path)
                try:
                    theirs, there = timed(lambda: tabulated(PostgresTable(url, NAME)), rounds)
                finally:
                    drop(url)
                ours, here = timed(lambda path=path: tabulated(path), rounds)
                assert np.array_equal(theirs.measure.sum, ours.measure.sum)
                assert np.array_equal(theirs.measure.largest, ours.measure.largest)
                print(f"{n:>12,} {units:>7} {there:>13.2f} {here:>9.2f}", flush=True)


def tabulated(records: object) -> Table:
    """All cells, units counted once."""
    by = {name: hierarchy(name) for name in LEAVES}
    return tabulate(records, by=by, value="turnover", unit="unit", largest=2)


def timed(work: Callable[[], Table], rounds: int) -> tuple[Table, float]:
    """A result and the median seconds it took, after a first run that does not count."""
    result, seconds = work(), []
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def load(url: str, path: Path) -> None:
    """Copy the records into the database."""
    rows = BytesIO()
    csv.write_csv(pq.read_table(path), rows)
    rows.seek(0)
    connection = connect(login(url), "diskret benchmark")
    connection.ask(f"CREATE TABLE {NAME} ({COLUMNS})")
    connection.driver.execute_unnamed(f"COPY {NAME} FROM STDIN (FORMAT csv, HEADER)", stream=rows)
    connection.ask(f"ANALYZE {NAME}")
    connection.close()


def drop(url: str) -> None:
    """Remove what was made."""
    connection = connect(login(url), "diskret benchmark")
    connection.ask(f"DROP TABLE {NAME}")
    connection.close()


if __name__ == "__main__":
    if sys.argv[1:]:
        main(sys.argv[1], [int(n) for n in sys.argv[2:]] or [100_000, 1_000_000])
    else:
        print("skipped: give the url of a PostgreSQL database")
