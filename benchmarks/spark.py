"""Seconds and peak memory of `tabulate` in Spark on this machine, against DuckDB.

Run it as ``python benchmarks/spark.py [records …]``; the default is 100,000, 1,000,000 and
10,000,000 records. Each figure comes from a process of its own, whose session runs already and has
answered the question once for a thousand records. Memory is that of Python and of Spark's
own process together, processor seconds those of Spark's alone, and jobs are counted as
Spark's adaptive execution runs them: each stage is one. Nothing else of the session is set than
where it is and what memory it has. Without pyspark or Java it does nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from _memory import peak_megabytes
from tabulate import LEAVES, hierarchy, write_records

from diskret import Table, tabulate
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.spark import SparkEngine

ENGINES = {"spark": SparkEngine, "duckdb": DuckDBEngine}


def main(sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds and megabytes."""
    print("     records   units   Spark s  CPU s  jobs     MB  DuckDB s     MB")
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            for units in ("unique", "shared"):
                path = Path(folder) / f"{units}.parquet"
                write_records(path, n, shared=units == "shared")
                figures = [
                    statistics.median(column)
                    for engine in ENGINES
                    for column in zip(*(apart(engine, path) for _ in range(rounds)), strict=True)
                ]
                del figures[-3:-1]  # DuckDB has no jobs, and no process of its own
                written = "{:>10.2f} {:>6.1f} {:>5.0f} {:>6.0f}{:>10.2f} {:>6.0f}".format(*figures)
                print(f"{n:>12,} {units:>7}{written}", flush=True)


def apart(engine: str, path: Path) -> tuple[float, ...]:
    """Seconds, processor seconds and jobs of Spark, and megabytes, in a process of its own."""
    command = [sys.executable, __file__, "--run", engine, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return tuple(float(figure) for figure in output.split()[-4:])


def here(engine: str, path: Path) -> None:
    """Run one contestant and print its figures."""
    with tempfile.TemporaryDirectory() as folder:
        session = start(folder) if engine == "spark" else None
        write_records(path.with_name("warm.parquet"), 1_000, shared=True)
        tabulated(engine, path.with_name("warm.parquet"))
        if session:
            session.sparkContext.setJobGroup("measured", "measured")
        used, begun = java_seconds(session), time.perf_counter()
        table = tabulated(engine, path)
        seconds, used = time.perf_counter() - begun, java_seconds(session) - used
        megabytes = peak_megabytes() + (java_megabytes(session) if session else 0)
        jobs = 0
        if session:
            jobs = len(session.sparkContext.statusTracker().getJobIdsForGroup("measured"))
            assert np.array_equal(table.measure.sum, tabulated("duckdb", path).measure.sum)
            session.stop()
    print(seconds, used, jobs, megabytes)


def tabulated(engine: str, path: Path) -> Table:
    """All cells, units counted once."""
    by = {name: hierarchy(name) for name in LEAVES}
    return tabulate(path, by=by, value="turnover", unit="unit", largest=2, engine=ENGINES[engine])


def start(folder: str) -> Any:
    """A session on two cores."""
    from pyspark.sql import SparkSession

    options: dict[str, bool | float | int | str | None] = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.local.dir": folder,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master("local[2]").config(map=options).getOrCreate()


def java_seconds(session: Any) -> float:
    """The processor seconds that Spark's own process has used; Linux only."""
    if session is None:
        return 0.0
    process = session.sparkContext._gateway.proc.pid
    stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def java_megabytes(session: Any) -> float:
    """The most memory that Spark's own process held so far; Linux only."""
    process = session.sparkContext._gateway.proc.pid
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1e3 if found else float("nan")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        here(sys.argv[2], Path(sys.argv[3]))
    elif find_spec("pyspark") and shutil.which("java"):
        main([int(n) for n in sys.argv[1:]] or [100_000, 1_000_000, 10_000_000])
    else:
        print("skipped: pyspark or Java is missing")
