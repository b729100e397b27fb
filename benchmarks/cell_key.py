"""Seconds and peak memory of the cell key method: counts in all margins, and sums.

Run it from the repository as ``python benchmarks/cell_key.py [records …]``; the default is
100,000, 1,000,000 and 10,000,000 seeded records. Each size has a process of its own; imports and
a first call on few records, which loads compiled code, don't count.

Counts: five variables, 55,692 cells (as table k5_1m of the reference data). Sums: two variables,
10,101 cells (as t2_10k), the largest contribution scales the noise. `tabulate` is CPU and wall
seconds from records to counts and keys of all cells, `perturb` from there to certified values.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes

import diskret as dk

COUNTS = ((5, 4), (4, 3), (6,), (5,), (2,))
SUMS = ((9, 9), (10, 10))
MODULUS = 10**8


def main(sizes: list[int]) -> None:
    """Print a table of seconds and peak megabytes."""
    print(
        f"{'records':>12} {'what':>7} {'cells':>7} {'tabulate cpu':>12} {'wall':>6} "
        f"{'perturb cpu':>11} {'wall':>6} {'MB':>6}"
    )
    for records in sizes:
        for what in ("counts", "sums"):
            command = [sys.executable, __file__, "--run", what, str(records)]
            done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
            print(done.stdout, end="", flush=True)


def records_of(what: str, number: int) -> tuple[pa.Table, dict[str, dk.Hierarchy]]:
    """Seeded records with keys, and the code trees of their variables."""
    rng = np.random.default_rng(2026)
    by: dict[str, dk.Hierarchy] = {}
    columns: dict[str, pa.Array] = {}
    for letter, branching in zip("ABCDE", COUNTS if what == "counts" else SUMS, strict=False):
        by[letter] = tree(letter, branching)
        leaves = pa.array([by[letter].codes[i] for i in by[letter].leaves.tolist()])
        share = 1 / np.arange(1, len(leaves) + 1) ** 0.7
        drawn = rng.choice(len(leaves), number, p=share / share.sum()).astype(np.int32)
        columns[letter] = pa.DictionaryArray.from_arrays(drawn, leaves).cast(pa.string())
    columns["key"] = pa.array(rng.integers(0, MODULUS, number))
    columns["value"] = pa.array(np.maximum(np.rint(rng.lognormal(4, 1.5, number)), 1).astype(int))
    return pa.table(columns), by


def tree(letter: str, branching: tuple[int, ...]) -> dk.Hierarchy:
    """Codes like A, A03, A0307 below each other."""
    codes, parent = [""], [-1]

    def grow(at: int, levels: tuple[int, ...]) -> None:
        for child in range(levels[0] if levels else 0):
            codes.append(f"{codes[at]}{child + 1:02}")
            parent.append(at)
            grow(len(codes) - 1, levels[1:])

    grow(0, branching)
    return dk.Hierarchy(tuple(letter + code for code in codes), np.array(parent, dtype=np.int32))


def run(what: str, number: int) -> None:
    """Tabulate and perturb in this process; one line."""
    counts = dk.PerturbationTable.maximum_entropy(max_noise=4, variance=2, small_counts=1)
    sums = dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1)
    noise = counts if what == "counts" else dk.MagnitudeNoise(sums)
    once(what, noise, *records_of(what, 1_000))
    frame, by = records_of(what, number)
    table, tabulated = once(what, noise, frame, by)
    print(
        f"{number:>12,} {what:>7} {table.published.value.size:>7,} {tabulated[0]:>12.3f} "
        f"{tabulated[1]:>6.2f} {tabulated[2]:>11.3f} {tabulated[3]:>6.2f} {peak_megabytes():>6.0f}"
    )


def once(
    what: str,
    noise: dk.PerturbationTable | dk.MagnitudeNoise,
    frame: pa.Table,
    by: dict[str, dk.Hierarchy],
) -> tuple[dk.PerturbedResult, list[float]]:
    """The result, and CPU and wall seconds of both steps."""
    clock = [time.process_time(), time.perf_counter()]
    value, largest = (None, 0) if what == "counts" else ("value", 1)
    table = dk.tabulate(
        frame, by=by, value=value, largest=largest, record_key="key", key_modulus=MODULUS
    )
    clock += [time.process_time(), time.perf_counter()]
    result = dk.perturb(table, noise)
    clock += [time.process_time(), time.perf_counter()]
    return result, [after - before for before, after in zip(clock, clock[2:], strict=False)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [100_000, 1_000_000, 10_000_000])
