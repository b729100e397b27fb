"""CPU seconds, peak memory and deviations of Höhne's heuristic for a census file.

Run it from the repository as ``python benchmarks/safe_hoehne.py [records …]``; the default is
30,000, 100,000 and 300,000 persons of the generator among the reference data, with 430 tables.
Each figure comes from a process of its own. Peak memory is that of the whole process, the file in
memory included. Imports, loops that are compiled, and the making of the file are not counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
from _memory import peak_megabytes
from _records import ROOT

from diskret.safe import ControlTable, SafeProblem
from diskret.safe.hoehne import hoehne

_REGIONS = ("land", "kreis", "gem")


def main(sizes: list[int]) -> None:
    """Print a table of combinations, seconds, megabytes, passes, largest and mean deviation."""
    print(f"{'records':>10} {'combinations':>12} {'CPU s':>7} {'MB':>6} {'passes':>6}  max  mean")
    for n in sizes:
        command = [sys.executable, __file__, "--run", str(n)]
        output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
        combinations, seconds, peak, passes, largest, mean = output.split()
        print(
            f"{n:>10,} {int(combinations):>12,} {float(seconds):>7.1f} {float(peak):>6.0f} "
            f"{passes:>6} {largest:>4} {float(mean):>5.2f}",
            flush=True,
        )


def census(n: int) -> SafeProblem:
    """Persons, sorted and merged, and the controlled tables."""
    sys.path.insert(0, str(ROOT / os.environ.get("DISKRET_REFERENCE_DATA", "../shared") / "bench"))
    import census_gen  # pyright: ignore[reportMissingImports]

    values = census_gen.make(n)
    tables = census_gen.table_list(values, n)
    names = (*_REGIONS, *(name for name in values if name not in _REGIONS))
    every = np.stack([values[name] for name in names], axis=1)
    codes, count = np.unique(every, axis=0, return_counts=True)
    return SafeProblem(
        names,
        codes.astype(np.int32),
        count.astype(np.int64),
        tuple(int(most) + 1 for most in every.max(axis=0)),
        tuple(ControlTable(tuple(names.index(name) for name in table)) for table in tables),
    )


def run_here(n: int) -> None:
    """Make one file safe and print its figures."""
    hoehne(census(1_000), seed=1)  # loops are compiled at a first call
    problem = census(n)
    used = time.process_time()
    file = hoehne(problem, seed=1)
    used = time.process_time() - used
    passes, largest, mean = file.trace[-1]
    print(len(problem.codes), used, peak_megabytes(), passes, largest, mean)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(int(sys.argv[2]))
    else:
        main([int(n) for n in sys.argv[1:]] or [30_000, 100_000, 300_000])
