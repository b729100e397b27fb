"""Records whose cells are computed where they lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import Source, source
from diskret.io.cells import ComputedCells, Numbers
from diskret.spatial.grid import Grid
from diskret.spatial.systems import transformed


def located(
    records: Any,
    grid: Grid,
    *,
    x: str = "x",
    y: str = "y",
    crs: int | None = None,
    coarser: Iterable[int] = (),
    name: str = "cell",
) -> Source:
    """Records with cells that are computed where the records lie, in files or a database.

    Give them to [`tabulate`][diskret.tabulate] with ``by={"cell": None}``: the engine finds the
    cell of each point while it counts, and no record is brought into memory. The cells are
    those of [`locate`][diskret.spatial.locate], and the tree holds those in which there are
    records, below coarser ones if `coarser` says so.

    Parameters
    ----------
    records
        All that [`tabulate`][diskret.tabulate] takes: above all Parquet and CSV files, a
        [`PostgresTable`][diskret.PostgresTable], a Spark data frame.
    grid
        The grid.
    x, y
        Columns of the coordinates: east or longitude, and north or latitude. Texts and decimals are
        read exactly.
    crs
        EPSG number of their reference system, such as 4326 for degrees of GPS; None: that of the
        grid. Others need the extra ``geo``, and not a database or Spark: they are computed block by
        block in this process, as often as the records are read, which is slower.
    coarser
        Widths of coarser grids in metres, each a multiple of the finer one's.
    name
        Name of the column of cells.

    Returns
    -------
    Source
        Records for [`tabulate`][diskret.tabulate], in any number of calls.

    Raises
    ------
    InputError
        A width is no multiple. When the records are tabulated: there is a column of this name, one
        of the coordinates' columns is not there, or coordinates are missing, no numbers, or outside
        of the grid, with their number, examples and, of a file, the first row.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> homes = pa.table({"x": [4334999.0, 4335000.0, 4335001.5], "y": [2684010.5] * 3})
    >>> records = located(homes, Grid(1_000, spelling="short"), coarser=[10_000])
    >>> table = dk.tabulate(records, by={"cell": None})
    >>> table.cells.select(["cell", "count"]).to_pydict()
    {'cell': ['Total', '10kmN268E433', '1kmN2684E4334', '1kmN2684E4335'], 'count': [3, 3, 1, 2]}
    """
    opened = source(records)
    if opened.cells is not None:
        raise InputError("these records have cells of a grid already; one grid at a time")
    widths = tuple(sorted(set(coarser)))
    finer = grid
    for size in widths:
        finer = finer.coarser(size)
    moved = None
    if crs is not None and crs != grid.crs:
        moved = partial(transformed, of=crs, to=grid.crs)
    cells = ComputedCells(
        name=name,
        x=x,
        y=y,
        size=grid.size,
        east=grid.extent["east"],
        north=grid.extent["north"],
        ids=grid.ids_of_corners,
        tree=partial(_tree, grid, widths),
        moved=moved,
    )
    return replace(opened, cells=cells)


def _tree(
    grid: Grid, coarser: tuple[int, ...], south: Numbers, west: Numbers, total: str
) -> Hierarchy:
    return grid.tree_of_corners(south, west, coarser, total)
