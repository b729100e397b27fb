"""SAFE on a census file: seconds, peak memory and deviations.

Run it from the repository as ``python benchmarks/safe.py [records …] [--method METHOD] [--new]
[--margins] [--seconds S | --sweeps N]``; the default is 30,000, 300,000 and 1,000,000 persons,
searched for 20, 180 and 600 seconds. They come from the generator among the reference data, with
430 tables, and stand in a Parquet file; each is made safe in a process of its own, by
`Microdata.safe`. With ``--margins`` all margins of the tables are controlled, too. Peak
memory is that of the whole process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _memory import peak_megabytes
from _records import ROOT

import diskret as dk

_SECONDS = {30_000: 20.0, 300_000: 180.0, 1_000_000: 600.0, 10_000_000: 3600.0}


def main() -> None:
    """Print a table with a line for each size, and deviations by number of variables."""
    asked = _asked()
    print(f"{'records':>10} {'CPU s':>7} {'wall s':>7} {'MB':>6} {'sweeps':>6}  max  mean  exact")
    for n in asked.records:
        census(n)
        options = [f"--method={asked.method}", *(["--new"] if asked.new else [])]
        options += ["--margins"] if asked.margins else []
        options += [f"--seconds={asked.seconds}"] if asked.seconds else []
        options += [f"--sweeps={asked.sweeps}"] if asked.sweeps else []
        command = [sys.executable, __file__, "--here", str(n), *options]
        subprocess.run(command, check=True)


def census(n: int) -> tuple[Path, list[tuple[str, ...]]]:
    """A file of persons, made once, and its tables."""
    sys.path.insert(0, str(ROOT / os.environ.get("DISKRET_REFERENCE_DATA", "../shared") / "bench"))
    import census_gen  # pyright: ignore[reportMissingImports]

    path = Path(gettempdir()) / f"diskret-census-{n}.parquet"
    if not path.exists():
        values = census_gen.make(n)
        tables = census_gen.table_list(values, n)
        columns = {name: pa.array(one.astype(np.int16)) for name, one in values.items()}
        table = pa.table(columns).replace_schema_metadata(
            {"tables": "\n".join(",".join(one) for one in tables)}
        )
        pq.write_table(table, path)
    text = (pq.read_schema(path).metadata or {})[b"tables"].decode()
    return path, [tuple(line.split(",")) for line in text.split("\n")]


def run_here(n: int, asked: Any) -> None:
    """Make one file safe and print its figures."""
    path, tables = census(n)
    options: dict[str, Any] = {"method": asked.method}
    if asked.method == "search":
        options["new_combinations"] = asked.new
        if asked.sweeps:
            options["sweeps"] = asked.sweeps
        else:
            options["time_limit"] = asked.seconds or _SECONDS.get(n, 600.0)
        small = dk.Microdata(census(3_000)[0])  # loops are compiled at a first call
        small.safe([("sex", "age5")], sweeps=60, new_combinations=asked.new)
    began, used = time.perf_counter(), time.process_time()
    made = dk.Microdata(path).safe(
        tables,
        margins=asked.margins,
        progress=_shown if asked.watch else lambda *_: None,
        **options,
    )
    seconds, used = time.perf_counter() - began, time.process_time() - used
    found = made.history[-1].found
    peak = peak_megabytes()
    off = made.deviations().controlled
    assert off is not None
    exact = off.overall.unchanged / off.overall.cells
    print(
        f"{n:>10,} {used:>7.0f} {seconds:>7.0f} {peak:>6.0f} {found.get('sweeps', 0):>6} "
        f"{off.overall.largest:>4.0f} {off.overall.mean:>5.2f} {exact:>6.3f}"
    )
    print("\n".join(off.lines("en")), flush=True)


def _shown(task: str, done: int, total: int) -> None:
    print(
        f"{time.process_time():9.0f} CPU s  {task}, {done} of {total}", file=sys.stderr, flush=True
    )


def _asked() -> Any:
    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=int, nargs="*", default=[30_000, 300_000, 1_000_000])
    parser.add_argument("--method", default="search")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--margins", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--sweeps", type=int, default=0)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--watch", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    if "--here" in sys.argv:
        run_here(_asked().records[0], _asked())
    else:
        main()
