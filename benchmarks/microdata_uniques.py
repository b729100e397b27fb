"""Special uniques, rare combinations and population uniques: CPU seconds and peak memory.

    python benchmarks/microdata_uniques.py [10000 100000 1000000]

Persons come from ``_records.py``, with six keys of 81,000 possible combinations. Seconds are those
of the processor for a call on new microdata, coding of the keys included; a first call on a small
file loads and compiles what is needed. Peak memory is that of the process so far, the file
included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from sys import argv
from typing import Any

import pyarrow as pa
from _memory import peak_megabytes
from _records import KEYS, persons

from diskret import Microdata

VERBS: dict[str, Callable[[Microdata], Any]] = {
    "suda": lambda md: md.suda(),
    "suda, sets of up to 3 keys": lambda md: md.suda(max_size=3),
    "risky combinations of up to 3 keys": lambda md: md.risky_combinations(),
    "the same, weighted": lambda md: md.risky_combinations(threshold=100, weighted=True),
    "population uniques, main": lambda md: md.population_uniques("main"),
    "population uniques, two-way": lambda md: md.population_uniques("two-way"),
    "population uniques, auto": lambda md: md.population_uniques(),
}


def main(arguments: Sequence[str]) -> None:
    sizes = [int(rows) for rows in arguments] or [10_000, 100_000, 1_000_000]
    small = persons(min(sizes))
    for verb in VERBS.values():
        measured(verb, small)
    print("records    seconds  peak MB  call")
    for rows in sizes:
        table = persons(rows)
        print(f"{rows:9,}           {peak_megabytes():7.0f}  ({table.nbytes / 1e6:.0f} MB of data)")
        for name, verb in VERBS.items():
            seconds, found = measured(verb, table)
            print(
                f"{rows:9,} {seconds:8.3f}  {peak_megabytes():7.0f}  {name}: {found!r}", flush=True
            )


def measured(verb: Callable[[Microdata], Any], table: pa.Table) -> tuple[float, Any]:
    """CPU seconds of one call, and what it found."""
    md = Microdata(table, keys=KEYS, weight="w")
    begin = time.process_time()
    found = verb(md)
    return time.process_time() - begin, found


if __name__ == "__main__":
    main(argv[1:])
