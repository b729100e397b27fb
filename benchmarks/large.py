"""Large tables from records to proof: seconds of each stage, cells, cost, peak memory.

    python benchmarks/large.py [--method modular] [--seconds 300] [--value] [3d-100k ...]

Records are drawn here, with a fixed seed: codes by a shuffled power law (exponent 0.7), values
log-normal. Minimum frequency 4, or with ``--value`` p% with p = 10.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes

import diskret as dk

#: Branching of each dimension, and number of records.
TABLES: dict[str, tuple[tuple[tuple[int, ...], ...], int]] = {
    "2d-100k": (((16, 16), (19, 19)), 500_000),
    "3d-10k": (((5, 5), (5, 5), (10,)), 50_000),
    "3d-100k": (((9, 9), (6, 6), (5, 4)), 400_000),
    "3d-1m": (((14, 14), (10, 10), (9, 4)), 4_800_000),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Protect and prove each table; one line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["3d-100k"], help=", ".join(TABLES))
    parser.add_argument("--method", default="modular")
    parser.add_argument("--seconds", type=float, help="time limit of the search")
    parser.add_argument("--value", action="store_true", help="protect values, not counts")
    options = parser.parse_args(arguments)
    rule = dk.rules.PPercent(10, minimum_level=1) if options.value else dk.rules.MinimumFrequency(4)
    for name in options.tables:
        begin = time.perf_counter()
        table = tabulated(name, options.value)
        cells = int(np.prod(table.shape))
        print(f"{name}: {cells:,} cells tabulated in {time.perf_counter() - begin:.1f} s")
        stages = _Stages()
        result = dk.suppress(
            table, rule, method=options.method, time_limit=options.seconds, progress=stages
        )
        stages.end()
        hidden = int(result.published.suppressed.sum())
        unsafe = int(result.sensitivity.unsafe.sum())
        print(f"  {unsafe:,} unsafe, {hidden - unsafe:,} secondaries; gap {result.gap}")


def tabulated(name: str, value: bool) -> dk.Table:
    """A table of records that are drawn on the spot."""
    branching, records = TABLES[name]
    random = np.random.default_rng(10)
    columns: dict[str, pa.Array] = {}
    trees: dict[str, dk.Hierarchy] = {}
    for letter, of in zip("ABC", branching, strict=False):
        tree = trees[letter] = _tree(letter, of)
        codes = np.array(tree.codes)[tree.leaves]
        weight = random.permutation(1 / np.arange(1, len(codes) + 1) ** 0.7)
        drawn = random.choice(len(codes), records, p=weight / weight.sum()).astype(np.int32)
        columns[letter] = pa.DictionaryArray.from_arrays(pa.array(drawn), pa.array(codes.tolist()))
    columns = {letter: column.cast(pa.string()) for letter, column in columns.items()}
    if value:
        drawn = np.maximum(1, np.rint(np.exp(random.normal(4, 1.5, records))))
        columns["value"] = pa.array(drawn.astype(np.int64))
    return dk.tabulate(pa.table(columns), by=trees, value="value" if value else None)


def _tree(letter: str, branching: Sequence[int]) -> dk.Hierarchy:
    codes, parents = [letter], [-1]

    def grow(above: int, depth: int) -> None:
        if depth < len(branching):
            for i in range(1, branching[depth] + 1):
                codes.append(f"{codes[above]}{i:02d}")
                parents.append(above)
                grow(len(codes) - 1, depth + 1)

    grow(0, 0)
    return dk.Hierarchy(tuple(codes), np.array(parents, dtype=np.int32))


class _Stages:
    """Prints a stage when the next one begins."""

    def __init__(self) -> None:
        self._task, self._begin = "prepare", time.perf_counter()

    def __call__(self, task: str, done: int, total: int) -> None:
        if task != self._task:
            self.end()
            self._task = task

    def end(self) -> None:
        """Print the stage that has just ended."""
        now = time.perf_counter()
        print(f"  {self._task}: {now - self._begin:.1f} s, {peak_megabytes():.0f} MB", flush=True)
        self._begin = now


if __name__ == "__main__":
    main()
