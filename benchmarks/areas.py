"""Points in areas and circles, masked points, smooth maps: CPU seconds and peak memory.

``areas.py [PERSONS ...]``: 100,000, 1,000,000 and 10,000,000 by default; masked and smoothed up to
1,000,000.
"""

import sys
from time import process_time

import numpy as np
from _memory import peak_megabytes

import diskret as dk

MASKED = 1_000_000


def areas(
    rng: np.random.Generator, number: int, west: float, south: float, width: float
) -> dk.spatial.Areas:
    """About so many quadrangles with 100 corners each that cover a square without gaps."""
    side = int(np.sqrt(number))
    step = width / side
    corner = np.stack(np.meshgrid(np.arange(side + 1), np.arange(side + 1)), axis=-1) * step
    corner = corner + rng.uniform(-0.2, 0.2, corner.shape) * step + (west, south)
    along = np.linspace(0, 1, 25, endpoint=False)[:, None]
    rings = []
    for row in range(side):
        for column in range(side):
            four = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
            ends = [corner[at] for at in four]
            sides = [
                a * (1 - along) + b * along for a, b in zip(ends, ends[1:] + ends[:1], strict=True)
            ]
            rings.append([np.concatenate(sides)])
    return dk.spatial.Areas(tuple(str(at) for at in range(len(rings))), rings)


def told(persons: int, step: str, began: float) -> None:
    """Say how long a step took."""
    print(f"{persons:>12,} {step:<30} {process_time() - began:>6.2f} CPU s", flush=True)


def main() -> None:
    rng = np.random.default_rng(1)
    keys = dk.SecretKeys(bytes(range(32)))
    west, south, width = 4_200_000, 2_900_000, 300_000
    country = areas(rng, 35_000, west, south, width)
    country.ids([south + 1.0], [west + 1.0])
    stops = rng.uniform(0, width, (3_000, 2)) + (south, west)
    around = dk.spatial.Around(tuple(str(at) for at in range(3_000)), *stops.T, radius=2_000)
    print(f"{len(country):,} areas of 100 corners, {len(around.codes):,} circles")
    for persons in map(int, sys.argv[1:] or ("100_000", "1_000_000", "10_000_000")):
        north, east = (rng.uniform(0, width, persons) + low for low in (south, west))

        began = process_time()
        country.ids(north, east)
        told(persons, "in areas", began)
        began = process_time()
        around.ids(north, east)
        told(persons, "in circles", began)
        if persons <= MASKED:
            homes = dk.datasets.country(persons).persons
            began = process_time()
            masked = dk.spatial.mask(homes, dk.spatial.Ring(100, 500), least=10, keys=keys)
            told(persons, f"masked, {masked.hidden:,} hidden", began)
            grid = dk.spatial.Grid(1_000)
            cells = dk.spatial.locate(homes, grid)
            table = dk.tabulate(cells, by={"cell": grid.tree(cells["cell"])})
            began = process_time()
            few = dk.rules.MinimumFrequency(5)
            found = dk.spatial.smooth(table, few, bandwidth=2_000)
            told(persons, f"smooth, step {found.step:g}", began)
    print(f"{peak_megabytes():,.0f} MB")


if __name__ == "__main__":
    main()
