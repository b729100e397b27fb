"""Release of persons: CPU seconds and peak memory from records to files, and of their verification.

    python benchmarks/microdata_release.py [10000 100000 1000000]

The file of persons comes from the reference data (see ``_records.py``). Each task includes those
before it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from _memory import peak_megabytes
from _records import KEYS, NUMERIC, persons

import diskret as dk
from diskret.publish.verify.folder import verify

TASKS = ("checklist", "release", "release, write", "release, write, verify")


def run(task: str, table: pa.Table) -> None:
    md = dk.Microdata(table, keys=KEYS, numeric=NUMERIC, household="hid", weight="w")
    if task == "checklist":
        md.checklist("absolute")
        return
    office = dk.SecretKeys(bytes(range(32)))
    result = md.release(dk.claims.ExpectedBelow(1), household=True, keys=office)
    with tempfile.TemporaryDirectory() as home:
        if "write" in task:
            result.write(Path(home) / "out")
        if "verify" in task:
            verify(Path(home) / "out", keys=office)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args(arguments)
    print(f"{'rows':>10}  {'task':26}{'CPU s':>8}{'MB more':>9}{'MB data':>9}")
    for rows in options.rows:
        persons(rows)  # made before anything is measured
        for task in TASKS:
            # a fresh process for each, so that peaks do not add up
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, more, data = pool.apply(_measured, (task, rows))
            print(f"{rows:>10,}  {task:26}{seconds:>8.2f}{more:>9.0f}{data:>9.0f}", flush=True)


def _measured(task: str, rows: int) -> tuple[float, float, float]:
    run(task, persons(10_000))  # everything is loaded
    table = persons(rows)
    before, start = peak_megabytes(), time.process_time()
    run(task, table)
    return time.process_time() - start, peak_megabytes() - before, table.nbytes / 1e6


if __name__ == "__main__":
    main()
