"""Tables of the τ-ARGUS sample: seconds of every step, secondaries, and what the attack says.

    python benchmarks/reference_tables.py [table ...] [--method sequential | ...] [--seconds 120]

Records and code lists lie in the reference data folder (``DISKRET_REFERENCE_DATA``, default
``../shared`` beside the repository). The rules are those of a run of another program, HiTaS in a
rebuilt τ-ARGUS, whose secondaries are named for comparison; it may also have protected single
contributors against each other.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diskret import DiskretError, Hierarchy, tabulate
from diskret.attack import Attacker, examine, targets_of, unmet
from diskret.deadline import Deadline
from diskret.io import Column, Source, read_fixed
from diskret.protect.plan import TableToProtect, plan, publish
from diskret.protect.suppress import METHODS
from diskret.rules import Dominance, MinimumFrequency, PPercent, Rule
from diskret.tables import Table

COLUMNS = (
    Column("Industry", 4, 5),
    Column("Size", 9, 2),
    Column("Region", 12, 2),
    Column("Var2", 28, 10),
)


@dataclass(frozen=True)
class Case:
    """A table with its rule, and the secondaries of the other program (None: not finished)."""

    by: tuple[str, ...]
    rule: Callable[[], Rule]
    theirs: int | None = None


CASES = {
    "industry-size": Case(
        ("Industry", "Size"), lambda: PPercent(15) | MinimumFrequency(3, range=30), 413
    ),
    "region-industry": Case(("Region", "Industry"), lambda: Dominance(2, 75), 1_565),
    "industry-region": Case(
        ("Industry", "Region"), lambda: Dominance(1, 85) | MinimumFrequency(3, range=10), 1_434
    ),
    "industry-size-region": Case(
        ("Industry", "Size", "Region"), lambda: PPercent(15) | MinimumFrequency(3, range=30)
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--method", choices=tuple(METHODS), default="sequential")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of the method")
    options = parser.parse_args(arguments)
    print(
        "table                   cells  unsafe  secondary  theirs           cost  open"
        "  tabulate  method  attack"
    )
    for name in options.tables:
        measure(name, options.method, options.seconds)


def measure(name: str, method: str, seconds: float) -> None:
    """Protect one table and attack it; one line."""
    case = CASES[name]
    clock = [time.perf_counter()]
    table = tabulated(case)
    clock.append(time.perf_counter())
    sensitivity = case.rule()(table)
    problem = plan(
        [TableToProtect(table, sensitivity, sensitivity, "value", None, None, 0, name)],
        keys=None,
        attacker=Attacker(),
        deadline=Deadline.after(seconds),
        progress=lambda *_: None,
    )
    line = f"{name:20} {len(problem.cost):8,} {len(problem.requirements.cell):7,}"
    try:
        pattern = METHODS[method](problem)
    except DiskretError as error:
        print(f"{line}  {time.perf_counter() - clock[-1]:.1f} s: {error}", flush=True)
        return
    clock.append(time.perf_counter())
    published = publish(table, pattern.suppressed, name)
    targets = targets_of(published, problem.system.value, problem.requirements)
    examination = examine(published, Attacker(), targets, original=problem.system.value)
    clock.append(time.perf_counter())
    secondary = pattern.suppressed.copy()
    secondary[problem.requirements.cell] = False
    theirs = "-" if case.theirs is None else f"{case.theirs:,}"
    passed = "  ".join(f"{s:7.1f}" for s in np.diff(clock))
    print(
        f"{line} {secondary.sum():10,} {theirs:>7} {problem.cost[secondary].sum():14,.0f}"
        f" {unmet(examination, targets).sum():5,}  {passed}",
        flush=True,
    )


def tabulated(case: Case) -> Table:
    """Sums of a variable over firms, with the largest contributions."""
    records, industry, region = sample()
    trees = {"Industry": industry, "Region": region, "Size": None}
    return tabulate(records, by={n: trees[n] for n in case.by}, value="Var2", decimals=2)


def sample() -> tuple[Source, Hierarchy, Hierarchy]:
    """The records, and the trees of industries (by digits 3 + 1 + 1) and regions."""
    reference = Path(os.environ.get("DISKRET_REFERENCE_DATA", "../shared"))
    folder = reference / "data/tauargus/checkTauArgus/simple2d"
    if not folder.is_dir():
        raise SystemExit(f"no sample in {folder}: set DISKRET_REFERENCE_DATA")
    records = read_fixed(folder / "tau_testW.asc", COLUMNS)
    assert records.arrow is not None
    codes = sorted(set(records.arrow.column("Industry").to_pylist()))
    industry = Hierarchy.from_prefix(codes, [3, 1, 1])
    return records, industry, Hierarchy.read(folder / "region2.hrc")


if __name__ == "__main__":
    from _memory import peak_megabytes

    main()
    print(f"peak memory {peak_megabytes():.0f} MB")
