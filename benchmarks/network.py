"""`network` and `sequential` on tables of a flat variable and a hierarchy: CPU seconds and cost.

    python benchmarks/network.py [table ...] [--method network --method sequential]

Tables are made from a fixed seed. The methods use one core, so CPU seconds are those of a machine
that is not busy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from _tables import random_problem

from diskret import suppression

#: Branching of the flat variable and of the hierarchy, and the number of records.
TABLES = {
    "1k": (((9,), (4, 5, 4)), 5_000),
    "10k": (((19,), (7, 8, 8)), 50_000),
    "30k": (((29,), (9, 10, 10)), 150_000),
    "100k": (((49,), (12, 12, 13)), 500_000),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES), help=f"of {', '.join(TABLES)}")
    parser.add_argument("--method", action="append", choices=("network", "sequential", "optimal"))
    options = parser.parse_args(arguments)
    methods = options.method or ["network", "sequential"]
    print("table     cells what   unsafe  method      secondary         cost    CPU s")
    for name in options.tables:
        branching, records = TABLES[name]
        for what in ("count", "value"):
            problem = random_problem(branching, records, what, seed=1)
            for method in methods:
                begin = time.process_time()
                pattern = getattr(suppression, method)(problem)
                seconds = time.process_time() - begin
                secondary = pattern.suppressed.copy()
                secondary[problem.requirements.cell] = False
                print(
                    f"{name:5} {len(problem.cost):9,} {what:6} {len(problem.requirements.cell):6,}"
                    f"  {method:10} {secondary.sum():10,} {problem.cost[secondary].sum():12,.0f}"
                    f" {seconds:8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
