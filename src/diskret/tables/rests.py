"""What is left of cells of one table without the same cells of others: by its contributors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.tables.contributions import Contributions
from diskret.tables.table import Table
from diskret.tables.union_members import Pairs, of_contributors
from diskret.tables.unions import pairs_of


def rest_table(model: Table, tables: Sequence[Table], cells: NDArray[np.int64]) -> Table:
    """A table of what is left of cells of one table without cells of others. Confidential.

    The records of the others must be among those of the first. Somebody with records in both
    stays, with what is left of its contribution, until no record is left.

    Parameters
    ----------
    model
        Says of which measures there are sums, and which marks contributors may have.
    tables
        The table with the whole cells, then those that are taken away; each lists its
        contributions.
    cells
        Flat positions of the cells in their tables, ``(r, len(tables))``.

    Returns
    -------
    Table
        As of `diskret.tables.unions.union_table`.

    Raises
    ------
    InputError
        A table does not list its contributions, or not of the units and marks of the others;
        more records are taken away than there are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.protect.tabulate import tabulate
    >>> jobs = pa.table({"firm": [1, 1, 2], "part": [0, 1, 1], "sales": [9, 1, 5]})
    >>> of = {"by": {"part": None}, "value": "sales", "unit": "firm", "contributions": True}
    >>> every, small = tabulate(jobs, **of), tabulate(jobs, **of, where={"sales": {"max": 1}})
    >>> left = rest_table(every, [every, small], np.array([[0, 0], [2, 1]]))
    >>> left.measure.sum.tolist(), left.units.tolist()
    ([0, 14, 5], [0, 2, 1])
    """
    return of_contributors(*_left(model, tables, cells))


def listed_rests(model: Table, tables: Sequence[Table], cells: NDArray[np.int64]) -> Table:
    """The same, with a list of those who contribute to each rest.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.protect.tabulate import tabulate
    >>> jobs = pa.table({"firm": [1, 1, 2], "part": [0, 1, 1], "sales": [9, 1, 5]})
    >>> of = {"by": {"part": None}, "value": "sales", "unit": "firm", "contributions": True}
    >>> every, small = tabulate(jobs, **of), tabulate(jobs, **of, where={"sales": {"max": 1}})
    >>> left = listed_rests(every, [every, small], np.array([[0, 0], [2, 1]]))
    >>> left.contributions.leaf.ravel().tolist(), left.contributions.values["sales"].tolist()
    ([0, 0, 1], [5, 9, 5])
    """
    model, left, pairs = _left(model, tables, cells)
    rests = of_contributors(model, left, pairs)
    [dimension] = rests.dimensions
    by = {dimension.name: dimension.hierarchy.codes[1:]}
    leaf = (pairs.union - 1).astype(np.int32)[:, None]
    return replace(rests, contributions=replace(left, by=by, leaf=leaf))


def _left(
    model: Table, tables: Sequence[Table], cells: NDArray[np.int64]
) -> tuple[Table, Contributions, Pairs]:
    """What `of_contributors` makes a table of rests of."""
    given = _alike(tables)
    common = tuple(m for m in model.measures if all(m.name in one.values for one in given))
    if not model.frequency and model.measure.name not in [m.name for m in common]:
        raise InputError(f"a table does not list contributions to {model.measure.name!r}")
    if any(mark not in one.marked for mark in model.marked for one in given):
        raise InputError("a table does not list who asked for protection or consented")
    model = replace(model, measures=common)
    pairs = [
        pairs_of(table, _alone(own, table)) for table, own in zip(tables, cells.T, strict=True)
    ]
    union = np.concatenate([own.union for own in pairs])
    sign = np.repeat([1] + [-1] * (len(pairs) - 1), [len(own.union) for own in pairs])

    def every(of: Callable[[Contributions], NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([of(one)[own.row] for one, own in zip(given, pairs, strict=True)])

    names = [name for name in ("unit", "holding") if getattr(given[0], name) is not None]
    who: list[NDArray[Any]] = [
        union,
        *(every(lambda one, name=name: getattr(one, name)) for name in names),
    ]
    order = np.lexsort(who[::-1])
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in who], axis=0)
    start = np.flatnonzero(new)

    def net(of: Callable[[Contributions], NDArray[np.int64]]) -> NDArray[np.int64]:
        if not len(start):
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat((sign * every(of))[order], start)

    records = net(lambda one: one.records)
    if (records < 0).any():
        raise InputError("a filter has records that the whole table does not have")
    stays = records > 0
    kept = order[start][stays]
    left = Contributions(
        by=given[0].by,
        leaf=np.zeros((len(kept), len(given[0].by)), dtype=np.int32),
        unit=who[1][kept] if "unit" in names else None,
        holding=who[-1][kept] if "holding" in names else None,
        records=records[stays],
        values={m.name: net(lambda one, name=m.name: one.values[name])[stays] for m in common},
        marked={m: net(lambda one, m=m: one.marked[m])[stays] for m in model.marked},
    )
    row = np.arange(len(kept))
    return model, left, Pairs(len(cells), union[kept], row, np.ones_like(row))


def _alike(tables: Sequence[Table]) -> list[Contributions]:
    """The lists of the tables, if they are of the same kind of contributors."""
    given = [table.contributions for table in tables if table.contributions is not None]
    if len(given) < len(tables):
        raise InputError("what is left beside a filter is judged by contributions; list them")
    if len({(one.unit is None, one.holding is None) for one in given}) > 1:
        raise InputError("the tables do not name the same kind of contributors")
    return given


def _alone(cells: NDArray[np.int64], table: Table) -> sparse.csr_array:
    """Each of some cells as a union of its own."""
    start, ones = np.arange(len(cells) + 1), np.ones(len(cells), dtype=np.int64)
    return sparse.csr_array((ones, cells, start), shape=(len(cells), int(np.prod(table.shape))))
