"""Suppression of skewed tables as offices have them: seconds, memory, cost, distance to the bound.

    python benchmarks/skewed.py [table ...] [--method auto ...] [--bound 0]

Lognormal values in trees with empty corners, from fixed seeds; a few cells hold most of the total.
p = 10 %, the outsider, cost = value. CPU seconds of all threads, from the tabulated sums to the
proven result. `--bound SECONDS` lets `optimal` search for so long afterwards, and says what no safe
pattern costs less than.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from _tables import _codes, _tree, problem_of

from diskret import suppress, tabulate
from diskret.attack import Attacker
from diskret.deadline import Deadline
from diskret.protect.suppress import METHODS
from diskret.rules import PPercent
from diskret.suppression import optimal
from diskret.tables import Table


@dataclass(frozen=True)
class Shape:
    """Branching of each variable, number of records, and σ of the logarithm of their values."""

    branching: tuple[tuple[int, ...], ...]
    records: int
    spread: float


SHAPES = {
    "400": Shape(((4, 3), (3, 3), (2,)), 700, 3.0),
    "2k": Shape(((4, 4), (4, 3), (5,)), 3_000, 3.5),
    "7k": Shape(((10, 11), (3, 4), (3,)), 9_000, 2.5),
    "10k": Shape(((5, 5), (5, 5), (10,)), 50_000, 2.5),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["400", "2k", "7k"], help=f"of {[*SHAPES]}")
    parser.add_argument("--method", action="append", choices=tuple(METHODS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bound", type=float, default=0, help="seconds for `optimal`")
    options = parser.parse_args(arguments)
    print("table  method       cells  unsafe  secondaries            cost  CPU s  peak MB")
    for name in options.tables:
        table = tabulated(SHAPES[name], options.seed)
        for method in options.method or ["auto"]:
            protect(name, table, method)
        if options.bound:
            problem = problem_of(table, PPercent(10), "value")
            found = optimal(replace(problem, deadline=Deadline.after(options.bound)))
            print(f"{name:6} no safe pattern costs less than {found.bound:,.0f}", flush=True)


def protect(name: str, table: Table, method: str) -> None:
    """Protect and prove one table; one line."""
    begin = time.process_time()
    result = suppress(table, PPercent(10), method=method, attacker=Attacker())
    seconds = time.process_time() - begin
    secondary = result.status == "secondary"
    print(
        f"{name:6} {method:10} {secondary.size:7,} {(result.status == 'primary').sum():7,}"
        f" {secondary.sum():12,} {table.measure.sum[secondary].sum():15,} {seconds:6.1f}"
        f" {peak_megabytes():8.0f}",
        flush=True,
    )


def tabulated(shape: Shape, seed: int) -> Table:
    """Sums of the records of a shape; the leaves have shares that fall along each variable."""
    random = np.random.default_rng(seed)
    trees = {f"v{i}": _tree(levels, "ABCDE"[i]) for i, levels in enumerate(shape.branching)}
    columns = {name: _codes(tree, shape.records, random) for name, tree in trees.items()}
    value = np.maximum(np.rint(np.exp(random.normal(5, shape.spread, shape.records))), 1)
    unit = random.integers(0, int(shape.records * 0.85), shape.records)
    frame = pa.table({**columns, "value": value.astype(np.int64), "unit": unit})
    return tabulate(frame, by=trees, value="value", unit="unit", largest=2)


if __name__ == "__main__":
    main()
