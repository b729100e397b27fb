"""`auto` beside `sequential` on small skewed tables: cost and CPU seconds, in turns.

    python benchmarks/small_skewed.py [--first 0] [--tables 24] [--most 1000] [--turns 2]

Each seed draws a shape (two to four variables with trees, 200 to 3,000 cells, σ 1.5 to 3.5) and its
records; those of more cells than `--most` are passed over. p = 10 %, the outsider, cost = value.
CPU seconds of all threads, from the tabulated sums to the proven result; the least of the turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import count, islice
from math import prod

import numpy as np
from skewed import Shape, tabulated

from diskret import suppress
from diskret.attack import Attacker
from diskret.rules import PPercent
from diskret.tables import Table

_METHODS = ("sequential", "auto")


def main(arguments: Sequence[str] | None = None) -> None:
    """One line for each table, then what is largest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--tables", type=int, default=24)
    parser.add_argument("--most", type=int, default=1_000, help="cells")
    parser.add_argument("--turns", type=int, default=2)
    options = parser.parse_args(arguments)
    protect(tabulated(Shape(((3,), (3,)), 50, 1.5), 0), "auto")  # what is loaded once
    ratios: list[float] = []
    costs: list[float] = []
    print(
        "seed  cells  variables  σ    sequential: cost  CPU s  auto: cost  CPU s  of cost, of time"
    )
    small = (seed for seed in count(options.first) if cells_of(shape_of(seed)) <= options.most)
    for seed in islice(small, options.tables):
        shape = shape_of(seed)
        table = tabulated(shape, seed)
        found = [protect(table, method) for _ in range(options.turns) for method in _METHODS]
        (cost, seconds), (own, taken) = (min(found[at::2], key=lambda f: f[1]) for at in (0, 1))
        costs.append(own / max(cost, 1))
        ratios.append(taken / seconds)
        print(
            f"{seed:4} {cells_of(shape):6,} {len(shape.branching):6} {shape.spread:8}"
            f" {cost:14,} {seconds:8.2f} {own:14,} {taken:6.2f} {costs[-1]:8.4f} {ratios[-1]:7.2f}",
            flush=True,
        )
    print(
        f"cost: {np.mean(costs):.4f} in the mean, {max(costs):.4f} at most; "
        f"time: {np.mean(ratios):.2f} in the mean, {max(ratios):.2f} at most"
    )


def shape_of(seed: int) -> Shape:
    """A shape of 200 to 3,000 cells."""
    random = np.random.default_rng(1_000 + seed)
    while True:
        variables = int(random.integers(2, 5))
        levels = [int(random.integers(1, 4 if variables < 4 else 3)) for _ in range(variables)]
        branching = tuple(tuple(random.integers(2, 6, n).tolist()) for n in levels)
        spread = float(random.choice([1.5, 2, 2.5, 3, 3.5]))
        shape = Shape(branching, 0, spread)
        if 200 <= cells_of(shape) <= 3_000:
            return Shape(branching, int(cells_of(shape) * random.uniform(0.6, 3)), spread)


def cells_of(shape: Shape) -> int:
    """How many cells a table has, totals included."""
    trees = ([prod(tree[:depth]) for depth in range(len(tree) + 1)] for tree in shape.branching)
    return prod(map(sum, trees))


def protect(table: Table, method: str) -> tuple[int, float]:
    """What hiding the secondaries costs, and CPU seconds."""
    begin = time.process_time()
    result = suppress(table, PPercent(10), method=method, attacker=Attacker())
    seconds = time.process_time() - begin
    return int(table.measure.sum[result.status == "secondary"].sum()), seconds


if __name__ == "__main__":
    main()
