"""Rounding of the generated reference tables: CPU seconds, steps, deviations.

    python benchmarks/rounding.py [small_counts] [controlled] [--seconds 120]

Tables come from the generator ``bench/gen_tables.py`` in the reference data folder
(``DISKRET_REFERENCE_DATA``, default ``../shared`` beside the repository). Measured is the choice of
values, without the attack that certifies them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _memory import peak_megabytes
from scipy import sparse
from suppression import tabulated

import diskret as dk
from diskret.rounding import cell_draws, cells_of, controlled, random, small_counts
from diskret.system import System
from diskret.tables import Dimension, Table
from diskret.tables.add_up import leaf_mask

KEYS = dk.SecretKeys(bytes(range(32)))
#: Largest deviation and CPU seconds of R's SmallCountRounding, base 3.
THEIRS = {"t2_10k": (5, 0.9), "t3_10k": (7, 0.8), "t3_100k": (11, 5.5), "t2_100k": (7, 6.5)}
CONTROLLED = ("t2_1k", "t2_10k", "t2_100k", "t3_1k", "t3_10k")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["random", "small_counts", "controlled"])
    parser.add_argument("--seconds", type=float, default=None, help="time limit of controlled")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if "random" in options.what:
            _random()
        if "small_counts" in options.what:
            _small_counts(Path(folder))
        if "controlled" in options.what:
            _controlled(Path(folder), options.seconds)


def _random() -> None:
    """A million cells, rounded by a keyed draw."""
    tree = dk.Hierarchy.flat([f"{i:03}" for i in range(999)])
    dimensions = tuple(Dimension(name, tree) for name in "xy")
    table = Table(dimensions, count=np.arange(1_000_000).reshape(1000, 1000))
    start = time.process_time()
    random(table.measure.sum, 3, cell_draws(table, KEYS))
    print(f"random, 1,000,000 cells: {time.process_time() - start:.2f} s")


def _small_counts(folder: Path) -> None:
    two = sparse.csr_array(np.eye(2, dtype=np.int64))  # compiled before the clock starts
    small_counts(np.array([1, 2]), two, 3, np.array([1, 2], np.uint64))
    print("small counts, base 3  cells    cpu s  largest  mean    MB   R: largest, cpu s")
    for name, (largest, seconds) in THEIRS.items():
        table = tabulated(name, folder)["count"]
        start = time.process_time()
        count = table.measure.sum
        leaf = leaf_mask(table.dimensions) & (count > 0)
        cells = cells_of(table.dimensions, np.argwhere(leaf), table.dimensions)
        inner = small_counts(count[leaf], cells, 3, cell_draws(table, KEYS)[leaf])
        value = cells @ inner
        passed = time.process_time() - start
        off = np.abs(value - count.ravel())
        print(
            f"{name:18} {off.size:8,} {passed:8.2f} {off.max():8} {off.mean():5.2f}"
            f" {peak_megabytes():5.0f}   {largest}, {seconds}",
            flush=True,
        )


def _controlled(folder: Path, seconds: float | None) -> None:
    print("controlled, base 5    cells    cpu s  steps   Σ|z-a|   at least  largest    MB")
    for name in CONTROLLED:
        system = System.of_table(tabulated(name, folder)["count"])
        start = time.process_time()
        found = controlled(system, 5, time_limit=seconds)
        passed = time.process_time() - start
        largest = np.abs(found.value - system.value).max()
        print(
            f"{name:18} {len(system.value):8,} {passed:8.2f} {found.steps:6} {found.distance:8,}"
            f" {found.least:10,.0f} {largest:8} {peak_megabytes():5.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
