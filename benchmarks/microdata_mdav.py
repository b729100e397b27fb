"""CPU seconds, peak memory and information loss of microaggregation in several variables.

Run it from the repository as ``python benchmarks/microdata_mdav.py [records …]``; the default is
10,000, 100,000 and 1,000,000 persons, 4 numeric variables, k = 3. Each figure comes from a process
of its own, which has done the same with few records before. Peak memory is that of the whole
process, the file in memory included; "reading" is that of a process that only reads the file.
The last column is the share of the variance that is lost (SSE/SST).
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from _memory import peak_megabytes
from _records import NUMERIC, persons

from diskret import Microdata

CONTESTANTS: dict[str, dict[str, Any] | None] = {
    "reading": None,
    "random": {"method": "random", "seed": 1},
    "random_nearest": {"method": "random_nearest", "seed": 1},
    "mdav": {"method": "mdav"},
    "mdav, k = 10": {"method": "mdav", "k": 10},
    "mdav in regions": {"method": "mdav", "strata": ["region"]},
    "vmdav": {"method": "vmdav"},
    "mdav_mixed": {"method": "mdav_mixed", "ordinal": ["agegrp"], "nominal": ["sex"]},
    "gower": {"method": "gower", "ordinal": ["agegrp"], "nominal": ["sex"]},
}


def main(sizes: list[int]) -> None:
    """Print a table of seconds, peak megabytes and loss."""
    print(f"{'records':>10} {'what':<16} {'CPU s':>7} {'MB':>6} {'SSE/SST':>8}")
    for n in sizes:
        persons(n)
        for what in CONTESTANTS:
            seconds, peak, lost = measured_apart(what, n)
            print(f"{n:>10,} {what:<16} {seconds:>7.2f} {peak:>6.0f} {lost:>8.4f}", flush=True)


def measured_apart(what: str, n: int) -> list[float]:
    """CPU seconds, peak megabytes and loss; imports, compiling and reading are not time."""
    command = [sys.executable, __file__, "--run", what, str(n)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return [float(figure) for figure in output.split()]


def run_here(what: str, n: int) -> None:
    """Run one contestant and print its figures."""
    arguments = CONTESTANTS[what]
    lost, used = 0.0, time.process_time()
    for table in (persons(10_000).slice(0, 2_000), persons(n)):
        md = Microdata(table, numeric=NUMERIC)
        used = time.process_time()
        if arguments is not None:
            lost = md.microaggregate(**arguments).history[0].found["sse_sst"]
    print(time.process_time() - used, peak_megabytes(), lost)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
