"""Totals from leaves: roll every array up along the code trees, one dimension at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.engines import Leaves, Straddlers
from diskret.engines.contributions import heaviest
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import FrameKind
from diskret.population import EVERYBODY, Population
from diskret.tables.add_up import add_up, check_size, descending, merge_up
from diskret.tables.contributions import Contributions, Measure
from diskret.tables.dimension import Dimension
from diskret.tables.straddlers import Excess, count_straddlers
from diskret.tables.table import Table


def roll_up(
    leaves: Leaves,
    decimals: Mapping[str, int],
    *,
    key_modulus: int = 2**32,
    vintage: str = "",
    where: Population = EVERYBODY,
    weight: str | None = None,
    frame_kind: FrameKind = "pyarrow",
) -> Table:
    """The complete table, totals included, from what an engine counted at leaf level.

    Contributors that lie in a single leaf combination are simply added up; those that
    straddle leaves are counted once in every total they reach.
    """
    dimensions = tuple(Dimension(name, tree) for name, tree in leaves.by.items())
    dense = _Dense(leaves, check_size(dimensions), [d.hierarchy for d in dimensions])
    units = _excess(leaves.unit_straddlers, dense)
    ranked = units if leaves.holdings is None else _excess(leaves.holding_straddlers, dense)
    return Table(
        dimensions=dimensions,
        count=dense.total(leaves.count, "count"),
        units=_contributors(dense, leaves.units, "units", units),
        holdings=_contributors(dense, leaves.holdings, "holdings", ranked),
        measures=tuple(_measure(dense, name, decimals[name], ranked) for name in leaves.sums),
        contributors=_whose(leaves),
        key_sum=_key_sum(dense, units, key_modulus),
        key_modulus=key_modulus,
        vintage=vintage,
        where=where,
        recorded=True,
        weight=weight,
        frame_kind=frame_kind,
        marked={mark: dense.total(number, mark) for mark, number in leaves.marked.items()},
        contributions=_contributions(leaves),
    )


@dataclass(frozen=True, eq=False)
class _Dense:
    """Where leaf combinations lie in the complete table."""

    leaves: Leaves
    shape: tuple[int, ...]
    trees: list[Hierarchy]

    @cached_property
    def flat(self) -> NDArray[np.int64]:
        at = tuple(self.leaves.position.T)
        return np.asarray(np.ravel_multi_index(at, self.shape), dtype=np.int64)

    @property
    def kept(self) -> int:
        return next((a.shape[1] for a in self.leaves.largest.values()), 0)

    def total(self, array: NDArray[Any], name: str) -> NDArray[Any]:
        _check_range(name, array)
        dense = np.zeros(self.shape, dtype=array.dtype)
        dense.ravel()[self.flat] = array
        return add_up(dense, self.trees)


def _measure(dense: _Dense, name: str, decimals: int, ranked: Excess | None) -> Measure:
    leaves = dense.leaves
    summed = dense.total(leaves.sums[name], name)
    magnitude = dense.total(leaves.magnitudes[name], name)
    if ranked is not None:
        magnitude += ranked.magnitude[list(leaves.sums).index(name)].reshape(dense.shape)
    top = _largest(dense, name, ranked)
    if np.array_equal(magnitude, summed):
        magnitude = summed  # no second array for the common case of no negative values
    marked = {mark: _marked(dense, mark, name, ranked) for mark in leaves.marked_largest}
    source = leaves.sources.get(name, name)
    return Measure(name, decimals, summed, magnitude, top, marked, source=source)


def _largest(dense: _Dense, name: str, ranked: Excess | None) -> NDArray[np.int64]:
    """The largest contributions to each cell; where they have weights, what slots hold."""
    leaves, kept, at = dense.leaves, dense.kept, tuple(dense.leaves.position.T)
    top = np.zeros((*dense.shape, kept), dtype=np.int64)
    top[at] = leaves.largest[name]
    number = list(leaves.sums).index(name)
    straddling = None if ranked is None else ranked.largest[number].reshape(top.shape)
    if leaves.weight_unit is None:
        top = merge_up(top, dense.trees)
        if straddling is not None:
            top = descending(np.concatenate((top, straddling), axis=-1), kept)
        return top

    weight = np.zeros_like(top)
    weight[at] = leaves.largest_weight[name]
    top, weight = merge_pairs_up(top, weight, dense.trees)
    if ranked is not None and straddling is not None:
        theirs = ranked.largest_weight[number].reshape(top.shape)
        both = np.concatenate((top, straddling), -1), np.concatenate((weight, theirs), -1)
        top, weight = heaviest(*both, kept)
    return slots(top, weight, leaves.weight_unit)


def _marked(dense: _Dense, mark: str, name: str, ranked: Excess | None) -> NDArray[np.int64]:
    """The largest contribution of a marked contributor to each cell."""
    leaves = dense.leaves
    top = np.zeros((*dense.shape, 1), dtype=np.int64)
    top.ravel()[dense.flat] = leaves.marked_largest[mark][name]
    top = merge_up(top, dense.trees)[..., 0]
    if ranked is None:
        return top
    j, i = list(leaves.marked_largest).index(mark), list(leaves.sums).index(name)
    return np.maximum(top, ranked.marked_largest[j, i].reshape(top.shape))


def _contributors(
    dense: _Dense, stayers: NDArray[np.int64] | None, name: str, excess: Excess | None
) -> NDArray[np.int64] | None:
    if stayers is None:
        return None
    number = dense.total(stayers, name)
    if excess is not None:
        number += excess.number.reshape(dense.shape)
    return number


def _key_sum(dense: _Dense, units: Excess | None, modulus: int) -> NDArray[np.uint64] | None:
    if dense.leaves.key_sum is None:
        return None
    keys = dense.total(dense.leaves.key_sum, "record key")
    if units is not None:
        keys += units.key_sum.reshape(dense.shape)
    return keys % np.uint64(modulus)


def _excess(straddlers: Straddlers | None, dense: _Dense) -> Excess | None:
    if straddlers is None or len(straddlers.contributor) == 0:
        return None
    measures = list(dense.leaves.sums)
    leaves = dense.leaves
    return count_straddlers(
        straddlers, leaves.position, dense.trees, measures, dense.kept, leaves.weight_unit
    )


def _contributions(leaves: Leaves) -> Contributions | None:
    listed = leaves.listed
    if listed is None:
        return None
    leaf = np.empty((len(listed.leaf), len(leaves.by)), dtype=np.int32)
    for axis, tree in enumerate(leaves.by.values()):
        number = np.cumsum(tree.is_leaf) - 1
        leaf[:, axis] = number[leaves.position[:, axis]][listed.leaf]
    return Contributions(
        by={
            name: tuple(tree.codes[i] for i in tree.leaves.tolist())
            for name, tree in leaves.by.items()
        },
        leaf=leaf,
        unit=listed.unit,
        holding=listed.holding,
        records=listed.records,
        values=listed.sums,
        marked=listed.marked,
    )


def _whose(leaves: Leaves) -> str:
    if leaves.holdings is not None:
        return "holdings"
    return "records" if leaves.units is None else "units"


def _check_range(name: str, array: NDArray[Any]) -> None:
    if len(array) and float(np.abs(array.astype(np.float64)).sum()) >= 2.0**62:
        raise InputError(
            f"the totals of {name!r} leave the range of 64-bit integers; use fewer decimals"
        )


def merge_pairs_up(
    amount: NDArray[np.int64], weight: NDArray[np.int64], trees: list[Hierarchy]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fill the largest contributions of all totals, and their weights, in place.

    Right where no contributor is in two leaves.

    amount: the largest |contributions| for a weight of 1, descending, ``(*table.shape, k)``; leaves
        must be filled.
    weight: how many times each counts, same shape.
    """
    kept = amount.shape[-1]
    for axis, tree in enumerate(trees if kept else ()):
        amounts, weights = np.moveaxis(amount, axis, 0), np.moveaxis(weight, axis, 0)
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                together = _side_by_side(amounts[children]), _side_by_side(weights[children])
                amounts[code], weights[code] = heaviest(*together, kept)
    return amount, weight


