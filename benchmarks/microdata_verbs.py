"""Every verb of microdata, beside sdcMicro on the same file: CPU seconds and peak memory.

    python benchmarks/microdata_verbs.py [10000 100000 1000000] [--only noise] [--rounds 3]

Persons come from ``_records.py``: six keys, four incomes, household, weight. A task starts from
`Microdata` and ends with what it returns; imports and compiled loops are not counted. The fastest
run counts; at a million records there is one. Memory is what a task holds at most beyond what was
held before it. What sdcMicro 5.8.1 takes was measured on the same files with R 4.2.2 and two
threads, or in seconds until it was stopped; "-": it has no such thing, or it was not measured.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from _records import KEYS, NUMERIC, persons

import diskret as dk
from diskret import Microdata
from diskret.risk.intervals import deviation_intervals
from diskret.risk.linkage import linked
from diskret.risk.neighbours import Seen

OFFICE = dk.SecretKeys(bytes(range(32)))
SIZES = (10_000, 100_000, 1_000_000)
#: Widths of the classes of keys that have an order, and of an income in 64 classes.
WIDTHS = {
    "region": [2, 4, 8],
    "agegrp": [2, 4, 8],
    "sex": [2],
    "marital": [2, 4],
    "educ": [2, 4],
    "occ": [2, 4, 8],
    "income": [2, 4, 8, 16, 32],
}


class File:
    """A file of persons, and what tasks are given of it."""

    def __init__(self, n: int) -> None:
        self.table = persons(n)
        income = self.table.column("inc1").to_numpy()
        classes = np.searchsorted(np.quantile(income, np.arange(1, 64) / 64), income)
        self.classed = self.table.append_column("income", pa.array(classes))
        original = self.plain().numbers()
        noise = np.random.default_rng(1).normal(scale=0.1, size=original.shape)
        self.seen = Seen(original), Seen(original + noise * original.std(axis=0))
        self.noisy = self.plain().add_noise(share=0.1, seed=1)

    def plain(self) -> Microdata:
        return Microdata(self.table, keys=KEYS, numeric=NUMERIC, weight="w")

    def homes(self) -> Microdata:
        return Microdata(self.table, keys=KEYS, weight="w", household="hid")

    def seven(self) -> Microdata:
        return Microdata(self.classed, keys=(*KEYS, "income"))

    def known(self) -> Microdata:
        return Microdata(self.table, keys=KEYS[:5], sensitive=["occ"])


def noise(method: Any) -> Callable[[File], Any]:
    return lambda file: file.plain().add_noise(method=method, share=0.2, seed=1)


def groups(method: str, **options: Any) -> Callable[[File], Any]:
    return lambda file: file.plain().microaggregate(method=method, **options)


def nearest(metric: Any) -> Callable[[File], Any]:
    return lambda file: linked(*file.seen, metric).share


TASKS: dict[str, Callable[[File], Any]] = {
    "risk: individual": lambda file: file.plain().risk().records,
    "risk: households": lambda file: file.homes().risk().records,
    "anonymity: k, l, t": lambda file: file.known().anonymity().records,
    "suda": lambda file: file.plain().suda(),
    "risky_combinations": lambda file: file.plain().risky_combinations(),
    "population_uniques": lambda file: file.plain().population_uniques(),
    "recode: classes": lambda file: file.plain().recode("inc1", method="equal_width", classes=10),
    "recode: groups": lambda file: file.plain().recode("occ", groups={"rest": [8, 9, 10]}),
    "recode: top": lambda file: file.plain().recode("inc1", top=4000),
    "recode_candidates": lambda file: file.plain().recode_candidates(k=5),
    "generalise": lambda file: file.seven().generalise(WIDTHS, 5),
    "generalise, 2 % suppressed": lambda file: file.seven().generalise(WIDTHS, 5, suppression=0.02),
    "local_suppression": lambda file: file.plain().local_suppression(3),
    "local_suppression: wildcard": lambda file: file.plain().local_suppression(
        3, matches="wildcard"
    ),
    "pram": lambda file: file.plain().pram("occ", seed=1),
    "pram: exact": lambda file: file.plain().pram("occ", seed=1, exact=True),
    "microaggregate: mdav": groups("mdav"),
    "microaggregate: pca": groups("pca"),
    "microaggregate: individual": groups("individual"),
    "microaggregate: rmd": groups("rmd"),
    "add_noise: additive": noise("additive"),
    "add_noise: correlated": noise("correlated"),
    "add_noise: restricted": noise("restricted"),
    "add_noise: romm": noise("romm"),
    "add_noise: outliers": noise("outliers"),
    "rank_swap": lambda file: file.plain().rank_swap(correlation=0.95, seed=1),
    "shuffle": lambda file: file.plain().shuffle(NUMERIC[:2], NUMERIC[2:], seed=1),
    "swap": lambda file: file.plain().swap("region", within=["agegrp", "sex"], seed=1),
    "swap_records": lambda file: file.homes().swap_records("region", seed=1),
    "top_code": lambda file: file.plain().top_code("inc1", share=0.01, within="region"),
    "top_code_together": lambda file: file.plain().top_code_together(NUMERIC),
    "linkage: standardised": nearest("standardised"),
    "linkage: Gower": nearest("gower"),
    "intervals: SDID": lambda file: (
        deviation_intervals(file.seen[0].numbers, file.seen[1].numbers).share
    ),
    "numeric_risk": lambda file: file.noisy.numeric_risk(),
    "compare: IL1s": lambda file: file.noisy.compare().il1s,
    "compare: all figures": lambda file: file.noisy.compare().figures,
    "release": lambda file: file.plain().release(dk.claims.ExpectedBelow(1), keys=OFFICE),
}
#: What sdcMicro takes for 100,000 and 1,000,000 records.
PEER = {
    "risk: individual": (0.14, 6.1),
    "risk: households": (5.8, 94),
    "anonymity: k, l, t": (0.15, 3.1),
    "suda": (2.7, 48),
    "population_uniques": (12.9, None),
    "local_suppression: wildcard": (200, None),
    "local_suppression": (200, None),
    "pram": (15.5, 114),
    "microaggregate: mdav": (200, None),
    "microaggregate: pca": (22.9, 178),
    "microaggregate: individual": (2.5, None),
    "add_noise: additive": (0.014, None),
    "rank_swap": (5.7, 200),
    "shuffle": (5.1, None),
    "swap_records": (2.7, 69),
    "intervals: SDID": (0.22, 8.7),
    "compare: IL1s": (0.04, None),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=SIZES)
    parser.add_argument("--only", default="", help="part of the names of tasks")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'records':>10}  {'task':30}{'CPU s':>9}{'peer s':>9}{'MB more':>9}")
    for rows in options.rows:
        persons(rows)
        command = [sys.executable, __file__, "--run", str(rows), options.only, str(options.rounds)]
        subprocess.run(command, check=True)


def measure(rows: int, only: str, rounds: int) -> None:
    """All tasks on a file of one size."""
    small, file = File(10_000), File(rows)
    at = {100_000: 0, 1_000_000: 1}.get(rows)
    for task, run in TASKS.items():
        if only not in task:
            continue
        run(small)  # loads modules, compiles loops
        held, seconds = _fresh_peak(), float("inf")
        for _ in range(rounds if rows < 1_000_000 else 1):
            begin = time.process_time()
            run(file)
            seconds = min(seconds, time.process_time() - begin)
        peer = PEER.get(task, (None, None))[at] if at is not None else None
        print(
            f"{rows:>10,}  {task:30}{seconds:>9.3f}{peer if peer else '-':>9}"
            f"{peak_megabytes() - held:>9.0f}",
            flush=True,
        )


def _fresh_peak() -> float:
    """Megabytes held now; from here on the peak is counted anew, where the system can do that."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        pass
    return peak_megabytes()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        measure(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        main()
