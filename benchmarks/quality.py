"""What patterns of the methods cost, as multiples of the optimum, on small random tables.

    python benchmarks/quality.py [--tables 500] [--first 0] [--seconds 10]
        [--method sequential --method network ...]

Tables of about 100 to 1,000 cells in one to three variables, counts and values in turn, from
fixed seeds. Where the optimum is not proven in time, its cheapest pattern counts. Tables that a
method refuses are counted, those that it fails on are named with their seeds.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from _tables import random_problem

from diskret.deadline import Deadline
from diskret.errors import DiskretError, InputError
from diskret.protect.suppress import METHODS
from diskret.suppression import Problem

#: Branching of each variable, and the number of records.
SHAPES = (
    (((5, 6, 7),), 1_500),
    (((9,), (3, 4)), 800),
    (((12,), (4, 3, 3)), 1_500),
    (((20,), (7, 5)), 3_000),
    (((4, 3), (3, 3)), 1_000),
    (((5, 4), (4, 5)), 3_000),
    (((4,), (3, 3), (3,)), 1_000),
    (((3, 2), (5,), (2, 3)), 2_000),
)


@dataclass(frozen=True)
class Case:
    """A problem, what it is, and the cost of its cheapest pattern as far as known."""

    seed: int
    what: str
    problem: Problem
    best: float
    proven: bool


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of the optimum")
    parser.add_argument("--method", action="append", choices=tuple(METHODS))
    options = parser.parse_args(arguments)
    methods = options.method or [name for name in METHODS if name != "optimal"]
    cases = [case(options.first + i, options.seconds) for i in range(options.tables)]
    print(
        f"{len(cases)} tables of {min(len(c.problem.cost) for c in cases)} to "
        f"{max(len(c.problem.cost) for c in cases)} cells; optimum proven for "
        f"{sum(c.proven for c in cases)}, nothing to hide in {sum(c.best == 0 for c in cases)}"
    )
    print("method      what   tables    mean   worst (seed)  refused  seconds")
    for method in methods:
        compare(method, cases)


def case(seed: int, seconds: float) -> Case:
    """A table and its optimum."""
    what = "value" if seed % 2 else "count"
    branching, records = SHAPES[seed // 2 % len(SHAPES)]
    problem = random_problem(branching, records, what, seed)
    pattern = METHODS["optimal"](replace(problem, deadline=Deadline.after(seconds)))
    best = cost_of(problem, pattern.suppressed)
    proven = pattern.bound is not None and best <= pattern.bound * 1.0001
    return Case(seed, what, problem, best, proven)


def compare(method: str, cases: Sequence[Case]) -> dict[str, list[float]]:
    """Ratios to the optimum for counts and for values; one line for each."""
    ratios, seeds = defaultdict[str, list[float]](list), defaultdict[str, list[int]](list)
    refused, seconds = defaultdict[str, int](int), defaultdict[str, float](float)
    for own in cases:
        begin = time.perf_counter()
        try:
            pattern = METHODS[method](own.problem)
        except InputError:
            refused[own.what] += 1
            continue
        except DiskretError as error:
            print(f"{method}, seed {own.seed}: {error}")
            continue
        seconds[own.what] += time.perf_counter() - begin
        if own.best:
            ratios[own.what].append(cost_of(own.problem, pattern.suppressed) / own.best)
            seeds[own.what].append(own.seed)
    for what, found in ratios.items():
        worst = int(np.argmax(found))
        print(
            f"{method:11} {what:6} {len(found):6} {np.mean(found):7.4f} {found[worst]:7.3f}"
            f" ({seeds[what][worst]:4})  {refused[what]:7} {seconds[what]:8.1f}",
            flush=True,
        )
    return dict(ratios)


def cost_of(problem: Problem, suppressed: np.ndarray) -> float:
    """Cost of the secondaries."""
    secondary = suppressed.copy()
    secondary[problem.requirements.cell] = False
    return float(problem.cost[secondary].sum())


if __name__ == "__main__":
    main()
