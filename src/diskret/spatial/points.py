"""Points of records become cells of a grid."""

# pyarrow and pyproj have no type information.
# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import column, numbers
from diskret.io.returned import with_column
from diskret.spatial.grid import Grid

_BLOCK = 1_000_000


def locate(
    records: Any,
    grid: Grid,
    *,
    x: str = "x",
    y: str = "y",
    crs: int | None = None,
    name: str = "cell",
) -> Any:
    """Add the cell in which each record's point lies.

    Parameters
    ----------
    records
        Any frame that [`tabulate`][diskret.tabulate] takes into memory, or the path of a file.
    grid
        The grid.
    x, y
        Columns of the coordinates: east or longitude, and north or latitude.
    crs
        EPSG number of their reference system, such as 4326 for degrees of GPS or 25832; None: that
        of the grid. Others need the extra ``geo``.
    name
        Name of the column to add.

    Returns
    -------
    frame
        Of the kind that came in (files: PyArrow), with one more column of text.

    Raises
    ------
    InputError
        There is a column of this name, one of the coordinates' columns is not there, or a
        coordinate is missing, no number, or outside of the grid; the first row is named.

    Examples
    --------
    >>> import pyarrow as pa
    >>> homes = pa.table({"x": [4334999.0, 4335000.0], "y": [2684010.5, 2684010.5]})
    >>> locate(homes, Grid(1_000, spelling="short"))["cell"].to_pylist()
    ['1kmN2684E4334', '1kmN2684E4335']
    """
    table, kind = to_arrow(records, numbers=(x, y))
    if name in table.column_names:
        raise InputError(f"there is a column {name!r} already; choose another name=")
    east, north = (numbers(column(table, one), one) for one in (x, y))
    for which, values in ((x, east), (y, north)):
        missing = np.flatnonzero(np.isnan(values))
        if len(missing):
            raise InputError(
                f"{len(missing):,} coordinates in {which!r} are missing (first in row "
                f"{missing[0] + 1}); fill them in or leave these rows out"
            )
    if crs is not None and crs != grid.crs:
        east, north = _transformed(east, north, crs, grid.crs)
    return with_column(records, table, kind, name, grid.ids(north, east))


def _transformed(
    east: NDArray[np.float64], north: NDArray[np.float64], of: int, to: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        from pyproj import Transformer
        from pyproj.exceptions import CRSError
    except ImportError as error:
        raise InputError(
            "points of another reference system than the grid's need pyproj; install it with: "
            "pip install 'diskret[geo]'"
        ) from error
    try:
        moved = Transformer.from_crs(of, to, always_xy=True)
    except CRSError as error:
        raise InputError(f"crs={of} or the grid's {to} is no EPSG number: {error}") from None
    parts = [
        moved.transform(east[at : at + _BLOCK], north[at : at + _BLOCK])
        for at in range(0, max(len(east), 1), _BLOCK)
    ]
    return np.concatenate([one[0] for one in parts]), np.concatenate([one[1] for one in parts])
