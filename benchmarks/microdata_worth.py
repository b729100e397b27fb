"""CPU seconds and peak memory of what is measured between original and protected records.

Run it from the repository as ``python benchmarks/microdata_worth.py [records …]``; the default is
10,000, 100,000 and 1,000,000 persons with 6 keys and 4 numeric variables, which noise of 20 % of a
standard deviation has changed. Each figure comes from a process of its own, with one thread. Peak
memory is that of the whole process, both files in memory included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from _records import KEYS, NUMERIC, persons

from diskret import Microdata, utility
from diskret.utility import RecordsComparison


def main(sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds and peak megabytes."""
    print(f"{'records':>10} {'what':<16} {'CPU s':>7} {'MB':>6}")
    for n in sizes:
        persons(n)
        for what in CONTESTANTS:
            seconds, peak = map(
                min, zip(*(measured_apart(what, n) for _ in range(rounds)), strict=True)
            )
            print(f"{n:>10,} {what:<16} {seconds:>7.2f} {peak:>6.0f}", flush=True)


def run_nothing(found: RecordsComparison) -> None:
    """Both files are in memory already."""


def run_values(found: RecordsComparison) -> None:
    """IL1s, IL1, SSE/SST, λ of numeric variables."""
    assert found.il1s > 0


def run_moments(found: RecordsComparison) -> None:
    """Means, quantiles, correlations of values, ranks and normal scores of both files."""
    assert found.before.complete == found.after.complete


def run_tables(found: RecordsComparison) -> None:
    """Contingency tables of up to two keys."""
    assert found.categories is not None


def run_propensity(found: RecordsComparison) -> None:
    """pMSE, 56 parameters."""
    assert found.propensity().pmse > 0


def run_regression(found: RecordsComparison) -> None:
    """One regression in both files."""
    found.regression("inc1", ["inc2", "region"])


def run_all(found: RecordsComparison) -> None:
    """All key figures."""
    assert found.figures


def run_regions(found: RecordsComparison) -> None:
    """All key figures in each region."""
    found.by("region")


CONTESTANTS = {
    "nothing": run_nothing,
    "values": run_values,
    "moments": run_moments,
    "tables": run_tables,
    "propensity": run_propensity,
    "regression": run_regression,
    "all key figures": run_all,
    "in each region": run_regions,
}


def noisy(n: int) -> RecordsComparison:
    """Persons beside the same with noise."""
    table = persons(n)
    rng = np.random.default_rng(1)
    changed = table
    for name in NUMERIC:
        values = table.column(name).to_numpy().astype(np.float64)
        values = values + rng.normal(0, 0.2 * values.std(), n)
        changed = changed.set_column(changed.schema.get_field_index(name), name, pa.array(values))
    return utility.compare(Microdata(table, keys=KEYS, numeric=NUMERIC, weight="w"), changed)


def measured_apart(what: str, n: int) -> list[float]:
    """CPU seconds and peak megabytes; imports and reading not counted as time."""
    command = [sys.executable, __file__, "--run", what, str(n)]
    # threads that wait for each other use CPU time, too
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=alone)
    return [float(figure) for figure in output.stdout.split()]


def run_here(what: str, n: int) -> None:
    """Run one contestant and print its figures."""
    CONTESTANTS[what](noisy(10_000))  # modules are imported at a first call
    found = noisy(n)
    used = time.process_time()
    CONTESTANTS[what](found)
    print(time.process_time() - used, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
