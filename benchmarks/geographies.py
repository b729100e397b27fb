"""What districts, grid cells and postal areas tell together of few persons, and the fewest to hide.

Run with ``--large`` for the largest one, too: 35,000 areas, 150,000 cells, 60 million persons.
"""

import sys
from time import process_time

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes
from scipy.spatial import cKDTree

from diskret.rules import MinimumFrequency
from diskret.spatial import Extent, differences, repair

SIZES = [(350, 1_500, 600_000), (3_500, 15_000, 6_000_000), (35_000, 150_000, 60_000_000)]
#: Rows and columns of the squares that each cell is made of.
FINE = 4


#: And as many postal areas, where there are three geographies.
POSTS = [250, 2_500, 25_000]


def country(areas: int, cells: int, persons: int, posts: int = 1) -> pa.Table:
    """Persons by area, cell and post, heavy tails between cells and within; half is empty."""
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
    post = np.zeros(len(cell), np.int64)
    if posts > 1:
        offices = np.random.default_rng(2).random((posts, 2)) * width
        post = cKDTree(offices).query((place + 0.5) / FINE)[1].astype(np.int64)
    squares = width * width
    every, which = np.unique((area * squares + cell) * posts + post, return_inverse=True)
    found = np.bincount(which, number).astype(np.int64)
    some = found > 0
    area, cell, post = every // posts // squares, every // posts % squares, every % posts
    columns = {"area": area, "cell": cell, "post": post, "persons": found}
    return pa.table({name: own[some] for name, own in columns.items()})


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
    by = ["area", "cell", "post"]
    for size, posts in zip(SIZES if "--large" in sys.argv else SIZES[:2], POSTS, strict=False):
        pieces = country(*size, posts)
        begin = process_time()
        told = differences(pieces, by, MinimumFrequency(10), count="persons")
        seconds = process_time() - begin
        begin = process_time()
        made = repair(pieces, by, MinimumFrequency(10), count="persons")
        extent = told.extent or Extent()
        print(
            f"three with {posts:,} posts: {pieces.num_rows:,} pieces, found {len(told):,} in "
            f"{seconds:.1f} s, parts of {extent.areas:,} areas, {extent.left:,} open; "
            f"hidden {made.number:,} of {made.bound:,} in {process_time() - begin:.1f} s"
        )


if __name__ == "__main__":
    main()
