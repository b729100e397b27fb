"""Points of persons to a map of cells of different sizes: seconds, CPU seconds and peak memory.

``maps.py [MILLIONS]``, 10 by default: points become cells of 100 m, `quadtree` merges unsafe ones,
`suppress` proves what is left, and a release with the page of the map is written.
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
from _memory import peak_megabytes

import diskret as dk

WIDTHS = [200, 400, 800, 1_600, 3_200, 6_400]
TOWNS = 2_000


def homes(persons: int) -> pa.Table:
    """Points around towns whose sizes have a heavy tail, in a country of 300 km by 300 km."""
    draw = np.random.default_rng(1)
    size = draw.pareto(1.1, TOWNS) + 1
    town = draw.choice(TOWNS, persons, p=size / size.sum())
    wide = 150 * size**0.4
    points = {}
    for name, corner in (("x", 4_200_000), ("y", 2_900_000)):
        middle = corner + draw.random(TOWNS) * 300_000
        points[name] = middle[town] + draw.normal(0, 1, persons) * wide[town]
    return pa.table(points)


def main() -> None:
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    points = homes(int(millions * 1_000_000))
    begin, used = perf_counter(), process_time()
    start = begin, used

    def told(step: str) -> None:
        nonlocal begin, used
        now, spent = perf_counter(), process_time()
        print(f"{step:<32} {now - begin:>6.1f} s {spent - used:>6.1f} CPU s", flush=True)
        begin, used = now, spent

    grid = dk.spatial.Grid(100, spelling="short")
    persons = dk.spatial.locate(points, grid)
    told("points to cells")
    tree = grid.tree(persons["cell"], WIDTHS)
    told(f"tree of {len(tree):,} codes")
    fine = dk.tabulate(persons.select(["cell"]), by={"cell": tree})
    told("table of the finest cells")
    few = dk.rules.MinimumFrequency(10)
    merged = dk.spatial.quadtree(fine, few, "cell")
    told(f"{len(merged.dimensions[0].hierarchy.leaves):,} cells of different sizes")
    result = dk.suppress(merged, few, name="persons")
    told("protected and proven")
    with tempfile.TemporaryDirectory() as folder:
        result.write(Path(folder) / "release", formats=["csv", "map"])
        told("release with the map, checked")
        page = Path(folder) / "release" / "public" / "persons.map.html"
        print(f"page of {page.stat().st_size / 1e6:.1f} MB", flush=True)
        if len(sys.argv) > 2:
            Path(sys.argv[2]).write_bytes(page.read_bytes())
    print(
        f"in all {perf_counter() - start[0]:.1f} s, {process_time() - start[1]:.1f} CPU s, "
        f"{peak_megabytes():,.0f} MB"
    )


if __name__ == "__main__":
    main()
