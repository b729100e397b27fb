"""From records to the written release: CPU seconds and peak memory of every stage.

    python benchmarks/released.py FOLDER/NAME.csv [--least 4] [--p 10] [--seconds 30]
    python benchmarks/released.py 3d-1m

Either a file of records with a file `NAME.VARIABLE.csv` (code, parent) beside it for each
variable and the columns `v` and `unit`; or one of the tables of counts of `large.py`, whose
records are drawn here. `--least 4`: fewer than 4 contributors are unsafe; `--p 10`: the p% rule.
The outsider, or with `--contributor` everybody who contributes. Files are csv, html and
certificate. CPU seconds are those of all threads; a stage ends where the next one begins.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.csv as csv
from _memory import peak_megabytes
from large import TABLES, tabulated

import diskret as dk


def main(arguments: Sequence[str] | None = None) -> None:
    """Release one table; one line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "table", nargs="?", default="3d-100k", help=f"a file of records, or of {', '.join(TABLES)}"
    )
    parser.add_argument("--least", type=int, help="contributors of a safe cell; by default 4")
    parser.add_argument("--p", type=int, help="percent of the p%% rule")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--seconds", type=float, help="time limit")
    parser.add_argument("--contributor", action="store_true", help="against contributors")
    parser.add_argument("--to", type=Path, help="folder of the release; by default none stays")
    options = parser.parse_args(arguments)
    stages = Stages()
    if options.table in TABLES:
        table = tabulated(options.table, value=options.p is not None)
    else:
        table = from_files(Path(options.table))
    size = table.measure.sum.size
    rule = dk.rules.MinimumFrequency(options.least or 4)
    if options.p is not None:
        share = dk.rules.PPercent(options.p)
        rule = share if options.least is None else share | rule
    result = dk.suppress(
        table,
        rule,
        method=options.method,
        attacker=dk.Attacker(contributor=options.contributor),
        time_limit=options.seconds,
        progress=stages,
    )
    stages("write", 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        result.write(options.to or Path(folder) / "out", formats=["csv", "html"], progress=stages)
    stages("", 0, 0)
    secondary = result.status == "secondary"
    print(
        f"{size:,} cells, {(result.status == 'primary').sum():,} unsafe,"
        f" {secondary.sum():,} secondaries for {int(table.measure.sum[secondary].sum()):,};"
        f" {time.process_time():.1f} CPU s, {peak_megabytes():,.0f} MB"
    )


def from_files(path: Path) -> dk.Table:
    """Sums of records in a file by trees in files beside it."""
    trees = {}
    for file in sorted(path.parent.glob(f"{path.stem}.*.csv")):
        frame = csv.read_csv(file, convert_options=csv.ConvertOptions(strings_can_be_null=True))
        trees[file.stem.removeprefix(f"{path.stem}.")] = dk.Hierarchy.from_parents(frame)
    return dk.tabulate(path, by=trees, value="v", unit="unit")


class Stages:
    """Prints a stage when the next one begins."""

    def __init__(self) -> None:
        self._task, self._cpu, self._wall = "tabulate", 0.0, time.perf_counter()

    def __call__(self, task: str, done: int, total: int) -> None:
        if task == self._task:
            return
        cpu, wall = time.process_time(), time.perf_counter()
        print(
            f"  {self._task}: {cpu - self._cpu:.1f} CPU s, {wall - self._wall:.1f} s,"
            f" {peak_megabytes():,.0f} MB",
            flush=True,
        )
        self._task, self._cpu, self._wall = task, cpu, wall


if __name__ == "__main__":
    main()
