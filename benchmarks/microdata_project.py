"""Microaggregation along an order, around outliers, and of single variables: CPU seconds, loss.

    python benchmarks/microdata_project.py [10000 100000 1000000]

Persons come from ``_records.py``, with four numeric variables; groups of 3. Seconds are those of
the processor for a call on new microdata, figures for the history included; a first call on a
small file compiles what is needed. Loss is the share of the variance within groups. Peak memory is
that of the process so far, the file included.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from sys import argv
from typing import Any

# one thread, so that waiting threads do not count as seconds
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pyarrow as pa
from _memory import peak_megabytes
from _records import NUMERIC, persons

from diskret import Microdata

METHODS = (
    "single",
    "pca",
    "pca_robust",
    "projection",
    "clustered_pca",
    "clustered_projection",
    "individual",
    "optimal",
    "rmd",
)


def main(arguments: Sequence[str]) -> None:
    sizes = [int(rows) for rows in arguments] or [10_000, 100_000, 1_000_000]
    small = persons(min(sizes))
    for method in METHODS:
        measured(method, small)
    print("records    seconds  peak MB  loss %  alike  method")
    for rows in sizes:
        table = persons(rows)
        print(f"{rows:9,}           {peak_megabytes():7.0f}  ({table.nbytes / 1e6:.0f} MB of data)")
        for method in METHODS:
            seconds, found = measured(method, table)
            print(
                f"{rows:9,} {seconds:8.3f}  {peak_megabytes():7.0f}  {100 * found['sse_sst']:6.3f}"
                f"  {found['alike']:5}  {method}",
                flush=True,
            )


def measured(method: str, table: pa.Table) -> tuple[float, Any]:
    """CPU seconds of one call, and what it found."""
    md = Microdata(table, numeric=NUMERIC)
    begin = time.process_time()
    made = md.microaggregate(method=method, k=3)
    return time.process_time() - begin, made.history[0].found


if __name__ == "__main__":
    main(argv[1:])
