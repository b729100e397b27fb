"""CPU seconds and peak memory of swapping, top coding, and noise with differential privacy.

Run it from the repository as ``python benchmarks/microdata_swap.py [records …]``; the default is
10,000, 100,000 and 1,000,000 persons with 12 columns. Each figure comes from a process of its
own. Peak memory is that of the whole process, the file in memory included; "reading" is that of
a process that does nothing but read the file. Quality: for swapping the share of records with
other values, and the mean change, in records, of the cells of region by occupation, a table that
swapping does not keep; for the others how much standard deviations change, in percent. OpenDP is
measured if it is installed, on 100,000 records at most.
"""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
from _memory import peak_megabytes
from _records import KEYS, NUMERIC, persons

from diskret import Microdata

_MOST_DP = 100_000


def main(sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds, peak megabytes and quality."""
    print(f"{'records':>10} {'what':<22} {'CPU s':>7} {'MB':>6}  quality")
    for n in sizes:
        persons(n)
        for what in CONTESTANTS:
            if what.startswith("dp") and (n > _MOST_DP or find_spec("opendp") is None):
                continue
            runs = [measured_apart(what, n) for _ in range(rounds)]
            seconds, peak = (min(float(run[at]) for run in runs) for at in (0, 1))
            print(f"{n:>10,} {what:<22} {seconds:>7.3f} {peak:>6.0f}  {runs[0][2]}", flush=True)


def run_reading(md: Microdata) -> Microdata:
    """Nothing; the file is in memory already."""
    return md


def run_region(md: Microdata) -> Microdata:
    """5 % of the regions, by age and sex."""
    return md.swap("region", within=["agegrp", "sex"], seed=1)


def run_targets(md: Microdata) -> Microdata:
    """The same, with all records whose keys fewer than 3 have, and similar partners."""
    return md.swap("region", within="agegrp", targets=3, similar=["sex", "educ"], seed=1)


def run_numbers(md: Microdata) -> Microdata:
    """10 % of all numbers together, by region."""
    return md.swap(NUMERIC, probability=0.1, within="region", seed=1)


def run_apart(md: Microdata) -> Microdata:
    """The same, each variable with other partners."""
    return md.swap(NUMERIC, probability=0.1, within="region", together=False, seed=1)


def run_top(md: Microdata) -> Microdata:
    """The largest 1 % by region become their mean."""
    return md.top_code("inc1", share=0.01, within="region")


def run_ellipsoid(md: Microdata) -> Microdata:
    """Four variables, beyond the 97.5 % ellipsoid."""
    return md.top_code_together(NUMERIC)


def run_laplace(md: Microdata) -> Microdata:
    """One variable."""
    return md.dp_noise("inc1", epsilon=1, bounds={"inc1": (0, 20_000)})


CONTESTANTS = {
    "reading": run_reading,
    "swap": run_region,
    "swap, targets, similar": run_targets,
    "swap 4 numbers": run_numbers,
    "swap 4, one by one": run_apart,
    "top code": run_top,
    "top code together": run_ellipsoid,
    "dp noise": run_laplace,
}


def measured_apart(what: str, n: int) -> list[str]:
    """CPU seconds, peak megabytes, quality; imports and reading not counted as time."""
    command = [sys.executable, __file__, "--run", what, str(n)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return output.strip().split(maxsplit=2) + [""]


def quality(before: Microdata, after: Microdata) -> str:
    """What a method did to the values, in a few words."""
    if after.history and after.history[-1].verb == "swap":
        found = next(iter(after.history[-1].found.values()))
        tables = [
            np.histogram2d(md.coded("region").codes, md.coded("occ").codes, bins=(9, 10))[0]
            for md in (before, after)
        ]
        moved = np.abs(tables[0] - tables[1]).mean()
        return f"{100 * found['rate']:.2f} % exchanged, cells change by {moved:.1f}"
    if not after.history:
        return "-"
    name = next(iter(sorted(after.changed)))
    was, now = (md.numbers([name]).std() for md in (before, after))
    return f"deviation {100 * (now / was - 1):+.1f} %"


def run_here(what: str, n: int) -> None:
    """Run one contestant and print its figures."""
    start = Microdata(persons(10_000), keys=KEYS, numeric=NUMERIC)
    CONTESTANTS[what](start)  # modules are imported at a first call
    md = Microdata(persons(n), keys=KEYS, numeric=NUMERIC)
    used = time.process_time()
    made = CONTESTANTS[what](md)
    print(time.process_time() - used, peak_megabytes(), quality(md, made))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
