"""What the queries say about contributors, merged leaf by leaf in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines.columns import INT64
from diskret.errors import InputError


@dataclass(frozen=True, eq=False)
class Rows:
    """Straddlers: a row for each contributor and leaf, sorted by both.

    ``contributor``, ``leaf`` (its number) and ``records`` have the shape ``(s,)``, ``sums``
    ``(s, measures)``, ``key`` ``(s,)`` or None, ``marked`` ``(s, marks)``, ``weight`` ``(s,)``
    or None.
    """

    contributor: NDArray[np.int64]
    leaf: NDArray[np.int64]
    records: NDArray[np.int64]
    sums: NDArray[np.int64]
    key: NDArray[np.uint64] | None
    marked: NDArray[np.int64]
    weight: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributors of one kind: stayers aggregated by leaf, straddlers one by one.

    ``leaf`` (numbers, ascending), ``contributors``, ``records`` and ``key_sum`` have the shape
    ``(rows,)``, ``sums`` and ``magnitudes`` ``(rows, measures)``, ``largest``
    ``(rows, measures, k)``; ``marked`` (marked records) ``(rows, marks)`` and ``marked_largest``
    ``(rows, marks, measures)``. With weights, ``largest`` is for a weight of 1 and
    ``largest_weight``, of the same shape, says how many times it counts.
    """

    leaf: NDArray[np.int64]
    contributors: NDArray[np.int64]
    records: NDArray[np.int64]
    sums: NDArray[np.int64]
    magnitudes: NDArray[np.int64]
    largest: NDArray[np.int64]
    key_sum: NDArray[np.uint64] | None
    marked: NDArray[np.int64]
    marked_largest: NDArray[np.int64]
    straddlers: Rows
    largest_weight: NDArray[np.int64] | None = None


def read(
    stayers: pa.Table,
    straddlers: pa.Table | None,
    measures: Sequence[str],
    largest: int,
    marks: int = 0,
    weight_unit: int | None = None,
) -> Contributions:
    """Read the answers of `sql.stayers` and `sql.straddlers`.

    `stayers`, `straddlers`: the answers; None: nobody straddles. `weight_unit`: scaled weight that
    means 1, or None without weights. Where the answers tell no weights, each contributor has this
    one.
    """
    sums = read_sums(stayers, "sum", measures)  # first of all: refuses what leaves the range
    top, top_weight = _largest(stayers, len(measures), largest), None
    if weight_unit is not None:
        top, top_weight = _with_weights(stayers, top, weight_unit)
    return Contributions(
        leaf=read_integers(stayers, "leaf"),
        contributors=read_integers(stayers, "contributors"),
        records=read_integers(stayers, "records"),
        sums=sums,
        magnitudes=read_sums(stayers, "magnitude", measures),
        largest=top,
        largest_weight=top_weight,
        key_sum=_keys(stayers, "key_sum"),
        marked=read_marked(stayers, marks),
        marked_largest=_marked_largest(stayers, marks, len(measures)),
        straddlers=_rows(straddlers, measures, marks, weight_unit),
    )


def merge(parts: Sequence[Contributions], measures: Sequence[str]) -> Contributions:
    """Put together parts with different contributors."""
    if len(parts) == 1:
        return parts[0]
    leaves = np.unique(np.concatenate([part.leaf for part in parts]))
    aligned = [align(part, leaves) for part in parts]
    magnitudes = [part.magnitudes for part in aligned]
    _refuse_overflow(np.stack(magnitudes).astype(np.uint64).sum(axis=0), measures)
    kept = parts[0].largest.shape[2]
    together = np.concatenate([part.largest for part in aligned], axis=2)
    weights = [part.largest_weight for part in aligned if part.largest_weight is not None]
    top, top_weight = -np.sort(-together, axis=2)[:, :, :kept], None
    if weights:
        top, top_weight = heaviest(together, np.concatenate(weights, axis=2), kept)
    return Contributions(
        leaf=leaves,
        contributors=_added([part.contributors for part in aligned]),
        records=_added([part.records for part in aligned]),
        sums=_added([part.sums for part in aligned]),
        magnitudes=_added(magnitudes),
        largest=top,
        largest_weight=top_weight,
        key_sum=None,
        marked=_added([part.marked for part in aligned]),
        marked_largest=np.stack([part.marked_largest for part in aligned]).max(axis=0),
        straddlers=_appended([part.straddlers for part in parts]),
    )


