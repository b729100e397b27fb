"""Totals from leaves: roll every array up along the code trees, one dimension at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from diskret.engines import Leaves, Straddlers
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import FrameKind
from diskret.tables.dimension import Dimension
from diskret.tables.straddlers import Excess, straddler_excess
from diskret.tables.table import Measure, Table

_MAX_CELLS = 200_000_000

N = TypeVar("N", np.int64, np.uint64)


def roll_up(
    leaves: Leaves,
    decimals: Mapping[str, int],
    *,
    key_modulus: int = 2**32,
    vintage: str = "",
    frame_kind: FrameKind = "pyarrow",
) -> Table:
    """The complete table, totals included, from what an engine counted at leaf level.

    Contributors that lie in a single leaf combination are simply added up; those that
    straddle leaves are counted once in every total they reach.

    Raises
    ------
    InputError
        The table has too many cells, or its totals leave the range of 64-bit integers.
    """
    dimensions = tuple(Dimension(name, tree) for name, tree in leaves.by.items())
    trees = [d.hierarchy for d in dimensions]
    shape = check_size(dimensions)
    flat = np.ravel_multi_index(tuple(leaves.position.T), shape)
    ranked = leaves.holding_straddlers if leaves.holdings is not None else leaves.unit_straddlers
    kept = next((a.shape[1] for a in leaves.largest.values()), 0)
    units_excess = _excess(leaves.unit_straddlers, flat, trees, 0, key_modulus)
    ranked_excess = _excess(ranked, flat, trees, kept, key_modulus)

    def total(array: NDArray[N] | None, name: str, excess: Excess | None = None) -> NDArray[N]:
        assert array is not None
        dense = np.zeros(shape, dtype=array.dtype)
        dense.ravel()[flat] = array
        _check_range(name, array)
        dense = add_up(dense, trees)
        if excess is not None:
            dense.ravel()[excess.cell] += excess.number.astype(dense.dtype)
        return dense

    measures: list[Measure] = []
    for name, sums in leaves.sums.items():
        summed = total(sums, name)
        magnitude = total(leaves.magnitudes[name], name)
        top = np.zeros((*shape, kept), dtype=np.int64)
        top.reshape(-1, kept)[flat] = leaves.largest[name]
        top = merge_up(top, trees)
        if ranked_excess is not None:
            magnitude.ravel()[ranked_excess.cell] += ranked_excess.magnitude[name]
            touched = top.reshape(-1, kept)
            both = np.concatenate(
                (touched[ranked_excess.cell], ranked_excess.largest[name]), axis=1
            )
            touched[ranked_excess.cell] = _descending(both, kept)
        if np.array_equal(magnitude, summed):
            magnitude = summed
        measures.append(Measure(name, decimals[name], summed, magnitude, top))

    holdings_excess = ranked_excess if leaves.holdings is not None else None
    key_sum = None
    if leaves.key_sum is not None:
        key_sum = total(leaves.key_sum, "record key") % np.uint64(key_modulus)
        if units_excess is not None and units_excess.key_sum is not None:
            key_sum.ravel()[units_excess.cell] += units_excess.key_sum
            key_sum %= np.uint64(key_modulus)
    return Table(
        dimensions=dimensions,
        count=total(leaves.count, "count"),
        units=None if leaves.units is None else total(leaves.units, "units", units_excess),
        holdings=None
        if leaves.holdings is None
        else total(leaves.holdings, "holdings", holdings_excess),
        measures=tuple(measures),
        contributors=_contributors(leaves),
        key_sum=key_sum,
        key_modulus=key_modulus,
        vintage=vintage,
        frame_kind=frame_kind,
    )


def check_size(dimensions: tuple[Dimension, ...]) -> tuple[int, ...]:
    """The shape of the table; refuses one that could not be held in memory."""
    shape = tuple(len(d) for d in dimensions)
    cells = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
    if cells > _MAX_CELLS:
        sizes = " × ".join(f"{d.name} {len(d)}" for d in dimensions)
        raise InputError(
            f"the table would have {cells:,} cells ({sizes}); at most {_MAX_CELLS:,} are "
            "possible: use fewer dimensions or coarser codes"
        )
    return shape


def add_up(dense: NDArray[N], trees: list[Hierarchy]) -> NDArray[N]:
    """Fill all totals with the sums of their parts, in place; leaves must be filled."""
    for axis, tree in enumerate(trees):
        along = np.moveaxis(dense, axis, 0)
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                along[code] = along[children].sum(axis=0, dtype=dense.dtype)
    return dense


def merge_up(top: NDArray[np.int64], trees: list[Hierarchy]) -> NDArray[np.int64]:
    """Fill the largest contributions of all totals from those of their parts, in place."""
    kept = top.shape[-1]
    if kept == 0:
        return top
    for axis, tree in enumerate(trees):
        along = np.moveaxis(top, axis, 0)
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                parts = np.moveaxis(along[children], 0, -2)
                along[code] = _descending(parts.reshape(*parts.shape[:-2], -1), kept)
    return top


def _descending(values: NDArray[np.int64], kept: int) -> NDArray[np.int64]:
    if values.shape[-1] > 4 * kept:
        values = np.partition(values, values.shape[-1] - kept, axis=-1)[..., -kept:]
    return np.sort(values, axis=-1)[..., ::-1][..., :kept]


def _excess(
    straddlers: Straddlers | None,
    flat: NDArray[np.intp],
    trees: list[Hierarchy],
    kept: int,
    key_modulus: int,
) -> Excess | None:
    if straddlers is None or len(straddlers.contributor) == 0:
        return None
    return straddler_excess(straddlers, flat, trees, kept, key_modulus)


def _contributors(leaves: Leaves) -> str:
    if leaves.holdings is not None:
        return "holdings"
    return "records" if leaves.units is None else "units"


def _check_range(name: str, array: NDArray[np.int64] | NDArray[np.uint64]) -> None:
    if len(array) and float(np.abs(array.astype(np.float64)).sum()) >= 2.0**62:
        raise InputError(
            f"the totals of {name!r} leave the range of 64-bit integers; use fewer decimals"
        )
