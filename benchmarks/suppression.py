"""Secondary suppression: seconds, cells and cost on the generated reference tables.

    python benchmarks/suppression.py [table ...] [--repeat 3] [--seconds 60]
        [--method sequential | modular | optimal | hypercube | network | auto] [--cost count value]

Tables come from the generator ``bench/gen_tables.py`` in the reference data folder
(``DISKRET_REFERENCE_DATA``, default ``../shared`` beside the repository).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskret import suppression
from diskret.attack import Requirements
from diskret.deadline import Deadline
from diskret.hierarchy import Hierarchy
from diskret.suppression import Pattern, Problem
from diskret.system import System
from diskret.tables import Dimension, Measure, Table

TABLES = ("t2_1k", "t3_1k", "t2_10k", "t3_10k")

#: Tables that are measured only if they are asked for.
LARGE = ("t2_100k", "t3_100k")

COSTS = ("count", "value")

METHODS = ("auto", "sequential", "modular", "optimal", "hypercube", "network")

#: Cost of the cheapest patterns known; proven optimal but for the values of t3_10k.
#: Of t3_100k none is known.
BEST = {
    ("t2_1k", "count"): 188,
    ("t3_1k", "count"): 503,
    ("t2_10k", "count"): 422,
    ("t3_10k", "count"): 2_554,
    ("t2_1k", "value"): 39_989,
    ("t3_1k", "value"): 115_774,
    ("t2_10k", "value"): 58_271,
    ("t3_10k", "value"): 618_690,
    ("t2_100k", "count"): 799,
    ("t2_100k", "value"): 141_657,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=TABLES, help=f"of {', '.join(TABLES + LARGE)}")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--method", choices=METHODS, default="sequential")
    parser.add_argument("--cost", choices=("count", "value"), nargs="+", default=COSTS)
    parser.add_argument("--seconds", type=float, help="time limit of each run")
    options = parser.parse_args(arguments)
    method = getattr(suppression, options.method)
    print("table   what   primary  secondary       cost      bound       best  ratio  seconds")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables:
            for what in options.cost:
                problem = build(name, what, Path(folder))
                seconds: list[float] = []
                pattern = Pattern(np.zeros(len(problem.cost), dtype=bool), "none")
                for _ in range(options.repeat):
                    begin = time.perf_counter()
                    limit = Deadline.after(options.seconds or None)
                    pattern = method(replace(problem, deadline=limit))
                    seconds.append(time.perf_counter() - begin)
                secondary = pattern.suppressed.copy()
                secondary[problem.requirements.cell] = False
                cost = int(problem.cost[secondary].sum())
                bound = "-" if pattern.bound is None else f"{pattern.bound:,.0f}"
                best = BEST.get((name, what), 0)
                known, ratio = (f"{best:,}", f"{cost / best:.3f}") if best else ("-", "-")
                print(
                    f"{name:7} {what:6} {len(problem.requirements.cell):7,} {secondary.sum():10,}"
                    f" {cost:10,} {bound:>10} {known:>10} {ratio:>6}  "
                    + " ".join(f"{s:.2f}" for s in seconds),
                    flush=True,
                )


def build(name: str, what: str, folder: Path) -> Problem:
    """The suppression problem of a generated table, for counts or for values."""
    table = tabulated(name, folder)
    if what == "count":
        value, unsafe = table.count, (table.count > 0) & (table.count < 4)
        level = np.ones_like(value)
    else:
        table = table["value"]
        value = table.measure.sum
        first, second = np.moveaxis(table.measure.largest, -1, 0)
        open_tenths = first - 10 * (value - first - second)
        unsafe = (value > 0) & (open_tenths > 0)
        level = np.maximum(-(-open_tenths // 10), 1)
    system = System.of_table(table if what == "value" else table["count"])
    cell = np.flatnonzero(unsafe.ravel())
    needed = level.ravel()[cell]
    n = system.value.size
    return Problem(
        system=system,
        requirements=Requirements(
            cell, np.minimum(needed, system.value[cell]), needed, np.zeros_like(needed)
        ),
        cost=system.value.astype(np.float64),
        frozen=system.value == 0,
        lower=np.zeros(n),
        upper=np.full(n, np.inf),
        integer=what == "count",
    )


def tabulated(name: str, folder: Path) -> Table:
    """Generate the records and count, sum and keep the two largest values of each cell."""
    generator = _generator()
    path = folder / f"{name}.csv"
    if not path.exists():
        generator.generate(name, str(folder))
    letters = "ABCDE"[: len(generator.SPECS[name][0])]
    records = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    value = records[:, len(letters) + 3].astype(np.int64)
    dimensions = tuple(_dimension(folder / f"{name}.{letter}.csv", letter) for letter in letters)
    shape = tuple(len(d) for d in dimensions)

    cell = np.zeros((len(records), 1), dtype=np.int64)
    for axis, dimension in enumerate(dimensions):
        hierarchy = dimension.hierarchy
        above = np.stack([hierarchy.ancestors[leaf] for leaf in hierarchy.leaves])
        leaf = np.searchsorted(hierarchy.leaves, [hierarchy.position[c] for c in records[:, axis]])
        cell = (cell[:, :, None] * shape[axis] + above[leaf][:, None, :]).reshape(len(records), -1)
    cells, repeated = cell.ravel(), np.repeat(value, cell.shape[1])

    n = int(np.prod(shape))
    count = np.bincount(cells, minlength=n).reshape(shape)
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, cells, repeated)
    order = np.lexsort((-repeated, cells))
    rank = np.arange(len(order)) - np.searchsorted(cells[order], cells[order])
    largest = np.zeros((n, 2), dtype=np.int64)
    top = order[rank < 2]
    largest[cells[top], rank[rank < 2]] = repeated[top]
    measure = Measure(
        "value", 0, total.reshape(shape), total.reshape(shape), largest.reshape(*shape, 2)
    )
    return Table(dimensions, count, measures=(measure,))


def _dimension(path: Path, letter: str) -> Dimension:
    rows = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    position = {code: i for i, code in enumerate(rows[:, 1])}
    parent: NDArray[np.int32] = np.array([position.get(p, -1) for p in rows[:, 2]], dtype=np.int32)
    return Dimension(letter, Hierarchy(tuple(rows[:, 1].tolist()), parent))


def _generator():
    reference = Path(os.environ.get("DISKRET_REFERENCE_DATA", "../shared"))
    spec = importlib.util.spec_from_file_location("gen_tables", reference / "bench/gen_tables.py")
    if spec is None or spec.loader is None or not (reference / "bench/gen_tables.py").exists():
        raise SystemExit(f"no generator in {reference}: set DISKRET_REFERENCE_DATA")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    from _memory import peak_megabytes

    main()
    print(f"peak memory {peak_megabytes():.0f} MB")
