"""Compare a map on a grid with what is published in its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from diskret.errors import InputError
from diskret.parameters import Share, reading
from diskret.spatial.map_comparison import MapComparison
from diskret.spatial.raster import raster_of_arrays, raster_of_tables
from diskret.tables import Table


@reading
def compare(
    before: Any,
    after: Any,
    dimension: str | None = None,
    *,
    land: Iterable[str] | None = None,
    neighbours: Literal["queen", "rook"] = "queen",
    top: Share = 0.05,
) -> MapComparison:
    """Say what protection took from a map: distances, neighbours, hot spots.

    Both maps are brought to the finest grid on them. What is published of a wider cell is spread
    evenly over it, and what is withheld gets, by area, what the cells that are shown leave of
    the coarser one around them: so a reader would draw it.

    Parameters
    ----------
    before
        A table by grid cell with one measure, or an array, ``(rows, columns)``.
    after
        What is published instead: a table with other cells, such as
        [`quadtree`][diskret.spatial.quadtree] makes, the result of a method, a
        [`Published`][diskret.Published]; or an array of the same shape, NaN where withheld.
    dimension
        Of tables: the dimension of the cells. Others are at their total.
    land
        Of tables: ids of the cells that belong to the map, in which nobody may live, too. None:
        the rectangle around all cells. Empty cells count in means, and as neighbours.
    neighbours
        ``"queen"``: cells with a common corner or side are neighbours; ``"rook"``: with a side.
    top
        Share of the cells that count as the largest ones, above 0 and at most 1.

    Returns
    -------
    MapComparison
        Confidential, as it is computed from original values.

    Raises
    ------
    InputError
        What is compared does not belong together, codes are no cells of a grid, or `land` lacks
        a cell of the map.

    References
    ----------
    Guidelines for statistical disclosure control methods applied on geo-referenced data (2024),
    chapter 3: which measures, and worked examples of them.

    Examples
    --------
    >>> before = [[0, 2, 0, 0], [2, 2, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]]
    >>> after = [[0, 0, 0, 2], [2, 2, 2, 0], [0, 0, 0, 0], [0, 0, 0, 2]]
    >>> found = compare(before, after)
    >>> found.mae, round(found.hellinger.distance, 2), round(found.transport.low, 2)
    (0.5, 2.0, 0.85)
    """
    if not isinstance(before, Table):
        if dimension is not None or land is not None:
            raise InputError("dimension= and land= are for tables; arrays are compared as they are")
        return MapComparison(raster_of_arrays(before, after), neighbours, top)
    if dimension is None:
        raise InputError("dimension= must name the dimension of the cells")
    return MapComparison(raster_of_tables(before, after, dimension, land), neighbours, top)
