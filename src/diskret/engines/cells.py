"""Cells of a grid as a column that engines compute: a number of each, and its id once for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from diskret.engines.codes import MOST_CELLS, MOST_CODES
from diskret.engines.columns import FILL_IN, Check, Column
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io.cells import ComputedCells
from diskret.io.columns import no_column

_REMEDY = (
    "correct these records or leave them out; coordinates of another reference system, such as "
    "degrees, need its number: crs="
)


def with_cells(
    found: Sequence[Column], cells: ComputedCells | None, function: str | None = None
) -> tuple[Column, ...]:
    """The columns of the records, and after them that of the cells.

    `function`: what the engine calls `ComputedCells.numbers`, for coordinates of another system.

    Raises
    ------
    InputError
        There is a column of this name, or none with the coordinates.
    """
    columns = tuple(found)
    if cells is None:
        return columns
    named = {column.name: column for column in columns}
    if cells.name in named:
        raise InputError(f"there is a column {cells.name!r} already; choose another name=")
    for name in (cells.x, cells.y):
        if name not in named:
            raise no_column(name, [*named])
    east, north = named[cells.x], named[cells.y]
    if cells.moved is not None and function is None:
        raise InputError(
            "coordinates of another reference system than the grid's are brought to it in this "
            "process; do it in the database, or read the records from a file"
        )
    checks = [_missing(east), _missing(north)]
    if function is not None:
        both = ", ".join(f"CAST({_number(column)} AS DOUBLE)" for column in (east, north))
        number = f"{function}({both})"
        low, high = cells.east
        checks.append(_outside(east, f"{number} IS NULL", low, high))
    else:
        right = _within(east, cells.east), _within(north, cells.north)
        for column, (low, high), inside in zip(
            (east, north), (cells.east, cells.north), right, strict=True
        ):
            checks.append(_outside(column, f"NOT COALESCE({inside}, FALSE)", low, high))
        up, across = (
            f"(CAST(FLOOR({_number(column)}) AS BIGINT) - ({low}))"
            for column, low in zip((north, east), cells.origin, strict=True)
        )
        # the factor stands first: products of values that have to be exact are told by the other
        number = f"CASE WHEN {right[0]} AND {right[1]} THEN " + (
            f"{cells.width} * ({up} - MOD({up}, {cells.size})) + {across} "
            f"- MOD({across}, {cells.size}) END"
        )
    column = Column(cells.name, number, "cell", "cells of a grid", cells, tuple(checks))
    return (*columns, column)


def most_codes(columns: Sequence[Column]) -> int:
    """How many distinct codes the columns of some records may have."""
    return MOST_CELLS if any(column.cells is not None for column in columns) else MOST_CODES


def told(column: Column, found: pa.Table) -> pa.Table:
    """The distinct values of a column, with the ids of cells as ``code`` beside their numbers."""
    if column.cells is None:
        return found
    return found.append_column("code", column.cells.ids(*column.cells.corners(_numbers(found))))


def tree_of(column: Column, found: pa.Table, total: str) -> Hierarchy | None:
    """The tree of the cells in which there are records; None: the column holds no cells."""
    if column.cells is None:
        return None
    return column.cells.tree(*column.cells.corners(_numbers(found)), total)


def _numbers(found: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return found["raw"].to_numpy().astype(np.int64)


def _number(column: Column) -> str:
    if column.kind in ("other", "unusable", "cell"):
        raise InputError(f"column {column.name!r} holds no numbers but {column.type}")
    if column.kind == "float":
        return f"CAST({column.internal} AS DOUBLE)"
    if column.kind == "text":
        return f"TRY_CAST(TRIM({column.internal}) AS DECIMAL(38, 18))"
    return column.internal


def _within(column: Column, ends: tuple[int, int]) -> str:
    number = _number(column)
    # NaN and infinity are greater than every number
    right = f"{number} >= {ends[0]} AND {number} < {ends[1]}"
    return right if column.kind != "text" else f"{right} AND POSITION('_' IN {column.internal}) = 0"


def _missing(column: Column) -> Check:
    c = column.internal
    empty = f"NULLIF(TRIM({c}), '')" if column.kind == "text" else c
    problem = f"nothing in column {column.name!r}"
    return Check(column, f"{empty} IS NULL", problem, FILL_IN)


def _outside(column: Column, wrong: str, low: int, high: int) -> Check:
    problem = (
        f"points that lie nowhere on the grid by column {column.name!r}, which must be a number of "
        f"metres from {low:,} to {high:,}"
    )
    return Check(column, wrong, problem, _REMEDY)
