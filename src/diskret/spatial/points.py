"""Points of records become cells of a grid, or the areas in which they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import column, numbers
from diskret.io.returned import with_column
from diskret.spatial.areas import Areas
from diskret.spatial.around import Around
from diskret.spatial.cells import Cells
from diskret.spatial.grid import Grid
from diskret.spatial.systems import transformed
from diskret.texts.numbers import Count


def locate(
    records: Any,
    where: Grid | Cells | Areas | Around,
    *,
    x: str = "x",
    y: str = "y",
    crs: int | None = None,
    name: str | None = None,
) -> Any:
    """Add the cell or the area in which each record's point lies.

    Parameters
    ----------
    records
        Any frame that [`tabulate`][diskret.tabulate] takes into memory, or the path of a file.
    where
        A grid, [`Cells`][diskret.spatial.Cells] of several widths,
        [`Areas`][diskret.spatial.Areas] with borders, or what lies
        [`Around`][diskret.spatial.Around] some points.
    x, y
        Columns of the coordinates: east or longitude, and north or latitude.
    crs
        EPSG number of their reference system, such as 4326 for degrees of GPS or 25832; None: that
        of `where`. Others need the extra ``geo``.
    name
        Name of the column to add; None: ``cell`` for cells, else ``area``.

    Returns
    -------
    frame
        Of the kind that came in (files: PyArrow), with one more column of text. Nothing stands
        there for points that lie in no area.

    Raises
    ------
    InputError
        There is a column of this name, one of the coordinates' columns is not there, or a
        coordinate is missing, no number, outside of the grid or in two areas; the first row is
        named.

    Examples
    --------
    >>> import pyarrow as pa
    >>> homes = pa.table({"x": [4334999.0, 4335000.0], "y": [2684010.5, 2684010.5]})
    >>> locate(homes, Grid(1_000, spelling="short"))["cell"].to_pylist()
    ['1kmN2684E4334', '1kmN2684E4335']
    """
    if name is None:
        name = "cell" if isinstance(where, (Grid, Cells)) else "area"
    table, kind = to_arrow(records, numbers=(x, y))
    if name in table.column_names:
        raise InputError(f"there is a column {name!r} already; choose another name=")
    east, north = (numbers(column(table, one), one) for one in (x, y))
    for which, values in ((x, east), (y, north)):
        missing = np.flatnonzero(np.isnan(values))
        if len(missing):
            number = Count(len(missing))
            raise InputError(
                f"{number} {number:coordinate|coordinates} in {which!r} {number:is|are} missing "
                f"(first in row {missing[0] + 1}); fill {number:it|them} in or leave these rows "
                "out"
            )
    if crs is not None and crs != where.crs:
        east, north = transformed(east, north, crs, where.crs)
    return with_column(records, table, kind, name, where.ids(north, east))
