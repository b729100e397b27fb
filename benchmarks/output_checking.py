"""Checked results beside the plain library: CPU seconds, best of several runs in turn."""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from diskret.outputs import crosstab

SIZES = (10_000, 100_000, 1_000_000)
RUNS = 9
#: Rows, columns and what is shown.
CASES: dict[str, dict[str, Any]] = {
    "counts": {},
    "counts, totals": {"margins": True},
    "sums": {"aggfunc": "sum"},
    "means, totals": {"aggfunc": "mean", "margins": True},
    "medians": {"aggfunc": "median"},
    "sums, values missing": {"aggfunc": "sum", "missing": "turnover"},
    "means, totals, values missing": {"aggfunc": "mean", "margins": True, "missing": "turnover"},
    "counts, categories missing": {"missing": "region"},
}


def firms(number: int) -> pd.DataFrame:
    """Records of a table of 40 × 10 cells."""
    draw = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "region": "r" + pd.Series(draw.integers(0, 40, number)).astype(str),
            "industry": "i" + pd.Series(draw.integers(0, 10, number)).astype(str),
            "turnover": draw.lognormal(3, 2, number),
            "firm": draw.integers(0, max(number // 2, 1), number),
        }
    )


def seconds(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least CPU seconds of each call, all called in turn."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(RUNS + 1):
        for name, call in calls.items():
            begin = process_time()
            call()
            least[name] = min(least[name], process_time() - begin)
    return least


def tables() -> None:
    """Crosstabs of pandas, plain, checked, and checked by units that have several records."""
    print(
        f"{'records':>9} {'table':<30} {'plain':>7} {'checked':>8} {'ratio':>6} "
        f"{'by units':>9} {'ratio':>6}"
    )
    for number in SIZES:
        for name, case in CASES.items():
            frame = firms(number)
            shown = {key: own for key, own in case.items() if key != "missing"}
            if "missing" in case:  # one in fifty
                lost = np.random.default_rng(2).random(number) < 0.02
                frame[case["missing"]] = frame[case["missing"]].mask(lost)
            if "aggfunc" in case:
                shown["values"] = frame.turnover
            sides = (frame.region, frame.industry)
            least = seconds(
                {
                    "plain": partial(pd.crosstab, *sides, **shown),
                    "checked": partial(crosstab, *sides, **shown),
                    "units": partial(crosstab, *sides, **shown, unit=frame.firm),
                }
            )
            plain, checked, units = least.values()
            print(
                f"{number:>9,} {name:<30} {plain:7.3f} {checked:8.3f} {checked / plain:6.2f} "
                f"{units:9.3f} {units / plain:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    tables()
