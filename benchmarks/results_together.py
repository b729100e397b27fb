"""CPU seconds of checking results of a project beside all that have left before.

Run it from the repository as ``python benchmarks/results_together.py [records …]``; the default is
200, 1,000, 10,000 and 100,000 records. Eight tables of three cells each leave one after the
other, each by another variable, every second one without a fifth of the records; three count, five
show means. Each figure is the largest of five projects; kernels are compiled before.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd

from diskret import check

VARIABLES = "abcdefgh"
RULES = check.Profile(threshold=10, excepting=["head"], verdicts={"zero": "pass"})


def main(sizes: list[int], projects: int = 5) -> None:
    """Print a table of seconds, and how many results were too large to be examined."""
    seconds_of(200, 0)
    print(f"{'records':>10} {'4th table':>10} {'8th table':>10} {'not examined':>13}")
    for records in sizes:
        runs = [seconds_of(records, seed) for seed in range(projects)]
        longest = np.max([seconds for seconds, _ in runs], axis=0)
        lost = sum(number for _, number in runs)
        print(f"{records:>10,} {longest[3]:>9.2f}s {longest[7]:>9.2f}s {lost:>13}", flush=True)


def seconds_of(records: int, seed: int) -> tuple[list[float], int]:
    """What each table of a project took, and how many could not all be examined."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"value": draw.lognormal(3, 0.7, records), "all": "x"})
    for name in VARIABLES:
        frame[name] = draw.integers(0, 3, records)
    project = check.Project(frame, profile=RULES)
    seconds: list[float] = []
    lost = 0
    for number, name in enumerate(VARIABLES):
        without = draw.choice(records, records // 5 if number % 2 else 0, replace=False)
        own = frame.drop(index=without)
        shown = {} if number < 3 else {"values": own["value"], "aggfunc": "mean"}
        began = time.process_time()
        checked = project.check(check.crosstab, own[name], own["all"], **shown)
        seconds.append(time.process_time() - began)
        lost += any(one.check == "too_large" for one in checked.findings)
        project.accept(checked, name, who="head", why="a benchmark")
    return seconds, lost


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [200, 1_000, 10_000, 100_000])
