"""The loop over points that asks in which area each one lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def crossing(edges: NDArray[np.int64], begins: NDArray[np.int64]) -> tuple[int, int]:
    """The first two edges of one area that cross between their ends; -1, -1 if there are none.

    ``edges``: (n, 4), x, y, x, y with the lower end first, those of an area one after the other and
    the lowest first. ``begins``: where those of each area begin, and the end of all.
    """
    for area in range(len(begins) - 1):
        last = begins[area + 1]
        for one in range(begins[area], last):
            x1, y1, x2, y2 = edges[one]
            west, east = min(x1, x2), max(x1, x2)
            for other in range(one + 1, last):
                x3, y3, x4, y4 = edges[other]
                if y3 > y2:
                    break
                if max(x3, x4) <= west or min(x3, x4) >= east:
                    continue
                # exact: an edge is below 2 ** 31 long, and two that meet lie within 2 ** 32
                a, b = (x2 - x1) * (y3 - y1), (y2 - y1) * (x3 - x1)
                c, d = (x2 - x1) * (y4 - y1), (y2 - y1) * (x4 - x1)
                if a == b or c == d or (a > b) == (c > d):
                    continue
                a, b = (x4 - x3) * (y1 - y3), (y4 - y3) * (x1 - x3)
                c, d = (x4 - x3) * (y2 - y3), (y4 - y3) * (x2 - x3)
                if a != b and c != d and (a > b) != (c > d):
                    return one, other
    return -1, -1


@kernel
def containing(
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    raster: NDArray[np.int64],
    cell_begins: NDArray[np.int64],
    cell_areas: NDArray[np.int64],
    box: NDArray[np.int64],
    strips: NDArray[np.int64],
    begins: NDArray[np.int64],
    edges: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first area in which each point lies, and one more; -1 where there is none.

    ``raster``: west, south, width of a cell, columns, rows. Areas whose box meets a cell are
    listed in ``cell_areas``. ``box``: (areas, 4), west, south, east, north. ``strips``: (areas, 2),
    the number of an area's first strip and its height. ``edges``: (n, 4), upwards, those
    that meet a strip one after the other, half-open to the north.
    """
    first = np.full(len(x), -1)
    second = np.full(len(x), -1)
    west, south, width, columns, rows = raster
    for i in range(len(x)):
        px, py = x[i], y[i]
        if px < west or py < south:
            continue
        column, row = (px - west) // width, (py - south) // width
        if column >= columns or row >= rows:
            continue
        cell = row * columns + column
        for at in range(cell_begins[cell], cell_begins[cell + 1]):
            area = cell_areas[at]
            if px < box[area, 0] or px >= box[area, 2] or py < box[area, 1] or py >= box[area, 3]:
                continue
            strip = strips[area, 0] + (py - box[area, 1]) // strips[area, 1]
            inside = False
            for edge in range(begins[strip], begins[strip + 1]):
                x1, y1, x2, y2 = edges[edge]
                if py < y1 or py >= y2:
                    continue
                if px < x1 and px < x2:
                    inside = not inside
                elif px < x1 or px < x2:
                    # exact: an edge is at most 2 ** 31 long, so each product is below 2 ** 62
                    if (px - x1) * (y2 - y1) < (x2 - x1) * (py - y1):
                        inside = not inside
            if inside:
                if first[i] < 0:
                    first[i] = area
                else:
                    second[i] = area
                    break
    return first, second
