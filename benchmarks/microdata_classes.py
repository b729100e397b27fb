"""Models of anonymity of persons: CPU seconds and peak memory of k, l-diversity and t-closeness.

    python benchmarks/microdata_classes.py [10000 100000 1000000] [--gaps 0.03]

The file of persons comes from the reference data (see ``_records.py``); sensitive are the ten
occupations, or an income as a numeric variable. ``certify`` counts the same claims again in code
of its own. ``--gaps`` takes out a share of the values of every key.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from _records import KEYS, persons

import diskret as dk
from diskret.attack.microdata import certify

KNOWN = list(KEYS[:5])


def anonymity(table: pa.Table, sensitive: str) -> None:
    md = dk.Microdata(table, keys=KNOWN, sensitive=[sensitive])
    _ = md.anonymity().records


def certified(table: pa.Table, *claims: Any) -> None:
    certify("persons", table, KNOWN, claims, weight=table["w"].to_numpy())


TASKS: dict[str, Callable[[pa.Table], None]] = {
    "k, l-diversity, t-closeness, occupation": lambda table: anonymity(table, "occ"),
    "k, l-diversity, t-closeness, income": lambda table: anonymity(table, "inc1"),
    "certify k": lambda table: certified(table, dk.claims.KAnonymity(2, keys=("sex", "region"))),
    "certify risk": lambda table: certified(table, dk.claims.RiskBelow(1)),
    "certify t, occupation": lambda table: certified(table, dk.claims.TCloseness(1, ("occ",))),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--gaps", type=float, default=0.0)
    options = parser.parse_args(arguments)
    print(f"{'rows':>10}  {'task':42}{'CPU s':>8}{'MB more':>9}{'MB data':>9}")
    for rows in options.rows:
        persons(rows)  # made before anything is measured
        for task in TASKS:
            # a fresh process for each, so that peaks do not add up
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, more, data = pool.apply(_measured, (task, rows, options.gaps))
            print(f"{rows:>10,}  {task:42}{seconds:>8.2f}{more:>9.0f}{data:>9.0f}", flush=True)


def _measured(task: str, rows: int, gaps: float) -> tuple[float, float, float]:
    TASKS[task](persons(10_000))  # everything is loaded
    table = _with_gaps(persons(rows), gaps)
    before, start = peak_megabytes(), time.process_time()
    TASKS[task](table)
    return time.process_time() - start, peak_megabytes() - before, table.nbytes / 1e6


def _with_gaps(table: pa.Table, share: float) -> pa.Table:
    rng = np.random.default_rng(1)
    for key in KNOWN if share else ():
        hidden = rng.random(table.num_rows) < share
        at = table.schema.get_field_index(key)
        table = table.set_column(at, key, pa.array(table[key].to_numpy(), mask=hidden))
    return table


if __name__ == "__main__":
    main()