def slots(amount: NDArray[np.int64], weight: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
    """What k equal contributors of weight 1 would have contributed, the largest first.

    Laid end to end, the largest amount first, contributions cover an axis of weights; slot i
    is what lies between i − 1 and i. As all weights are at least 1, k of them cover k slots.

    amount: the k largest |contributions| for a weight of 1, descending, ``(…, k)``: whole multiples
        of `unit` wherever the weight is not `unit`, and 0 beyond the last.
    weight: how many times each counts, in units of 1/`unit`, same shape.
    unit: the scaled weight that means 1.

    Returns ``(…, k)``, int64. The sum of the first i slots is exact where no contributor
        of weight `unit` lies across two slots, and rounded up to a whole number there.

    de Wolf et al., τ-ARGUS user's manual 4.1, sections 2.3 and 4.3.1 (sample weights in the
    dominance and p% rules).

    10 counts 2.4 times, 6 counts three times, in tenths: 10, 10, 0.4·10 + 0.6·6 = 7.6.

    >>> slots(np.array([100, 60, 0]), np.array([24, 30, 0]), 10).tolist()
    [100, 100, 76]
    """
    kept = amount.shape[-1]
    whole, rest = np.divmod(amount, unit)
    before = np.cumsum(weight, axis=-1) - weight
    ends = np.empty_like(amount)
    for i in range(kept):
        covered = np.clip((i + 1) * unit - before, 0, weight)
        # exact unless a part of an amount that is no multiple of the unit is covered
        ends[..., i] = (whole * covered - (-(rest * covered) // unit)).sum(axis=-1)
    return np.diff(ends, axis=-1, prepend=0)


def _side_by_side(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs of several cells as those of one, ``(cells, …, k)`` → ``(…, cells · k)``."""
    together = np.moveaxis(parts, 0, -2)
    return together.reshape(*together.shape[:-2], -1)
