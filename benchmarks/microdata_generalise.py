"""The best levels of seven keys, the assistant of recoding and recoding itself: seconds, memory.

    python benchmarks/microdata_generalise.py [10000 100000 1000000]

Six keys as they come, and an income in 64 classes; 42,000 combinations of levels. Seconds are
those of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from _records import KEYS, persons

from diskret import Microdata

WIDTHS = {
    "region": [2, 4, 8],
    "agegrp": [2, 4, 8],
    "sex": [2],
    "marital": [2, 4],
    "educ": [2, 4],
    "occ": [2, 4, 8],
    "income": [2, 4, 8, 16, 32],
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    for rows in parser.parse_args(arguments).rows:
        measure(rows)


def measure(rows: int) -> None:
    """One line for each task on a file of so many persons."""
    table = persons(rows)
    income = table.column("inc1").to_numpy()
    classes = np.searchsorted(np.quantile(income, np.arange(1, 64) / 64), income)
    table = table.append_column("income", pa.array(classes))
    print(f"{rows:,} records, {table.nbytes / 1e6:.0f} MB; {peak_megabytes():.0f} MB held before")

    def six() -> Microdata:
        return Microdata(table, keys=KEYS, weight="w")

    def seven() -> Microdata:
        return Microdata(table, keys=(*KEYS, "income"))

    timed("recode: breaks", lambda: six().recode("inc1", method="equal_number", classes=10))
    timed("recode: groups", lambda: six().recode("occ", groups={"rest": [8, 9, 10]}))
    timed("recode_candidates", lambda: six().recode_candidates(k=5))
    for metric in ("entropy", "precision", "discernibility"):
        for share in (0.0, 0.02):
            made = timed(
                f"generalise: {metric}, {share:.0%} suppressed",
                lambda m=metric, s=share: seven().generalise(WIDTHS, 5, metric=m, suppression=s),
            )
            found = made.history[-1].found
            print(
                f"    levels {tuple(found['levels'].values())}, loss {found['loss']:.4f}, "
                f"{found['examined']:,} of {found['combinations']:,} combinations examined"
            )


def timed(task: str, run: Callable[[], Any]) -> Any:
    begin = time.process_time()
    made = run()
    seconds = time.process_time() - begin
    print(f"  {task:40} {seconds:6.2f} s  peak {peak_megabytes():.0f} MB", flush=True)
    return made


if __name__ == "__main__":
    main()
