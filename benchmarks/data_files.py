"""Input files as offices have them, from the file to a table in memory: CPU seconds.

Run it as ``python benchmarks/data_files.py [records …]``; the default is 1,000,000. The files are
made from a fixed seed in a temporary folder: fixed-width text, SAS transport, SPSS and Stata, with
three codes and two numbers in each record. Stata and SPSS hold codes that mean missing. Needs the
extra ``stat``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat

import diskret as dk
from diskret.io import Column, DataFile, to_arrow


def main(sizes: list[int]) -> None:
    """Print one line a format and size."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for said in _written(Path(folder), size):
                before = time.process_time(), time.perf_counter()
                table, _ = to_arrow(said, ["income", "weight"])
                cpu, wall = time.process_time() - before[0], time.perf_counter() - before[1]
                assert table.num_rows == size
                print(f"{size:>10,} {said.format:>6} {cpu:6.2f} CPU s {wall:6.2f} s")


def _written(folder: Path, size: int) -> list[DataFile]:
    draw = np.random.default_rng(22)
    frame = pd.DataFrame(
        {
            "region": draw.integers(1, 17, size).astype(float),
            "age": draw.integers(0, 100, size).astype(float),
            "job": draw.choice(["baker", "smith", "clerk"], size),
            "income": np.where(draw.random(size) < 0.1, 99_999.0, draw.integers(0, 9_000, size)),
            "weight": draw.integers(10, 99, size) / 10,
        }
    )
    lines = (frame.region * 10**8 + frame.age * 10**6 + frame.income).astype(np.int64)
    with (folder / "x.asc").open("w", encoding="ascii") as file:
        file.writelines(
            f"{line:010d}{job:5}{weight:4.1f}\n"
            for line, job, weight in zip(lines, frame.job, frame.weight, strict=True)
        )
    places: Any = [
        *(("region", 1, 2), ("age", 3, 2), ("income", 5, 6)),
        *(("job", 11, 5), ("weight", 16, 4)),
    ]
    pyreadstat.write_xport(frame, str(folder / "x.xpt"))
    pyreadstat.write_sav(frame, str(folder / "x.sav"), missing_ranges={"income": [99_999]})
    stata = frame.astype({"income": object})
    stata.loc[frame.income == 99_999, "income"] = "r"
    pyreadstat.write_dta(stata, str(folder / "x.dta"), missing_user_values={"income": ["r"]})
    fixed = DataFile(folder / "x.asc", columns=[Column(*place) for place in places])
    return [fixed, *(dk.DataFile(folder / f"x.{kind}") for kind in ("xpt", "sav", "dta"))]


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000_000])
