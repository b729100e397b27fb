"""CPU seconds and peak memory of PRAM, of estimates from it, and of comparing records.

Run it from the repository as ``python benchmarks/microdata_pram.py [records …]``; the default is
10,000, 100,000 and 1,000,000 persons with 12 columns. Each figure comes from a process of its
own. Peak memory is that of the whole process, the file in memory included; "reading" is that of
a process that does nothing but read the file. The variable that changes has 10 categories.
"""

from __future__ import annotations

import subprocess
import sys
import time

from _memory import peak_megabytes
from _records import KEYS, persons

from diskret import Microdata
from diskret.microdata import pram_estimate
from diskret.utility import compare_records

STRATA = ["region"]


def main(sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds and peak megabytes."""
    print(f"{'records':>10} {'what':<16} {'CPU s':>7} {'MB':>6}")
    for n in sizes:
        persons(n)
        for what in CONTESTANTS:
            seconds, peak = map(
                min, zip(*(measured_apart(what, n) for _ in range(rounds)), strict=True)
            )
            print(f"{n:>10,} {what:<16} {seconds:>7.3f} {peak:>6.0f}", flush=True)


def run_reading(md: Microdata) -> None:
    """Nothing; the file is in memory already."""


def run_pram(md: Microdata) -> None:
    """One variable, frequencies kept in expectation."""
    md.pram("occ", seed=1)


def run_exact(md: Microdata) -> None:
    """One variable, frequencies kept exactly."""
    md.pram("occ", seed=1, exact=True)


def run_strata(md: Microdata) -> None:
    """The same in each region."""
    md.pram("occ", seed=1, exact=True, strata=STRATA)


def run_together(md: Microdata) -> None:
    """Two variables that change together."""
    md.pram([("occ", "educ")], seed=1)


def run_estimate(md: Microdata) -> None:
    """A table of three variables, one of them randomised, with variances."""
    matrices = {"occ": md.transitions("occ").matrix, "region": None, "sex": None}
    pram_estimate(md.table, matrices, weight="w")


def run_compare(md: Microdata) -> None:
    """Six variables, tables of up to two."""
    compare_records(md.table, md.pram("occ", seed=1).table, KEYS)


CONTESTANTS = {
    "reading": run_reading,
    "pram": run_pram,
    "pram, exact": run_exact,
    "exact in strata": run_strata,
    "pair of variables": run_together,
    "estimate": run_estimate,
    "pram and compare": run_compare,
}


def measured_apart(what: str, n: int) -> list[float]:
    """CPU seconds and peak megabytes; imports and reading not counted as time."""
    command = [sys.executable, __file__, "--run", what, str(n)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return [float(figure) for figure in output.split()]


def run_here(what: str, n: int) -> None:
    """Run one contestant and print its figures."""
    CONTESTANTS[what](Microdata(persons(10_000), keys=KEYS))  # modules are imported at a first call
    md = Microdata(persons(n), keys=KEYS)
    used = time.process_time()
    CONTESTANTS[what](md)
    print(time.process_time() - used, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
