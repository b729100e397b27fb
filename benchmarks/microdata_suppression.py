"""Local suppression: CPU seconds, peak memory, suppressed values; small files beside the optimum.

python benchmarks/microdata_suppression.py [rows …]

Records of persons with six keys, k = 3, in both senses of agreement: `wildcard`, as few values as
possible, and `visible`, where each record is common by what it still shows. Each run is a process
of its own. At the end 50 random small files, as multiples of the exact optimum.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _memory import peak_megabytes
from _records import KEYS, persons

from diskret import Microdata

SIZES = (10_000, 100_000, 1_000_000)
MATCHES = ("wildcard", "visible")


def measure(rows: int, matches: str) -> None:
    """Protect one file after the loops are compiled, and print what it took."""
    warm_up = Microdata(persons(10_000).slice(0, 500), keys=KEYS)
    warm_up.local_suppression(matches=matches)  # type: ignore[arg-type]
    md = Microdata(persons(rows), keys=KEYS)
    before, start = peak_megabytes(), time.process_time()
    made = md.local_suppression(matches=matches)  # type: ignore[arg-type]
    seconds = time.process_time() - start
    found = made.history[-1].found
    size = md.table.nbytes / 1e6
    print(
        f"{rows:>9,}  {matches:<8}  {seconds:>8.2f} s  {peak_megabytes() - before:>6.0f} MB more "
        f"({size:.0f} MB data)  {found['values']:>7,} values in {found['records']:>7,} records",
        flush=True,
    )


def small(number: int = 50) -> None:
    """Values suppressed in small files, and the fewest possible."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "microdata" / "suppression"))
    from suppression_files import least_number, problem_of  # pyright: ignore

    from diskret.microdata.suppression import fewest_values

    random = np.random.default_rng(2)
    found, least = 0, 0
    for _ in range(number):
        n, m, k = (int(random.integers(*span)) for span in ((8, 20), (2, 5), (2, 4)))
        rows = np.stack([random.integers(0, random.integers(2, 5), n) for _ in range(m)], axis=1)
        found += int(fewest_values(problem_of(rows, k)).sum())
        least += least_number(rows, k)
    print(f"{number} small files: {found} values, the fewest possible are {least}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        measure(int(sys.argv[2]), sys.argv[3])
    else:
        for rows in [int(one) for one in sys.argv[1:]] or SIZES:
            for matches in MATCHES:
                subprocess.run([sys.executable, __file__, "one", str(rows), matches], check=True)
        small()
