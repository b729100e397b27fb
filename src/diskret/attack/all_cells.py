"""All cells that an attacker thinks of: the published ones, and those between the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from diskret.attack.axes import Axis, axes_of, crossings
from diskret.errors import InputError
from diskret.tables import Publication, Published
from diskret.texts.numbers import Count

Found = TypeVar("Found")

#: Of publications of more cells nothing is kept: it would fill memory.
MOST = 100_000


def remembered(work_out: Callable[[Publication], Found]) -> Callable[[Publication], Found]:
    """Let a publication of few cells keep what a function finds out about it.

    Nobody may change what was found. If somebody changes the publication, it is worked out anew.
    """

    @wraps(work_out)
    def found(publication: Publication) -> Found:
        if publication.starts[-1] > MOST:
            return work_out(publication)
        says = b"".join(
            array.tobytes()
            for table in publication.tables
            for array in (table.value, table.suppressed, table.empty, *table.intervals.values())
        )
        known = publication.worked_out.get(work_out.__qualname__)
        if known is None or known[0] != says:
            known = publication.worked_out[work_out.__qualname__] = says, work_out(publication)
        return known[1]

    return found


@dataclass(frozen=True, eq=False)
class Grid:
    """One table: its axes, and the position of each of its cells among all.

    Or the finest combinations of tables that nobody published; `table` is one of these.
    """

    table: Published
    axes: tuple[Axis, ...]
    number: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AllCells:
    """The cells that equations are about. Positions below `public` are those of the publication.

    grids: its tables, and behind them the finest combinations of those that need them.
    public: number of published cells; positions from here on are cells that nobody published.
    latent: number of cells that nobody published.
    crossed: whether there are finest combinations among these.
    nobody: cells that nobody published and nobody is in, ascending, int64.
    vacant: cells of the publication that no record can be in: codes that a filter leaves out,
        int64.
    complete: whether nothing is left that only common records of three or more tables tell.
    """

    publication: Publication
    grids: tuple[Grid, ...]
    public: int
    latent: int
    crossed: bool
    nobody: NDArray[np.int64]
    vacant: NDArray[np.int64]
    complete: bool

    @property
    def whole(self) -> bool:
        """Whether all values are counts."""
        return self.publication.tables[0].frequency

    def nonnegative(self, measure: str, vintage: str) -> bool:
        """Whether there are tables of a measure and nothing of it can be negative."""
        tables = self.publication.tables
        own = [t for t in tables if (t.measure, t.vintage) == (measure, vintage)]
        return bool(own) and all(t.nonnegative or t.frequency for t in own)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which of the unknown cells that nobody published may be negative."""
        of_grid = [
            np.full(
                int((grid.number >= self.public).sum()),
                not self.nonnegative(grid.table.measure, grid.table.vintage),
            )
            for grid in self.grids
        ]
        return np.concatenate(of_grid)[self.unknown[self.public :]]

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Cells whose exact value is not published: suppressed, rounded, or no table's."""
        open_ = [_unknown(table).ravel() for table in self.publication.tables]
        unknown = np.concatenate([*open_, np.ones(self.latent, dtype=bool)])
        unknown[self.nobody] = False
        return unknown

    @property
    def value(self) -> NDArray[np.int64]:
        """Published values, 0 where the exact value is unknown."""
        shown = [np.where(_unknown(t), 0, t.value).ravel() for t in self.publication.tables]
        return np.concatenate([*shown, np.zeros(self.latent, dtype=np.int64)])


@remembered
def all_cells(publication: Publication) -> AllCells:
    """Number the cells of all tables, and refine groupings that cut through each other."""
    tables = publication.tables
    _check_alike(tables)
    axes = axes_of(tables)
    public = latent = int(publication.starts[-1])
    grids: list[Grid] = []
    for table, own, start in zip(tables, axes, publication.starts, strict=False):
        shape = tuple(len(axis.parent) for axis in own)
        shown = tuple(axis.public for axis in own)
        number = np.full(shape, -1, dtype=np.int64)
        number[np.ix_(*map(np.arange, shown))] = start + np.arange(np.prod(shown)).reshape(shown)
        new = number < 0
        number[new] = latent + np.arange(new.sum())
        latent += int(new.sum())
        grids.append(Grid(table, own, number))
    around, complete = crossings(tables, axes)
    for table, own in around:
        shape = tuple(len(axis.parent) for axis in own)
        number = latent + np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
        latent += number.size
        grids.append(Grid(table, own, number))
    nobody = np.sort(np.concatenate([_nobody(grid) for grid in grids]))
    latent_from = int(np.searchsorted(nobody, public))
    return AllCells(
        publication,
        tuple(grids),
        public,
        latent - public,
        bool(around),
        nobody[latent_from:],
        nobody[:latent_from],
        complete,
    )


def _nobody(grid: Grid) -> NDArray[np.int64]:
    """Cells of codes that nobody of the table's population is in."""
    empty = np.zeros(grid.number.shape, dtype=bool)
    for place, axis in enumerate(grid.axes):
        along = [-1 if d == place else 1 for d in range(empty.ndim)]
        empty |= axis.empty.reshape(along)
    return grid.number[empty]


def _unknown(table: Published) -> NDArray[np.bool_]:
    return table.suppressed if table.rounding == 1 else ~table.empty


def _check_alike(tables: Sequence[Published]) -> None:
    kinds = {(table.frequency, table.decimals) for table in tables}
    if len(kinds) > 1:
        raise InputError(
            "tables of counts and tables of sums have no common equations, so attack them apart; "
            "values that add up need the same decimals=: "
            + ", ".join(
                f"{t.name!r} ({t.measure}, {t.decimals} {Count(t.decimals):decimal|decimals})"
                for t in tables
            )
        )
