"""What districts and grid cells tell together of few persons, and the fewest to hide.

Run with ``--large`` for the largest one, too: 35,000 areas, 150,000 cells, 60 million persons.
"""

import sys
from time import process_time

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from scipy.spatial import cKDTree

from diskret.rules import MinimumFrequency
from diskret.spatial import differences, repair

SIZES = [(350, 1_500, 600_000), (3_500, 15_000, 6_000_000), (35_000, 150_000, 60_000_000)]
#: Rows and columns of the squares that each cell is made of.
FINE = 4


def country(areas: int, cells: int, persons: int) -> pa.Table:
    """Persons by area and cell, heavy tails between cells and within; half of the land is empty."""
    draw = np.random.default_rng(1)
    width = round(cells**0.5)
    place = np.indices((width * FINE, width * FINE)).reshape(2, -1).T
    centres = draw.random((areas, 2)) * width
    area = cKDTree(centres).query((place + 0.5) / FINE)[1].astype(np.int64)
    cell = (place[:, 0] // FINE) * width + place[:, 1] // FINE
    dense = np.exp(draw.normal(0, 2.0, width * width))[cell]
    dense *= np.exp(draw.normal(0, 1.5, len(cell)))
    dense[draw.random(len(cell)) < 0.5] = 0
    number = draw.poisson(dense * persons / dense.sum())
    both, which = np.unique(area * width * width + cell, return_inverse=True)
    found = np.bincount(which, number).astype(np.int64)
    some = found > 0
    area, cell = both[some] // (width * width), both[some] % (width * width)
    return pa.table({"area": area, "cell": cell, "persons": found[some]})


def main() -> None:
    print(
        f"{'areas':>7} {'cells':>8} {'pieces':>8} {'found':>7} {'unions':>7} {'CPU s':>6} {'MB':>6}"
    )
    for size in SIZES if "--large" in sys.argv else SIZES[:2]:
        pieces = country(*size)
        begin = process_time()
        told = differences(pieces, ["area", "cell"], MinimumFrequency(10), count="persons")
        seconds = process_time() - begin
        unions = sum(len(one.terms) > 1 for one in told)
        shown = f"{size[0]:>7,} {size[1]:>8,} {pieces.num_rows:>8,} {len(told):>7,} {unions:>7,}"
        begin = process_time()
        made = repair(pieces, ["area", "cell"], MinimumFrequency(10), count="persons")
        hidden = f"{made.number:>7,} {made.bound:>8,} {process_time() - begin:>6.1f}"
        end = "" if told.complete else "open"
        print(f"{shown} {seconds:>6.1f} {hidden} {peak_megabytes():>6,.0f} {end}")


if __name__ == "__main__":
    main()
