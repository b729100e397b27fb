"""How long it takes to check a new table beside a ledger of many releases.

python benchmarks/ledger.py [small | programme | hard | rare]

``programme``: 20 tables by two of seven variables in each of ten periods. ``hard``: 200 tables
by two of 21 variables in one period. ``rare``: as ``programme`` with categories so rare that
margins are hidden, too, which ties all tables of a period. ``small``: five tables of one period.
Each table has about 5,000 cells (small: 1,000). Checked are a new pair of variables, and a table
that is there already with two categories combined, of which all cells would be published.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from _memory import peak_megabytes

import diskret as dk
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Table
from diskret.tables.add_up import add_up

SEED = 1
#: Periods, variables, tables a period, codes of a variable, records, how rare the rarest codes are.
SIZES = {
    "small": (1, 4, 5, 30, 20_000, 0.8),
    "programme": (10, 7, 20, 70, 120_000, 0.8),
    "hard": (1, 21, 200, 70, 120_000, 0.8),
    "rare": (1, 7, 20, 70, 20_000, 2.0),
}
RULE = dk.rules.MinimumFrequency(3)


def programme(size: str, seed: int = SEED) -> list[Table]:
    """All tables of a programme, period after period; behind them one more of the last period."""
    periods, variables, tables, codes, records, rare = SIZES[size]
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, codes + 1) ** rare
    trees = [_tree(codes, nested=bool(v % 2)) for v in range(variables)]
    made: list[Table] = []
    for period in range(periods):
        place = [
            rng.permutation(_leaves(tree))[rng.choice(codes, records, p=share / share.sum())]
            for tree in trees
        ]
        last = period == periods - 1
        for pair in list(combinations(range(variables), 2))[: tables + last]:
            dimensions = tuple(Dimension(f"v{v}", trees[v]) for v in pair)
            count = np.zeros(tuple(len(d) for d in dimensions), dtype=np.int64)
            np.add.at(count, tuple(place[v] for v in pair), 1)
            count = add_up(count, [d.hierarchy for d in dimensions])
            made.append(Table(dimensions, count, vintage=f"{2000 + period}"))
    return made


def _tree(codes: int, nested: bool) -> Hierarchy:
    leaves = [f"{i:03d}" for i in range(codes)]
    return Hierarchy.from_prefix(leaves, (2, 1)) if nested else Hierarchy.flat(leaves)


def _leaves(tree: Hierarchy) -> np.ndarray:
    return np.setdiff1d(np.arange(len(tree)), tree.parent)


def main() -> None:
    size = sys.argv[1] if len(sys.argv) > 1 else "small"
    *tables, new = programme(size)
    with tempfile.TemporaryDirectory() as home:
        keys = dk.SecretKeys(bytes(range(32)))
        ledger = dk.Ledger.create(Path(home) / "releases.db", keys=keys)
        hidden = 0
        for i, table in enumerate(tables):
            result = dk.suppress(table, RULE, method="modular", ledger=ledger, name="t")
            hidden += int(result.published.suppressed.sum())
            ledger.record(
                result.published,
                f"r{i}",
                original=[table.measure.sum],
                requirements=[result.certificate.requirements],
            )
        cells = sum(table.measure.sum.size for table in tables)
        print(f"{len(tables)} releases, {cells:,} cells, {hidden:,} hidden")
        ledger = dk.Ledger(Path(home) / "releases.db", keys=keys)
        v0 = tables[-1].dimensions[1]
        leaves = [v0.hierarchy.codes[i] for i in v0.hierarchy.children[v0.hierarchy.parent[-1]]]
        groups = {"new": leaves[-2:]}
        _told("a new pair", lambda: ledger.check(new))
        protected = dk.suppress(new, RULE, ledger=ledger)
        _told("a new pair, protected", lambda: ledger.check(protected))
        coarser = tables[-1].recode(v0.name, groups)
        _told("two categories combined", lambda: ledger.check(coarser))
    print(f"peak memory {peak_megabytes():,.0f} MB")


def _told(what: str, work: Callable[[], dk.CheckReport]) -> None:
    start, clock = time.process_time(), time.perf_counter()
    report = work()
    print(
        f"{what}: {time.process_time() - start:.2f} s CPU, {time.perf_counter() - clock:.2f} s, "
        f"attacked beside {len(report.beside)} tables, {len(report.broken)} cells broken"
    )


if __name__ == "__main__":
    main()
