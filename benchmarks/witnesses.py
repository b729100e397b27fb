"""What witnesses cost: size of their file, peak memory of protecting, writing and verifying.

    python benchmarks/witnesses.py [table ...] [--cost count value] [--contributor]

Each reference table of `suppression.py` is protected by the method ``auto`` (counts below 4, or the
p% rule with p = 10), written with its explanations, and verified by the office in a process of
its own. Peak memory is that of the process up to the end of each step; CPU seconds of all threads.
Making the table takes more memory than any of it, so that is done in another process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _memory import peak_megabytes
from suppression import COSTS, LARGE, TABLES, tabulated

import diskret as dk
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=TABLES, help=f"of {', '.join(TABLES + LARGE)}")
    parser.add_argument("--cost", choices=COSTS, nargs="+", default=COSTS)
    parser.add_argument("--contributor", action="store_true", help="against contributors")
    parser.add_argument("--verify", type=Path, help="only verify this release")
    options = parser.parse_args(arguments)
    if options.verify:
        begin = time.process_time()
        verify(options.verify, keys=KEYS)
        print(f"{time.process_time() - begin:10.1f}{peak_megabytes():8.0f}", flush=True)
        return
    print(
        "table   what    cells  hidden  witnesses   file MB  plain MB"
        "  suppress s  MB   write s  MB   verify s  MB"
    )
    if len(options.tables) * len(options.cost) > 1:  # peaks are of one process each
        for name in options.tables:
            for what in options.cost:
                again = [sys.executable, __file__, name, "--cost", what]
                again += ["--contributor"] if options.contributor else []
                run = subprocess.run(again, capture_output=True, text=True, check=True)
                print("\n".join(run.stdout.splitlines()[1:]), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(options.tables[0], options.cost[0], options.contributor, Path(folder))


def measure(name: str, what: str, contributor: bool, folder: Path) -> None:
    """Protect, write and verify one table; one line."""
    with multiprocessing.get_context("spawn").Pool(1) as apart:
        table = apart.apply(tabulated, (name, folder))[what]
    rule = dk.rules.MinimumFrequency(4) if what == "count" else dk.rules.PPercent(10)
    attacker = dk.Attacker(contributor=True) if contributor else dk.Attacker()
    begin = time.process_time()
    result = dk.suppress(table, rule, attacker=attacker, keys=KEYS)
    protected = time.process_time(), peak_megabytes()
    result.write(folder / "out", formats=["csv", "html"], keys=KEYS)
    written = time.process_time(), peak_megabytes()
    [path] = (folder / "out" / "internal").glob("*.witnesses.npz")
    with np.load(path) as file:
        plain = sum(file[one].nbytes for one in file.files)
        witnesses = len(file["denominator"])
    print(
        f"{name:7} {what:6}{table.measure.sum.size:8,}{int(result.published.suppressed.sum()):8,}"
        f"{witnesses:11,}{path.stat().st_size / 1e6:10.1f}{plain / 1e6:10.1f}"
        f"{protected[0] - begin:12.1f}{protected[1]:6.0f}{written[0] - protected[0]:9.1f}"
        f"{written[1]:6.0f}",
        end="",
        flush=True,
    )
    again = [sys.executable, __file__, "--verify", str(folder / "out")]
    run = subprocess.run(again, capture_output=True, text=True, check=True)
    print(run.stdout.rstrip(), flush=True)


if __name__ == "__main__":
    main()
