"""Controlled tabular adjustment and additive noise: what they change, seconds, and memory.

    python benchmarks/adjustment.py [t2_1k t3_1k t2_10k] [--additive t3_100k] [--seconds 60]

Tables come from the generator ``bench/gen_tables.py`` in the reference data folder
(``DISKRET_REFERENCE_DATA``, default ``../shared`` beside the repository). Sensitive by the p%
rule with p = 10. The sum of all changes is compared with the value of the cells that
`sequential` would suppress, primaries included. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from suppression import tabulated

from diskret import adjust, suppress
from diskret.adjustment import make_additive
from diskret.rules import PPercent

TABLES = ("t2_1k", "t3_1k", "t2_10k")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--additive", nargs="*", default=["t3_10k", "t3_100k"])
    parser.add_argument("--seconds", type=float, help="time limit of each adjustment")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        print("table   sensitive      change  at least   suppressed  percent  largest  seconds")
        for name in options.tables:
            measure_adjustment(name, Path(folder), options.seconds)
        print("table    method  changed %  largest  variance  error before  after  seconds")
        for name in options.additive:
            measure_additive(name, Path(folder))


def measure_adjustment(name: str, folder: Path, seconds: float | None) -> None:
    """Adjust a table; one line."""
    table = tabulated(name, folder)["value"]
    begin = time.process_time()
    result = adjust(table, PPercent(10), time_limit=seconds)
    passed = time.process_time() - begin
    hidden = suppress(table, PPercent(10), method="sequential").published.suppressed
    figures = result.certificate.figures
    suppressed = int(table.measure.sum[hidden].sum())
    print(
        f"{name:7} {figures['sensitive']:9,} {figures['total_change']:11,.0f}"
        f" {result.settings['at_least']:9,.0f} {suppressed:12,}"
        f" {100 * figures['total_change'] / suppressed:7.2f}"
        f" {figures['largest_change']:8,.0f} {passed:8.1f}",
        flush=True,
    )


def measure_additive(name: str, folder: Path) -> None:
    """Make counts with noise of −3 to 3 additive, in both ways; one line each."""
    table = tabulated(name, folder)["count"]
    count = table.measure.sum
    random = np.random.default_rng(1)
    noise = np.where(count > 0, random.integers(-3, 4, count.shape), 0)
    perturbed = np.maximum(count + noise, 0)
    before = np.sqrt(((perturbed - count) ** 2).mean())
    for method in ("ipf", "least"):
        begin = time.process_time()
        fit = make_additive(table.dimensions, perturbed, method)
        passed = time.process_time() - begin
        report = fit.report()
        after = np.sqrt(((fit.value - count) ** 2).mean())
        print(
            f"{name:8} {method:6} {report['share']:10.1f} {report['largest']:8.0f}"
            f" {report['added_variance']:9.2f} {before:13.2f} {after:6.2f} {passed:8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    from _memory import peak_megabytes

    main()
    print(f"peak memory {peak_megabytes():.0f} MB")
