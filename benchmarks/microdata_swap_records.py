"""CPU seconds and peak memory of record swapping, targeted and random.

Run it from the repository as ``python benchmarks/microdata_swap_records.py [records …]``; the
default is 10,000, 100,000 and 1,000,000 persons in households of 1 to 8 (2.2 on average), in
municipalities of very different size, in districts, in 16 states, made up here. Each figure comes
from a process of its own; imports, compiling and making up the file are not counted. Peak memory
is that of the whole process; "reading" does nothing but make up the file. Quality: households
that change places, and across which borders; those at risk, and how many of these are left.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes

from diskret import Microdata

GEOGRAPHY = ["state", "district", "municipality"]
KEYS = ["agegrp", "sex", "marital", "citizenship"]
#: Persons in a municipality, on average.
_MUNICIPALITY = 2_000


def main(sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds, peak megabytes and quality."""
    print(f"{'records':>10} {'what':<22} {'CPU s':>7} {'wall s':>7} {'MB':>6}  quality")
    for n in sizes:
        for what in CONTESTANTS:
            runs = [measured_apart(what, n) for _ in range(rounds)]
            used, wall, peak = (min(float(run[at]) for run in runs) for at in (0, 1, 2))
            print(f"{n:>10,} {what:<22} {used:>7.2f} {wall:>7.2f} {peak:>6.0f}  {runs[0][3]}")


def households(n: int, seed: int = 1) -> pa.Table:
    """Persons in households in three levels of geography; rows in no particular order."""
    rng = np.random.default_rng(seed)
    size = rng.choice(np.arange(1, 9), n, p=[0.4, 0.3, 0.12, 0.1, 0.04, 0.02, 0.01, 0.01])
    home = np.repeat(np.arange(n), size)[:n]
    number = int(home.max()) + 1
    areas = max(n // _MUNICIPALITY, 200)
    large = rng.pareto(1.2, areas) + 0.2
    town = rng.choice(areas, number, p=large / large.sum())
    district = town % max(areas // 8, 40)
    age = np.minimum(rng.gamma(4, 11, n) // 5, 18).astype(int)
    married = np.where(age > 3, rng.choice(4, n, p=[0.3, 0.5, 0.12, 0.08]), 0)
    citizen = np.minimum(rng.geometric(0.75, n), 12)
    order = rng.permutation(n)
    columns = {
        "household": home,
        "state": (district % 16)[home],
        "district": district[home],
        "municipality": town[home],
        "size": np.bincount(home)[home],
        "agegrp": age,
        "sex": rng.integers(0, 2, n),
        "marital": married,
        "citizenship": citizen,
    }
    return pa.table({name: values[order] for name, values in columns.items()})


def run_reading(md: Microdata) -> Microdata:
    """Nothing; the file is in memory already."""
    return md


def run_targeted(md: Microdata) -> Microdata:
    """Households at risk, 5 % at least; partners of the same size, else any."""
    return md.swap_records(GEOGRAPHY, seed=1, similar=[["size"], []])


def run_random(md: Microdata) -> Microdata:
    """5 % of the households, of the same size and in the same district."""
    return md.swap_records(
        GEOGRAPHY, seed=1, method="random", similar=["size"], within=["district"]
    )


CONTESTANTS = {"reading": run_reading, "targeted": run_targeted, "random": run_random}


def measured_apart(what: str, n: int) -> list[str]:
    """CPU and wall seconds, peak megabytes, quality."""
    command = [sys.executable, __file__, "--run", what, str(n)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return output.strip().split(maxsplit=3)


def quality(made: Microdata) -> str:
    """What record swapping did, in a few words."""
    if not made.history:
        return "-"
    found = made.history[-1].found
    levels = found["levels"].values()
    risky, left = (sum(one[what] for one in levels) for what in ("risky", "left"))
    places = ", ".join(f"{one['moved']:,} across {name}" for name, one in found["levels"].items())
    return f"{100 * found['rate']:.2f} % moved ({places}); at risk {risky:,}, left {left:,}"


def run_here(what: str, n: int) -> None:
    """Run one contestant and print its figures."""
    CONTESTANTS[what](Microdata(households(5_000), keys=KEYS, household="household"))
    md = Microdata(households(n), keys=KEYS, household="household")
    used, start = time.process_time(), time.perf_counter()
    made = CONTESTANTS[what](md)
    used, start = time.process_time() - used, time.perf_counter() - start
    print(used, start, peak_megabytes(), quality(made))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
