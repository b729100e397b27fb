"""Risk of persons: CPU seconds of each step, and peak memory beside the size of the data.

    python benchmarks/microdata_risk.py [rows ...]

Each number of rows runs in a process of its own. With missing values: 3 % of each key.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _memory import peak_megabytes
from _records import KEYS, persons

from diskret import Microdata
from diskret.anonymize.verb import Step

SIZES = (10_000, 100_000, 1_000_000)


def main(sizes: list[int]) -> None:
    """Print a table of seconds and megabytes."""
    print(f"{'rows':>10} {'task':34} {'cpu s':>7}")
    for rows in sizes:
        persons(rows)
        subprocess.run([sys.executable, __file__, "--run", str(rows)], check=True)


def measure(rows: int) -> None:
    """One size; the first call compiles and loads what is needed, so it is not counted."""
    table = persons(rows)
    Microdata(persons(10_000), keys=KEYS, weight="w", household="hid").risk()
    before = peak_megabytes()

    def timed(task: str, call: Callable[[], Any]) -> Any:
        begin = time.process_time()
        made = call()
        print(f"{rows:>10,} {task:34} {time.process_time() - begin:>7.3f}", flush=True)
        return made

    def microdata(household: str | None) -> Microdata:
        return Microdata(table, keys=KEYS, weight="w", household=household)

    timed("frequencies, individual risk", lambda: microdata(None).risk().records)
    md = microdata("hid")
    found = timed("… and household risk", lambda: microdata("hid").risk())
    timed("household frame, threshold", lambda: (found.records, found.threshold(0.01)))
    peak = peak_megabytes() - before
    print(
        f"{rows:>10,} peak memory {peak:,.0f} MB beyond the data, {table.nbytes / 1e6:,.0f} MB",
        flush=True,
    )
    rng = np.random.default_rng(1)
    columns = {name: md.coded(name).without(rng.random(rows) < 0.03).column() for name in KEYS}
    gaps = md.after(columns, Step("hide", {}))
    timed("with missing values", lambda: gaps.risk().records)
    timed("k-map, itself as the population", lambda: gaps.risk(population=table).records)


if __name__ == "__main__":
    if "--run" in sys.argv:
        measure(int(sys.argv[-1]))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