def align(part: Contributions, leaves: NDArray[np.int64]) -> Contributions:
    """Give a row to each of `leaves`, which contain all leaves of `part`."""
    at = np.searchsorted(leaves, part.leaf)

    def spread(values: NDArray[Any]) -> NDArray[Any]:
        out = np.zeros((len(leaves), *values.shape[1:]), dtype=values.dtype)
        out[at] = values
        return out

    return replace(
        part,
        leaf=leaves,
        contributors=spread(part.contributors),
        records=spread(part.records),
        sums=spread(part.sums),
        magnitudes=spread(part.magnitudes),
        largest=spread(part.largest),
        largest_weight=None if part.largest_weight is None else spread(part.largest_weight),
        key_sum=None if part.key_sum is None else spread(part.key_sum),
        marked=spread(part.marked),
        marked_largest=spread(part.marked_largest),
    )


def totals(
    part: Contributions, measures: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Leaves, number of records and sums of stayers and straddlers together."""
    rows = part.straddlers
    leaves = np.unique(np.concatenate((part.leaf, rows.leaf)))
    aligned = align(part, leaves)
    at = find(leaves, rows.leaf)
    size = aligned.magnitudes.astype(np.uint64)
    rough = aligned.magnitudes.astype(np.float64)
    sizes = np.abs(rows.sums)
    np.add.at(size, at, sizes.astype(np.uint64))
    np.add.at(rough, at, sizes.astype(np.float64))
    # what would wrap even without a sign is far beyond the range of any rounding error
    _refuse_overflow(np.where(rough < 1.5 * 2.0**63, size, np.uint64(2**64 - 1)), measures)
    records, sums = aligned.records.copy(), aligned.sums.copy()
    np.add.at(records, at, rows.records)
    np.add.at(sums, at, rows.sums)
    return leaves, records, sums


def find(leaves: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of leaf numbers in the sorted `leaves`, which contain them all."""
    most = int(leaves[-1]) if len(leaves) else 0
    if most > 8 * len(wanted):
        return np.searchsorted(leaves, wanted)
    # leaf numbers are dense and repeat often: looking up beats searching by far
    position = np.zeros(most + 1, dtype=np.int64)
    position[leaves] = np.arange(len(leaves))
    return position[wanted]


def _refuse_overflow(size: NDArray[np.uint64], measures: Sequence[str]) -> None:
    for measure, sizes in zip(measures, size.T, strict=True):
        if (sizes > INT64).any():
            raise _out_of_range(measure)


def _out_of_range(measure: str) -> InputError:
    return InputError(
        f"sums of {measure!r} leave the range of 64-bit integers; state fewer decimals=, or "
        "divide the values, e.g. by 1,000"
    )


def _added(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.stack(arrays).sum(axis=0)


def _appended(lists: Sequence[Rows]) -> Rows:
    numbers: list[NDArray[np.int64]] = []
    first = 0
    for rows in lists:
        numbers.append(rows.contributor + first)
        first = int(numbers[-1][-1]) + 1 if len(rows.contributor) else first
    weights = [rows.weight for rows in lists if rows.weight is not None]
    return Rows(
        contributor=np.concatenate(numbers),
        leaf=np.concatenate([rows.leaf for rows in lists]),
        records=np.concatenate([rows.records for rows in lists]),
        sums=np.concatenate([rows.sums for rows in lists]),
        key=None,
        marked=np.concatenate([rows.marked for rows in lists]),
        weight=np.concatenate(weights) if weights else None,
    )


def marked_records(part: Contributions) -> NDArray[np.int64]:
    """Marked records of stayers and straddlers together, for aligned contributions."""
    marked = part.marked.copy()
    np.add.at(marked, find(part.leaf, part.straddlers.leaf), part.straddlers.marked)
    return marked


def _rows(
    table: pa.Table | None, measures: Sequence[str], marks: int, weight_unit: int | None
) -> Rows:
    if table is None:
        none = np.empty(0, dtype=np.int64)
        sums = np.empty((0, len(measures)), dtype=np.int64)
        weight = None if weight_unit is None else none
        return Rows(none, none, none, sums, None, np.empty((0, marks), dtype=np.int64), weight)
    weight = None
    if weight_unit is not None:
        told = "w" in table.column_names
        weight = read_integers(table, "w") if told else np.full(len(table), weight_unit)
    return Rows(
        contributor=read_integers(table, "contributor"),
        leaf=read_integers(table, "leaf"),
        records=read_integers(table, "records"),
        sums=read_sums(table, "sum", measures),
        key=_keys(table, "k"),
        marked=read_marked(table, marks),
        weight=weight,
    )


def read_integers(table: pa.Table, name: str) -> NDArray[np.int64]:
    """A column of whole numbers."""
    return table[name].to_numpy().astype(np.int64, copy=False)


def _keys(table: pa.Table, name: str) -> NDArray[np.uint64] | None:
    if name not in table.column_names:
        return None
    return read_integers(table, name).astype(np.uint64)


def read_sums(table: pa.Table, name: str, measures: Sequence[str]) -> NDArray[np.int64]:
    """The columns `name` 0, 1, … of sums, ``(rows, measures)``."""
    sums = np.empty((len(table), len(measures)), dtype=np.int64)
    for i, measure in enumerate(measures):
        if table[f"{name}{i}"].null_count:
            raise _out_of_range(measure)
        sums[:, i] = read_integers(table, f"{name}{i}")
    return sums


def read_marked(table: pa.Table, marks: int) -> NDArray[np.int64]:
    """Numbers of marked records, ``(rows, marks)``."""
    marked = np.empty((len(table), marks), dtype=np.int64)
    for j in range(marks):
        marked[:, j] = read_integers(table, f"marked{j}")
    return marked


def _marked_largest(table: pa.Table, marks: int, measures: int) -> NDArray[np.int64]:
    largest = np.empty((len(table), marks, measures), dtype=np.int64)
    for j in range(marks):
        for i in range(measures):
            # nobody marked: null
            largest[:, j, i] = table[f"top{j}_{i}"].cast(pa.int64()).fill_null(0).to_numpy()
    return largest


def _with_weights(
    table: pa.Table, top: NDArray[np.int64], unit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The largest for a weight of 1, in units of the weighted sums, and their weights."""
    _, measures, k = top.shape
    if k and measures and "weight0" not in table.column_names:
        # padding gets a weight too: it is 0, however often it counts
        return top, np.full(top.shape, unit, dtype=np.int64)
    # weights are at least 1, so this is at most the weighted sum and fits
    return top * unit, _largest(table, measures, k, "weight")


def _largest(table: pa.Table, measures: int, k: int, name: str = "largest") -> NDArray[np.int64]:
    largest = np.zeros((len(table), measures, k), dtype=np.int64)
    for i in range(measures if k else 0):
        lists = table[f"{name}{i}"].combine_chunks()
        there = np.arange(k) < lists.value_lengths().to_numpy()[:, None]
        largest[:, i][there] = lists.flatten().to_numpy()
    return largest


def heaviest(
    amount: NDArray[np.int64], weight: NDArray[np.int64], kept: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs with the largest amounts along the last axis, descending.

    >>> amount, weight = heaviest(np.array([6, 10, 6]), np.array([3, 2, 4]), 2)
    >>> amount.tolist(), weight.tolist()
    ([10, 6], [2, 4])
    """
    order = np.lexsort((weight, amount), axis=-1)[..., ::-1][..., :kept]
    return np.take_along_axis(amount, order, -1), np.take_along_axis(weight, order, -1)
