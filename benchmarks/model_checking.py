"""CPU seconds of checking fitted models, beside those of making them.

Run it from the repository as ``python benchmarks/model_checking.py [records …]``; the default is
10,000, 100,000 and 1,000,000 records. Each figure comes from a process of its own, with one
thread, and is the least of three. A regression has 20 regressors: a constant, nine numbers, and
ten of zeros and ones, the rarest with 2 % of ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from _memory import peak_megabytes

from diskret import check


def main(sizes: list[int], rounds: int = 3) -> None:
    """Print a table of seconds and peak megabytes."""
    print(f"{'records':>10} {'result':<22} {'made, CPU s':>12} {'checked, CPU s':>15} {'MB':>6}")
    for n in sizes:
        for what in CONTESTANTS:
            runs = [measured_apart(what, n) for _ in range(rounds)]
            made, checked, peak = map(min, zip(*runs, strict=True))
            print(f"{n:>10,} {what:<22} {made:>12.2f} {checked:>15.2f} {peak:>6.0f}", flush=True)


def regressors(n: int) -> pd.DataFrame:
    """A constant, nine numbers, ten zeros and ones."""
    draw = np.random.default_rng(1)
    x = draw.normal(size=(n, 20))
    x[:, 0] = 1
    x[:, 10:] = draw.random((n, 10)) < np.linspace(0.02, 0.5, 10)
    return pd.DataFrame(x, columns=[f"x{at}" for at in range(20)])


def linear(n: int) -> Any:
    """A linear regression."""
    x = regressors(n)
    draw = np.random.default_rng(2)
    return sm.OLS(x @ draw.normal(size=20) + draw.normal(size=n), x)


def logistic(n: int) -> Any:
    """A logistic regression."""
    x = regressors(n)
    draw = np.random.default_rng(2)
    share = 1 / (1 + np.exp(-(x @ draw.normal(0, 0.2, 20))))
    return sm.GLM((draw.random(n) < share).astype(float), x, family=sm.families.Binomial())


CONTESTANTS: dict[str, Callable[[int], Any]] = {
    "regression": linear,
    "logistic regression": logistic,
}


def measured_apart(what: str, n: int) -> list[float]:
    """CPU seconds of making and of checking, and peak megabytes."""
    command = [sys.executable, __file__, "--run", what, str(n)]
    # threads that wait for each other use CPU time, too
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=alone)
    return [float(figure) for figure in output.stdout.split()]


def run_here(what: str, n: int) -> None:
    """Make one result, check it, and print the figures."""
    check.model(CONTESTANTS[what](1000).fit())  # modules are imported at a first call
    made = CONTESTANTS[what](n)
    begin = time.process_time()
    fitted = made.fit()
    middle = time.process_time()
    checked = check.model(fitted)
    end = time.process_time()
    if checked.verdict == "fail":
        raise SystemExit(checked.summary())
    print(middle - begin, end - middle, peak_megabytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2], int(sys.argv[3]))
    else:
        main([int(n) for n in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
