"""What is left of cells of one table without the same cells of others: by its contributors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.tables.contributions import Contributions
from diskret.tables.made_of import MadeOf
from diskret.tables.table import Table
from diskret.tables.union_members import Pairs, of_contributors
from diskret.tables.unions import made_of, pairs_of


def rest_table(model: Table, tables: Sequence[Table], cells: NDArray[np.int64]) -> Table:
    """A table of what is left of cells of one table without cells of others. Confidential.

    The records of the others must be among those of the first. Somebody with records in both
    stays, with what is left of its contribution, until no record is left.

    model: says of which measures there are sums, and which marks contributors may have.
    tables: the table with the whole cells, then those that are taken away; each lists its
        contributions.
    cells: flat positions of the cells in their tables, ``(r, len(tables))``.

    Returns: as of `diskret.tables.unions.union_table`.

    >>> import pyarrow as pa
    >>> from diskret.protect.tabulate import tabulate
    >>> jobs = pa.table({"firm": [1, 1, 2], "part": [0, 1, 1], "sales": [9, 1, 5]})
    >>> of = {"by": {"part": None}, "value": "sales", "unit": "firm", "contributions": True}
    >>> every, small = tabulate(jobs, **of), tabulate(jobs, **of, where={"sales": {"max": 1}})
    >>> left = rest_table(every, [every, small], np.array([[0, 0], [2, 1]]))
    >>> left.measure.sum.tolist(), left.units.tolist()
    ([0, 14, 5], [0, 2, 1])
    """
    return replace(of_contributors(*_left(model, tables, cells)), made_of=wholes_of(tables, cells))


def listed_rests(model: Table, tables: Sequence[Table], cells: NDArray[np.int64]) -> Table:
    """The same, with a list of those who contribute to each rest.

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
    return replace(
        rests,
        contributions=replace(left, by=by, leaf=leaf),
        made_of=wholes_of(tables, cells),
    )


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
    net = _Net.of(given, tables, cells)
    records = net.sums(lambda one: one.records)
    if (records < 0).any():
        raise InputError("a filter has records that the whole table does not have")
    stays = records > 0
    who = {name: own[stays] for name, own in net.who.items()}
    left = Contributions(
        by=given[0].by,
        leaf=np.zeros((int(stays.sum()), len(given[0].by)), dtype=np.int32),
        unit=who.get("unit"),
        holding=who.get("holding"),
        records=records[stays],
        values={m.name: net.sums(lambda one, name=m.name: one.values[name])[stays] for m in common},
        marked={m: net.sums(lambda one, m=m: one.marked[m])[stays] for m in model.marked},
    )
    row = np.arange(int(stays.sum()))
    return model, left, Pairs(len(cells), net.rest[stays], row, np.ones_like(row))


def wholes_of(tables: Sequence[Table], cells: NDArray[np.int64]) -> MadeOf:
    """The whole cells in which the rests lie; parameters as of `rest_table`."""
    return made_of(tables[0], _alone(cells[:, 0], tables[0]))


def beyond_whole(tables: Sequence[Table], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where contributors have more records in the tables that are taken away than in the whole.

    There the difference is no rest. Without lists of contributors nothing is known to be.
    """
    nowhere = np.zeros(len(cells), dtype=bool)
    with suppress(InputError):
        net = _Net.of(_alike(tables), tables, cells)
        nowhere[net.rest[net.sums(lambda one: one.records) < 0] - 1] = True  # 0 is their total
    return nowhere


@dataclass(frozen=True, eq=False)
class _Net:
    """Contributors to rests, each once in each: rows of its lists, to be added up with signs."""

    given: list[Contributions]
    rows: list[NDArray[np.int64]]
    sign: NDArray[np.int64]
    order: NDArray[np.int64]
    start: NDArray[np.int64]
    rest: NDArray[np.int64]
    who: dict[str, NDArray[Any]]

    @classmethod
    def of(
        cls, given: list[Contributions], tables: Sequence[Table], cells: NDArray[np.int64]
    ) -> _Net:
        pairs = [
            pairs_of(table, _alone(own, table)) for table, own in zip(tables, cells.T, strict=True)
        ]
        rows = [own.row for own in pairs]
        sign = np.repeat([1] + [-1] * (len(pairs) - 1), list(map(len, rows)))
        names = [name for name in ("unit", "holding") if getattr(given[0], name) is not None]
        keys = {"": np.concatenate([own.union for own in pairs])} | {
            name: np.concatenate(
                [getattr(one, name)[at] for one, at in zip(given, rows, strict=True)]
            )
            for name in names
        }
        order = np.lexsort([*keys.values()][::-1])
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys.values()], axis=0)
        start = np.flatnonzero(new)
        who = {name: key[order][start] for name, key in keys.items()}
        return cls(given, rows, sign, order, start, who.pop(""), who)

    def sums(self, of: Callable[[Contributions], NDArray[np.int64]]) -> NDArray[np.int64]:
        """For each contributor to a rest what it has in the whole, without the others."""
        every = [of(one)[at] for one, at in zip(self.given, self.rows, strict=True)]
        if not len(self.start):
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat((self.sign * np.concatenate(every))[self.order], self.start)


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
