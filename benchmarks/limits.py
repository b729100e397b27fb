"""Does a limit hold? Seconds from sums to the proven result, and cost against hypercubes.

    python benchmarks/limits.py [--seconds 30] [--most 300000] [--least 0] [--seed 0] [--cpu]
                                [--compare]

Twenty tables of 1,000 to 300,000 cells from fixed seeds: two to four variables, flat and deep
trees, counts and lognormal values of little and of great spread. Minimum frequency 4 with
cost = count, or p = 10 % with cost = value; the outsider. `wall` is what the limit is about; `CPU`
says how much of that time the machine gave. `outer`: intervals that are outer bounds. `silent`:
the longest time between two reports of progress. `--compare` runs `hypercube` under the same limit
afterwards: our cost as a share of its cost. `--cpu`: the limit counts the CPU seconds of this
process, on a machine that is too busy for others; what waits for another thread counts as well.
`--seed`: of other records of the same shapes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from _tables import _codes, _tree, problem_of

from diskret import DiskretError, suppress, tabulate
from diskret.attack import Attacker
from diskret.rules import MinimumFrequency, PPercent, Rule
from diskret.suppression import hypercube
from diskret.tables import Table


@dataclass(frozen=True)
class Shape:
    """Branching of each variable, records, and σ of the logarithm of values; None: counts."""

    branching: tuple[tuple[int, ...], ...]
    records: int
    spread: float | None


SHAPES = (
    Shape(((30,), (31,)), 4_000, None),
    Shape(((4, 6), (5, 6)), 4_000, 1.5),
    Shape(((3, 3), (3, 3), (5,)), 3_000, 3.0),
    Shape(((4, 4), (4, 3), (5,)), 3_000, 3.5),
    Shape(((3, 4), (9,), (9,), (2,)), 8_000, None),
    Shape(((10, 11), (40,)), 20_000, 2.0),
    Shape(((10, 11), (3, 4), (3,)), 9_000, 2.5),
    Shape(((6, 8), (8, 8), (2,)), 30_000, None),
    Shape(((5, 5), (5, 5), (10,)), 50_000, 2.5),
    Shape(((10, 30), (6, 7)), 40_000, 1.5),
    Shape(((8, 20), (10,), (12,)), 60_000, None),
    Shape(((5, 4), (6, 4), (6,), (3,)), 60_000, 1.5),
    Shape(((26, 10), (9,), (11,)), 300_000, 1.6),
    Shape(((10, 40), (8, 12)), 100_000, 2.5),
    Shape(((4, 4, 4), (5, 6), (12,)), 100_000, None),
    Shape(((5, 4), (6, 4), (6, 3), (3,)), 200_000, 1.5),
    Shape(((16, 25), (15, 15)), 200_000, 1.5),
    Shape(((8, 12), (5, 5), (5, 5), (1,)), 300_000, None),
    Shape(((26, 10), (9,), (11,), (6,)), 300_000, 1.6),
    Shape(((16, 40), (12, 10), (2,)), 400_000, 2.0),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--least", type=int, default=0, help="cells of the smallest table")
    parser.add_argument("--most", type=int, default=300_000, help="cells of the largest table")
    parser.add_argument("--seed", type=int, default=0, help="of other records")
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds")
    parser.add_argument("--compare", action="store_true", help="with hypercubes")
    options = parser.parse_args(arguments)
    if options.cpu:
        count_cpu_seconds()
    print(
        "   cells what  unsafe  secondaries            cost   wall    CPU silent   outer  peak MB"
        "  ratio"
    )
    for seed, shape in enumerate(SHAPES, options.seed):
        cells = int(np.prod([len(_tree(levels, "A")) for levels in shape.branching]))
        if options.least <= cells <= options.most:
            compare(shape, seed, options.seconds, options.compare)


def compare(shape: Shape, seed: int, seconds: float, hypercubes: bool) -> None:
    """Protect and prove one table under a limit; one line."""
    table, rule = tabulated(shape, seed)
    what = "count" if shape.spread is None else "value"
    price = table.measure.sum if what == "value" else table.count
    assert price is not None
    begin, cpu = time.monotonic(), time.process_time()
    told = [begin]
    try:
        result = suppress(
            table,
            rule,
            cost=what,
            attacker=Attacker(),
            time_limit=seconds,
            progress=lambda *_: told.append(time.monotonic()),
        )
    except DiskretError as error:
        took = time.monotonic() - begin
        print(f"{table.measure.sum.size:8,} {what:5} {took:6.1f} s: {error}", flush=True)
        return
    took, used = time.monotonic() - begin, time.process_time() - cpu
    silent = np.diff([*told, time.monotonic()]).max()
    secondary = result.status == "secondary"
    cost = int(price[secondary].sum())
    ratio = ""
    if hypercubes:
        theirs = cost_of_hypercubes(table, rule, what, seconds)
        ratio = f"{cost / theirs:6.2f}" if theirs else "     –"
    print(
        f"{secondary.size:8,} {what:5} {(result.status == 'primary').sum():6,}"
        f" {secondary.sum():12,} {cost:15,} {took:6.1f} {used:6.1f} {silent:6.1f}"
        f" {result.proof.examination.outer:7,} {peak_megabytes():8,.0f} {ratio}",
        flush=True,
    )


def count_cpu_seconds() -> None:
    """Let deadlines count the CPU seconds of this process; solvers get as much in seconds."""
    import highspy

    clock, run = time.monotonic, highspy.Highs.run
    begin = clock(), time.process_time()

    def run_longer(self: Any) -> Any:
        busy = (clock() - begin[0]) / max(time.process_time() - begin[1], 0.1)
        limit, done = self.getOptionValue("time_limit")[1], self.getRunTime()
        if np.isfinite(limit):
            self.setOptionValue("time_limit", done + (limit - done) * max(busy, 1.0))
        return run(self)

    highspy.Highs.run = run_longer
    time.monotonic = time.process_time


def cost_of_hypercubes(table: Table, rule: Rule, what: str, seconds: float) -> float:
    """What the pattern of `hypercube` costs under the same limit; 0 if it finds none."""
    problem = problem_of(table, rule, what, seconds)
    try:
        suppressed = hypercube(problem).suppressed.copy()
    except DiskretError:
        return 0.0
    suppressed[problem.requirements.cell] = False
    return float(problem.cost[suppressed].sum())


def tabulated(shape: Shape, seed: int) -> tuple[Table, Rule]:
    """Records of a shape as a table, and its rule."""
    random = np.random.default_rng(seed)
    trees = {f"v{i}": _tree(levels, "ABCDE"[i]) for i, levels in enumerate(shape.branching)}
    columns = {name: _codes(tree, shape.records, random) for name, tree in trees.items()}
    if shape.spread is None:
        return tabulate(pa.table(columns), by=trees), MinimumFrequency(4)
    value = np.maximum(np.rint(np.exp(random.normal(5, shape.spread, shape.records))), 1)
    frame = pa.table({**columns, "value": value.astype(np.int64)})
    return tabulate(frame, by=trees, value="value", largest=2), PPercent(10)


if __name__ == "__main__":
    main()
