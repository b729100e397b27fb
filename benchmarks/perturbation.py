"""What each method costs the same table: CPU seconds and figures of utility, one row a method.

    python benchmarks/perturbation.py [table ...] [--methods name ...] [--deviations] [--seconds 60]

The records come from the generator ``bench/gen_tables.py`` in the reference data folder
(``DISKRET_REFERENCE_DATA``, default ``../shared`` beside the repository); the tables count them.
``--deviations`` adds the two tables that were published of SAFE for each method.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from suppression import _dimension, _generator

import diskret as dk
from diskret.protect.perturb_invariant import perturb_invariant
from diskret.tables import Table
from diskret.utility import Comparison

TABLES = ("t2_1k", "t2_10k", "t3_10k")

#: Counts below this are small: suppressed, rounded away, or moved by adjustment.
SMALL = 3
#: Decimals of the record keys of the generator.
DIGITS = 8

KEYS = dk.SecretKeys(bytes(range(32)))


def cell_key(table: Table, seconds: float) -> Any:
    noise = dk.PerturbationTable.maximum_entropy(max_noise=5, variance=3, small_counts=SMALL - 1)
    return dk.perturb(table, noise)


def raked(table: Table, seconds: float) -> Any:
    return dk.make_additive(cell_key(table, seconds), method="ipf")


def least_change(table: Table, seconds: float) -> Any:
    return dk.make_additive(cell_key(table, seconds), method="least")


def invariant(table: Table, seconds: float) -> Any:
    return perturb_invariant([table], largest=30, max_noise=5)[0]


def deterministic(table: Table, seconds: float) -> Any:
    return dk.round_table(table, SMALL, "deterministic")


def random(table: Table, seconds: float) -> Any:
    return dk.round_table(table, SMALL, "random", keys=KEYS)


def controlled(table: Table, seconds: float) -> Any:
    return dk.round_table(table, SMALL, "controlled", keys=KEYS, time_limit=seconds)


def small_counts(table: Table, seconds: float) -> Any:
    return dk.round_table(table, SMALL, "small_counts", keys=KEYS)


def adjustment(table: Table, seconds: float) -> Any:
    return dk.adjust(table, dk.rules.MinimumFrequency(SMALL), time_limit=seconds)


def suppression(table: Table, seconds: float) -> Any:
    return dk.suppress(table, dk.rules.MinimumFrequency(SMALL), time_limit=seconds)


METHODS: dict[str, Callable[[Table, float], Any]] = {
    "cell key": cell_key,
    "… raked": raked,
    "… least change": least_change,
    "invariant": invariant,
    "deterministic": deterministic,
    "random": random,
    "controlled": controlled,
    "small counts": small_counts,
    "adjustment": adjustment,
    "suppression": suppression,
}

#: Column → key figure, factor and decimals.
COLUMNS: dict[str, tuple[str, float, int]] = {
    "withheld": ("withheld", 1, 0),
    "same %": ("unchanged_share", 100, 1),
    "mean": ("mean", 1, 2),
    "p95": ("p95", 1, 0),
    "largest": ("largest", 1, 0),
    "bias": ("bias", 1, 3),
    "mse": ("mse", 1, 2),
    "rel %": ("relative", 100, 1),
    "false 0": ("false_zeros", 1, 0),
    "HD util": ("hellinger_utility", 1, 4),
    "rank": ("rank_correlation", 1, 4),
    "broken": ("broken_equations", 1, 0),
    "off by": ("additivity_largest", 1, 0),
    "V %": ("cramers_v_change", 100, 1),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=TABLES, help=f"of {', '.join(TABLES)}")
    parser.add_argument("--methods", nargs="+", choices=tuple(METHODS), default=tuple(METHODS))
    parser.add_argument("--deviations", action="store_true", help="SAFE's tables of each method")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of a search")
    options = parser.parse_args(arguments)
    print(f"{'table':7} {'method':14} {'cpu s':>7}", *(f"{name:>8}" for name in COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables:
            table = counted(name, Path(folder))
            for method in options.methods:
                begin = time.process_time()
                try:
                    result = METHODS[method](table, options.seconds)
                except dk.DiskretError as refused:
                    print(f"{name:7} {method:14} {time.process_time() - begin:7.2f} {refused}")
                    continue
                seconds = time.process_time() - begin
                found = dk.utility.compare(table, result)
                print(f"{name:7} {method:14} {seconds:7.2f}", *figures(found), flush=True)
                if options.deviations:
                    print("", *found.tables(), "", sep="\n", flush=True)


def figures(found: Comparison) -> list[str]:
    """The columns of one row; a dash where a figure does not exist."""
    key = found.figures
    values = [(key[name] * factor, decimals) for name, factor, decimals in COLUMNS.values()]
    return [f"{'-' if np.isnan(v) else f'{v:,.{decimals}f}':>8}" for v, decimals in values]


def counted(name: str, folder: Path) -> Table:
    """Generate the records of a table and count them, with the sums of their keys."""
    generator = _generator()
    generator.generate(name, str(folder))
    letters = "ABCDE"[: len(generator.SPECS[name][0])]
    rows = np.genfromtxt(folder / f"{name}.csv", delimiter=",", dtype=str, skip_header=1)
    # 0.12345678 is read as the whole number 12345678
    keys = np.rint(rows[:, len(letters) + 2].astype(float) * 10**DIGITS).astype(np.int64)
    codes = {letter: pa.array(rows[:, axis]) for axis, letter in enumerate(letters)}
    return dk.tabulate(
        pa.table({**codes, "key": keys}),
        by={
            letter: _dimension(folder / f"{name}.{letter}.csv", letter).hierarchy
            for letter in codes
        },
        record_key="key",
        key_modulus=10**DIGITS,
    )


if __name__ == "__main__":
    from _memory import peak_megabytes

    main()
    print(f"peak memory {peak_megabytes():.0f} MB")
