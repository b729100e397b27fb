"""What protection against contributors costs: secondaries, their cost, CPU seconds, peak memory.

    python benchmarks/contributors.py [table ...] [--cost count value]

Each reference table of `suppression.py` is protected and proven against the outsider and against
a contributor, by the method ``auto``: counts below 4 are unsafe, or sums by the p% rule with
p = 10. Every record is a contributor of its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from _memory import peak_megabytes
from suppression import COSTS, LARGE, TABLES, tabulated

import diskret as dk


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=TABLES, help=f"of {', '.join(TABLES + LARGE)}")
    parser.add_argument("--cost", choices=COSTS, nargs="+", default=COSTS)
    options = parser.parse_args(arguments)
    print("table   what   attacker     primary  secondary        cost  CPU s  peak MB")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables:
            for what in options.cost:
                table = tabulated(name, Path(folder))[what]
                rule = dk.rules.MinimumFrequency(4) if what == "count" else dk.rules.PPercent(10)
                for attacker in (dk.Attacker(), dk.Attacker(contributor=True)):
                    begin = time.process_time()
                    result = dk.suppress(table, rule, attacker=attacker)
                    seconds = time.process_time() - begin
                    hidden = result.status == "secondary"
                    print(
                        f"{name:7} {what:6} {attacker.kind:12}"
                        f"{result.certificate.primaries:8,}{int(hidden.sum()):11,}"
                        f"{int(table.measure.sum[hidden].sum()):12,}"
                        f"{seconds:7.1f}{peak_megabytes():9.0f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
