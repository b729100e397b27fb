"""What it costs to count tables for good, alone and together, and to start again.

python benchmarks/serve_journal.py [postgresql://user@host/database]

Without a database the journal is in a SQLite file in the folder of temporary files. A table is
counted by 1, 8 and 40 askers at the same time; then 250,000 entries are added and the journal is
opened again, before and after they were moved into an archive. How long a write takes to reach the
disk decides most of it, so that is measured too.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa

import diskret as dk
from diskret.serve import DataSet, Variable
from diskret.serve.allowance import Allowance
from diskret.serve.journal import Journal
from diskret.serve.question import Family

KEYS = dk.SecretKeys(bytes(range(32)))
NUMBER = count()
DATA = DataSet(
    "census",
    pa.table({"sex": ["f", "m"], "key": [1, 2]}),
    "key",
    (Variable("sex", ("f", "m")),),
    dk.PerturbationTable.maximum_entropy(5, 3),
    questions=10**9,
)


def family() -> Family:
    """One that nobody had."""
    number = next(NUMBER)
    return Family("census", ("sex",), (("number", (f"{number}", f"{number + 1}")),))


def counted(allowance: Allowance, askers: int, each: int = 20) -> float:
    """Milliseconds for a table, where so many ask at the same time."""

    def ask(who: str) -> None:
        for _ in range(each):
            allowance.ask([family()], who, DATA)

    threads = [threading.Thread(target=ask, args=(f"user {i}",)) for i in range(askers)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - began) / askers / each * 1000


def disk(folder: Path) -> float:
    """Milliseconds for a page to reach the disk, the median of 50."""
    taken: list[float] = []
    with open(folder / "page", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - began)
    return float(np.median(taken)) * 1000


def main() -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        place = sys.argv[1] if len(sys.argv) > 1 else str(Path(folder) / "service.db")
        dk.Ledger.create(place, keys=KEYS)
        journal = Journal(place, KEYS)
        allowance = Allowance(journal.turn)
        print(f"a page reaches the disk: {disk(Path(folder)):.1f} ms")
        for askers in (1, 8, 40):
            print(f"{askers} at the same time: {counted(allowance, askers):.1f} ms for a table")
        taken = 0.0
        for _ in range(25):
            for _ in range(10_000):
                journal.gather("answered", "somebody", family())
            began = time.perf_counter()
            journal.flush()
            taken = time.perf_counter() - began
        print(f"10,000 entries together, the last time: {taken:.2f} s")
        opened(place)
        began = time.perf_counter()
        moved = journal.roll(Path(folder) / "archive")
        print(f"moved into an archive, {moved:,} entries: {time.perf_counter() - began:.2f} s")
        opened(place)
        began = time.perf_counter()
        entries = journal.check(Path(folder) / "archive")
        print(f"checked with the archive, {entries:,} entries: {time.perf_counter() - began:.2f} s")


def opened(place: str) -> None:
    """Print how long it takes to open the journal and to know what counts."""
    began = time.perf_counter()
    Allowance(Journal(place, KEYS).turn)
    print(f"opened again: {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
