"""CPU seconds and peak memory of noise, rank swapping and shuffling, and what they leave of values.

Run it from the repository as ``python benchmarks/microdata_noise.py [records …]``; the default is
10,000, 100,000 and 1,000,000 persons with four incomes. Each figure comes from a process of its
own. Peak memory is that of the whole process, the file in memory included; "reading" is that of
a process that does nothing but read the file. "corr." is the correlation of the first income
before and after, "off" the largest change of a correlation of two incomes.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from _memory import peak_megabytes
from _records import KEYS, NUMERIC, persons

from diskret import Microdata


def main(sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds, peak megabytes and what is left."""
    print(f"{'records':>10} {'what':<22} {'CPU s':>7} {'MB':>6} {'corr.':>6} {'off':>6}")
    for n in sizes:
        persons(n)
        for what in CONTESTANTS:
            runs = [measured_apart(what, n) for _ in range(rounds)]
            seconds, peak, like, off = map(min, zip(*runs, strict=True))
            print(
                f"{n:>10,} {what:<22} {seconds:>7.3f} {peak:>6.0f} {like:>6.3f} {off:>6.3f}",
                flush=True,
            )


CONTESTANTS = {
    "reading": lambda md: md,
    "additive": lambda md: md.add_noise(share=0.2, seed=1),
    "correlated": lambda md: md.add_noise(method="correlated", share=0.2, seed=1),
    "restricted": lambda md: md.add_noise(method="restricted", share=0.2, seed=1),
    "romm": lambda md: md.add_noise(method="romm", share=0.2, seed=1),
    "outliers": lambda md: md.add_noise(method="outliers", share=0.2, seed=1),
    "rank swap": lambda md: md.rank_swap(seed=1),
    "rank swap, correlation": lambda md: md.rank_swap(correlation=0.95, seed=1),
    "rank swap in strata": lambda md: md.rank_swap(strata="region", seed=1),
    "shuffle 2 by 2": lambda md: md.shuffle(NUMERIC[:2], NUMERIC[2:], seed=1),
}


def measured_apart(what: str, n: int) -> list[float]:
    """CPU seconds, peak megabytes, correlation, change of correlations; imports do not count."""
    command = [sys.executable, __file__, "--run", what, str(n)]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return [float(figure) for figure in output.split()]


def run_here(what: str, n: int) -> None:
    """Run one contestant and print its figures."""
    # modules are imported at a first call
    CONTESTANTS[what](Microdata(persons(10_000), keys=KEYS, numeric=NUMERIC))
    md = Microdata(persons(n), keys=KEYS, numeric=NUMERIC)
    used = time.process_time()
    made = CONTESTANTS[what](md)
    used, peak = time.process_time() - used, peak_megabytes()
    before, after = md.numbers(), made.numbers()
    like = np.corrcoef(before[:, 0], after[:, 0])[0, 1]
    off = np.abs(np.corrcoef(before.T) - np.corrcoef(after.T)).max()
    print(used, peak, like, off)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
