"""CPU seconds of `dk.risk.synthetic`: what a synthetic file tells of the original records.

Run it from the repository as ``python benchmarks/synthetic_files.py [records …]``; the default is
1,000, 10,000 and 100,000 records of 10 variables in each of the three files (original,
synthetic, holdout), with two keys and a target, and otherwise the defaults.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes

from diskret import risk


def main(sizes: list[int]) -> None:
    """Print a table of seconds and peak megabytes."""
    draw = np.random.default_rng(1)
    first, second = (persons(200, draw) for _ in range(2))
    risk.synthetic(first, second, ["age", "town"], "ill")  # compiles
    print(f"{'records':>10} {'CPU s':>7} {'MB':>6}")
    for n in sizes:
        known, made, others = (persons(n, draw) for _ in range(3))
        begin = time.process_time()
        found = risk.synthetic(known, made, ["age", "town"], "ill", others)
        seconds = time.process_time() - begin
        if not found.summary():
            raise SystemExit("nothing is said")
        print(f"{n:>10,} {seconds:>7.1f} {peak_megabytes():>6.0f}", flush=True)


def persons(n: int, draw: np.random.Generator) -> pa.Table:
    """Ten variables, four of them numbers."""
    columns = {
        "age": draw.integers(18, 90, n),
        "income": draw.lognormal(7, 1, n).round(2),
        "hours": draw.normal(38, 8, n).round(1),
        "rent": draw.lognormal(6, 0.5, n).round(0),
        "town": draw.choice([f"t{at}" for at in range(50)], n),
        "job": draw.choice([f"j{at}" for at in range(20)], n),
        "sex": draw.choice(["f", "m"], n),
        "school": draw.choice(list("abcd"), n),
        "married": draw.choice(["yes", "no", "was"], n),
        "ill": draw.choice(["yes", "no"], n, p=[0.1, 0.9]),
    }
    return pa.table(columns)


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [1_000, 10_000, 100_000])
