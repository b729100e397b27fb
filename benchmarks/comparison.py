"""SAFE, record swapping, small counts, cell keys and suppression on the tables of one census.

Run it from the repository as ``python benchmarks/comparison.py [persons …]``; the default is
10,000, 100,000 and 1,000,000 persons of `diskret.datasets.census`. Three tables are protected, two
of them with municipalities; two more are not planned, and only methods that make files have
figures for them ("further"). ``docs/comparison.md`` explains the columns. Each method runs in a
process of its own; its seconds are those of protection alone, without making up, reading and
counting the census. Peak memory is that of the whole process; "original" does nothing but count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes

import diskret as dk
from diskret.tables import Table

VARIABLES = ("municipality", "sex", "marital", "nationality", "activity")
PLANNED = (
    ("municipality", "sex", "marital"),
    ("municipality", "nationality", "activity"),
    ("sex", "marital", "activity"),
)
FURTHER = (("municipality", "marital", "activity"), ("nationality", "marital"))
#: The variable of each planned table whose categories disclose groups.
CATEGORIES = ("marital", "activity", "activity")
PLACE = ("state", "district", "municipality")
KEYS = dk.SecretKeys(bytes(range(32)))


class Case:
    """A census of `n` persons, and the planned tables."""

    def __init__(self, n: int):
        columns = ["household", "household_size", "state", "district", *VARIABLES]
        persons = dk.datasets.census(n, seed=1).persons.select(columns)
        persons = persons.append_column("person", pa.array(np.arange(n)))
        self.records = dk.record_keys(persons, id="person", keys=KEYS)
        self.trees = {
            name: dk.Hierarchy.flat(sorted(set(persons[name].unique().to_pylist())))
            for name in VARIABLES
        }
        self.persons = dk.Microdata(
            self.records, household="household", identifiers=["person", "record_key"]
        )

    @cached_property
    def tables(self) -> list[Table]:
        """The original ones."""
        return [self.counted(self.records, names, record_key="record_key") for names in PLANNED]

    @cached_property
    def every(self) -> Table:
        """All variables."""
        return self.counted(self.records, VARIABLES)

    def counted(self, records: Any, names: tuple[str, ...], **options: Any) -> Table:
        """A table with the codes that the original has."""
        return dk.tabulate(records, by={name: self.trees[name] for name in names}, **options)


def run_original(case: Case) -> Any:
    """Nothing."""
    return case.persons


def run_safe(case: Case) -> Any:
    """SAFE."""
    return case.persons.safe(PLANNED, seed=1)


def run_safe_new(case: Case) -> Any:
    """SAFE with new combinations."""
    return case.persons.safe(PLANNED, seed=1, new_combinations=True)


def run_swapping(case: Case, rate: float = 0.05) -> Any:
    """Households at risk, 5 % at least."""
    risk = ["sex", "marital", "nationality"]
    return case.persons.swap_records(
        PLACE, seed=1, rate=rate, risk_variables=risk, similar=[["household_size"], []]
    )


def run_swapping_less(case: Case) -> Any:
    """Households at risk and no others."""
    return run_swapping(case, rate=0)


def run_small_counts(case: Case) -> Any:
    """1 and 2 become 0 or 3."""
    return dk.round_table(case.tables, 3, "small_counts", inner=case.every, keys=KEYS)


def run_cell_key(case: Case) -> Any:
    """Noise of at most 4 with a variance of 2.25, no 1 and 2."""
    noise = dk.PerturbationTable.maximum_entropy(max_noise=4, variance=2.25, small_counts=2)
    return [dk.perturb(table, noise) for table in case.tables]


def run_suppression(case: Case) -> Any:
    """1 and 2 are unsafe; refused if no safe pattern is found within ten minutes."""
    return dk.suppress(
        case.tables, dk.rules.MinimumFrequency(3), method="sequential", time_limit=600
    )


CONTESTANTS: dict[str, Callable[[Case], Any]] = {
    "original": run_original,
    "SAFE": run_safe,
    "SAFE, new": run_safe_new,
    "swapping": run_swapping,
    "… at risk": run_swapping_less,
    "small counts": run_small_counts,
    "cell key": run_cell_key,
    "suppression": run_suppression,
}

#: Heading → figure and format.
COLUMNS = {
    "cells": ("cells", ",.0f"),
    "CPU s": ("seconds", ".1f"),
    "wall s": ("wall", ".1f"),
    "MB": ("megabytes", ".0f"),
    "mean": ("mean", ".2f"),
    "largest": ("largest", ".0f"),
    "same %": ("same", ".1f"),
    "false 0": ("false_zeros", ",.0f"),
    "withheld": ("withheld", ",.0f"),
    "broken": ("broken_equations", ",.0f"),
    "small": ("small", ",.0f"),
    "true": ("true_small", ",.0f"),
    "groups": ("groups", ",.0f"),
    "true ": ("true_groups", ",.0f"),
    "uniques": ("uniques", ",.0f"),
    "further": ("further", ".2f"),
    "largest ": ("further_largest", ".0f"),
}


def main(sizes: list[int]) -> None:
    """Print a table of seconds, memory, loss and disclosures."""
    print(f"{'persons':>9} {'method':12}", *(f"{name:>8}" for name in COLUMNS), flush=True)
    for n in sizes:
        for method in CONTESTANTS:
            command = [sys.executable, __file__, "--run", method, str(n)]
            done = subprocess.run(command, capture_output=True, encoding="utf-8")
            if done.returncode:
                why = done.stderr.strip().splitlines() or ["stopped"]
                print(f"{n:>9,} {method:12}", why[-1], flush=True)
                continue
            found = json.loads(done.stdout)
            row = (
                f"{format(found[name], shape) if name in found else '-':>8}"
                for name, shape in COLUMNS.values()
            )
            print(f"{n:>9,} {method:12}", *row, flush=True)


def run_here(method: str, n: int) -> dict[str, float]:
    """Protect, and what came out."""
    if n > 3_000:  # compile
        run_here(method, 3_000)
    case = Case(n)
    # tables are there before time is taken, but only where they are needed
    needed = (case.tables, case.every) if method == "small counts" else case.tables
    used, wall = time.process_time(), time.perf_counter()
    made = CONTESTANTS[method](case)
    found: dict[str, float] = {
        "seconds": time.process_time() - used,
        "wall": time.perf_counter() - wall,
        "megabytes": peak_megabytes(),
        "cells": sum(table.count.size for table in case.tables if table.count is not None),
    }
    del needed
    return found | (
        of_file(case, made) if isinstance(made, dk.Microdata) else of_tables(case, made)
    )


def of_file(case: Case, made: dk.Microdata) -> dict[str, float]:
    """Figures of a file and of the tables counted from it."""
    frame = made.frame
    kinds = frame.group_by(list(VARIABLES)).aggregate([([], "count_all")])["count_all"]
    further = made.deviations(PLANNED, uncontrolled=FURTHER).uncontrolled
    assert further is not None
    return of_tables(case, [case.counted(frame, names).count for names in PLANNED]) | {
        "uniques": int((kinds.to_numpy() == 1).sum()),
        "further": further.overall.mean,
        "further_largest": further.overall.largest,
    }


def of_tables(case: Case, made: list[Any]) -> dict[str, float]:
    """Loss, and what is read off."""
    figures = dk.utility.compare(case.tables, made).figures
    seen = [
        dk.attack.disclosures(table, getattr(one, "published", one), category, least=2)
        for table, one, category in zip(case.tables, made, CATEGORIES, strict=True)
    ]
    names = ("small", "true_small", "groups", "true_groups")
    return {
        **{n: figures[n] for n in ("mean", "largest", "false_zeros", "withheld")},
        "same": 100 * figures["unchanged_share"],
        "broken_equations": figures["broken_equations"],
        **{name: sum(getattr(one, name) for one in seen) for name in names},
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(run_here(sys.argv[2], int(sys.argv[3])), default=float))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
