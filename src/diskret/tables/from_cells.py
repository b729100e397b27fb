"""A table from an already tabulated file: find every cell, add up, check the totals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import AdditivityError, HierarchyError, InputError
from diskret.hierarchy import Hierarchy
from diskret.io import to_arrow
from diskret.io.columns import code_text, column, scaled_integers, whole_numbers
from diskret.tables.dimension import Dimension, check_by
from diskret.tables.rollup import add_up, check_size, merge_up
from diskret.tables.table import Measure, Table

_EXAMPLES = 5


def from_cells(
    frame: Any,
    by: Mapping[str, Hierarchy | None],
    value: str | None,
    count: str | None,
    largest: tuple[str, ...],
    decimals: int,
    vintage: str,
    rounding: float | None,
) -> Table:
    """See [`Table.from_cells`][diskret.Table.from_cells]."""
    if value is None and count is None:
        raise InputError("from_cells needs value= (a table of sums) or count= (frequencies)")
    check_by(by)
    cells, kind = to_arrow(frame)
    dimensions, at = locate(cells, by)

    counts = None
    if count is not None:
        given = whole_numbers(column(cells, count), count)
        counts = fill_totals(dimensions, at, given, count, 0)
    measures: tuple[Measure, ...] = ()
    unit, shown = 1, None
    if rounding is not None and value is None:
        raise InputError("rounding= is for sums; counts are not shown rounded")
    if value is not None:
        if rounding is not None:
            decimals, unit = halved(rounding, decimals, value)
        given = scaled_integers(column(cells, value), value, decimals)
        check_multiples(given, unit, value, decimals)
        summed = fill_totals(dimensions, at, given, value, decimals, unit)
        if unit > 1:
            shown = summed.copy()
            shown.ravel()[at] = given
        top = _largest(cells, dimensions, at, largest, decimals)
        if top.shape[-1]:
            _check_largest(dimensions, top, summed + (unit // 2) * _leaves(dimensions), value)
        measures = (Measure(value, decimals, summed, np.abs(summed), top),)
    return Table(
        dimensions=dimensions,
        count=counts,
        units=counts,
        measures=measures,
        contributors="units",
        vintage=vintage,
        rounding=unit,
        shown=shown,
        frame_kind=kind,
    )


def scaled_unit(rounding: float, decimals: int, name: str) -> int:
    """A unit of rounding in scaled integers.

    Raises
    ------
    InputError
        It is not a positive multiple of the last decimal.

    Examples
    --------
    >>> scaled_unit(0.5, 2, "price")
    50
    """
    scaled = Fraction(str(rounding)) * 10**decimals
    if scaled < 1 or scaled.denominator > 1:
        raise InputError(
            f"rounding to {rounding} is not possible: the unit must be a multiple of "
            f"{1 / 10**decimals:g}, the last decimal of {name!r}"
        )
    return int(scaled)


def halved(rounding: float, decimals: int, name: str) -> tuple[int, int]:
    """Decimals in which half a unit can be told from nothing, and the unit in these.

    Examples
    --------
    >>> halved(1000, 0, "sales"), halved(1, 0, "sales in thousands")
    ((0, 1000), (1, 10))
    """
    unit = scaled_unit(rounding, decimals, name)
    return (decimals, unit) if unit > 1 else (decimals + 1, 10)


def check_multiples(given: NDArray[np.int64], unit: int, name: str, decimals: int) -> None:
    """Refuse values that are not rounded to the unit.

    Raises
    ------
    InputError
        Says how many, with examples.
    """
    wrong = given[given % unit != 0]
    if len(wrong):
        examples = ", ".join(f"{v / 10**decimals:.{decimals}f}" for v in wrong[:_EXAMPLES])
        raise InputError(
            f"{len(wrong):,} values of {name!r} are not multiples of {unit / 10**decimals:g}, "
            f"e.g. {examples}; rounding= is the unit of the published values"
        )


def _leaves(dimensions: tuple[Dimension, ...]) -> NDArray[np.int64]:
    """How many leaf combinations each cell holds, shape of the table."""
    shape = tuple(len(d) for d in dimensions)
    leaf = np.zeros(shape, dtype=np.int64)
    leaf[np.ix_(*(d.hierarchy.is_leaf for d in dimensions))] = 1
    return add_up(leaf, [d.hierarchy for d in dimensions])


def locate(
    cells: pa.Table, by: Mapping[str, Hierarchy | None]
) -> tuple[tuple[Dimension, ...], NDArray[np.int64]]:
    """The dimensions, and the flat position of each row's cell, ``(rows,)``.

    Raises
    ------
    HierarchyError
        Codes that are not in their tree, with counts and examples.
    InputError
        A cell is there twice.
    """
    dimensions: list[Dimension] = []
    positions: list[NDArray[np.int64]] = []
    for name, tree in by.items():
        encoded = code_text(column(cells, name), name).combine_chunks().dictionary_encode()
        codes: list[str] = encoded.dictionary.to_pylist()
        if tree is None:
            tree = Hierarchy.flat([c for c in codes if c != "Total"])
        row_code = encoded.indices.to_numpy()
        of_code = np.array([tree.position.get(c, -1) for c in codes], dtype=np.int64)
        position = of_code[row_code]
        unknown = [c for c, p in zip(codes, of_code, strict=True) if p < 0]
        if unknown:
            rows = int((position < 0).sum())
            shown = ", ".join(repr(c) for c in unknown[:_EXAMPLES])
            raise HierarchyError(
                f"{len(unknown):,} codes of {name!r} are not in its hierarchy "
                f"({rows:,} rows): {shown}; the total is called {tree.total!r}"
            )
        dimensions.append(Dimension(name, tree))
        positions.append(position)
    shape = check_size(tuple(dimensions))
    at = np.ravel_multi_index(tuple(positions), shape).astype(np.int64)
    found, how_often = np.unique(at, return_counts=True)
    if np.any(how_often > 1):
        twice = found[how_often > 1]
        shown = "; ".join(describe(tuple(dimensions), int(c)) for c in twice[:_EXAMPLES])
        raise InputError(
            f"{len(twice):,} cells are there more than once: {shown}. Does by= name every column "
            "of codes? Otherwise remove all rows of a cell but one"
        )
    return tuple(dimensions), at


def fill_totals(
    dimensions: tuple[Dimension, ...],
    at: NDArray[np.int64],
    given: NDArray[np.int64],
    name: str,
    decimals: int,
    rounding: int = 1,
) -> NDArray[np.int64]:
    """The complete table; totals that are given must be the sums of their parts.

    Where values are rounded, each may be off by half a unit, and so may each part.

    Raises
    ------
    AdditivityError
        They are not; names up to five of them with the differences.
    """
    shape = tuple(len(d) for d in dimensions)
    trees = [d.hierarchy for d in dimensions]
    dense = np.zeros(shape, dtype=np.int64)
    dense.ravel()[at] = given
    leaf = np.zeros(shape, dtype=bool)
    leaf[np.ix_(*(t.is_leaf for t in trees))] = True
    dense[~leaf] = 0
    if float(np.abs(dense.astype(np.float64)).sum()) >= 2.0**62:
        raise InputError(f"the totals of {name!r} leave the range of 64-bit integers")
    added = add_up(dense, trees)
    off = (rounding // 2) * (1 + _leaves(dimensions).ravel()[at])
    wrong = np.flatnonzero(np.abs(added.ravel()[at] - given) > off)
    if len(wrong):
        unit = 10**decimals

        def one(row: int) -> str:
            total, parts = int(given[row]), int(added.ravel()[at[row]])
            return (
                f"{describe(dimensions, int(at[row]))}: {total / unit:,.{decimals}f} given, "
                f"parts sum to {parts / unit:,.{decimals}f} "
                f"(difference {(total - parts) / unit:,.{decimals}f})"
            )

        shown = "; ".join(one(int(r)) for r in wrong[:_EXAMPLES])
        raise AdditivityError(
            f"{len(wrong):,} totals of {name!r} are not the sum of their parts: {shown}. "
            "Correct them, or leave the totals out to have them added up"
        )
    return added


def describe(dimensions: tuple[Dimension, ...], cell: int) -> str:
    """A cell in words: ``region=N, size=Total``."""
    where = np.unravel_index(cell, tuple(len(d) for d in dimensions))
    return ", ".join(
        f"{d.name}={d.hierarchy.codes[int(i)]}" for d, i in zip(dimensions, where, strict=True)
    )


def _largest(
    cells: pa.Table,
    dimensions: tuple[Dimension, ...],
    at: NDArray[np.int64],
    largest: tuple[str, ...],
    decimals: int,
) -> NDArray[np.int64]:
    shape = tuple(len(d) for d in dimensions)
    top = np.zeros((*shape, len(largest)), dtype=np.int64)
    for rank, name in enumerate(largest):
        values = pc.fill_null(column(cells, name), 0)
        top.reshape(-1, len(largest))[at, rank] = scaled_integers(values, name, decimals)
    given = np.zeros(int(np.prod(shape)), dtype=bool)
    given[at] = True
    merged = merge_up(top.copy(), [d.hierarchy for d in dimensions])
    return np.where(given.reshape(shape)[..., None], top, merged)


def _check_largest(
    dimensions: tuple[Dimension, ...],
    top: NDArray[np.int64],
    summed: NDArray[np.int64],
    value: str,
) -> None:
    """Contributions must descend and must not exceed the cell they belong to."""
    wrong = (top < 0).any(axis=-1) | (np.diff(top, axis=-1) > 0).any(axis=-1)
    wrong |= (summed >= 0) & (top.sum(axis=-1) > summed)
    if wrong.any():
        cells = np.flatnonzero(wrong.ravel())
        shown = "; ".join(describe(dimensions, int(c)) for c in cells[:_EXAMPLES])
        raise InputError(
            f"the largest contributions of {len(cells):,} cells are negative, not descending "
            f"or larger than {value!r}: {shown}"
        )
