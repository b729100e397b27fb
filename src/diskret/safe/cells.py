"""The controlled cells of a file: numbered by table, and found again by their codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.progress import Progress, silent
from diskret.safe.problem import ControlTable, SafeFile, SafeProblem
from diskret.texts.numbers import Count

#: Tables with fewer possible cells are looked up in an array with a place for each.
_DENSE = 1 << 24
_LARGEST = 1 << 62
#: So many combinations are counted by a compiled loop, which needs no memory for each of them.
_MANY = 1 << 16
_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of all controlled tables into which a record falls, one table after the other.

    A cell that two tables share is a cell in each. Cells of tables that count something else than
    records may have a count of 0: they keep it, and their deviations are not looked at.

    `start`: cells of table t: ``start[t]`` up to, but not, ``start[t + 1]``; ``(T + 1,)``, int64.
    `key`: codes of a cell as one number, ascending in each table, ``(C,)``, int64.
    `original`: counts before, ``(C,)``, int64.
    `allowance`: deviation that is free, ``(C,)``, int64.
    `exact`: whether the cell keeps its count, ``(C,)``.
    """

    problem: SafeProblem
    start: NDArray[np.int64]
    key: NDArray[np.int64]
    original: NDArray[np.int64]
    allowance: NDArray[np.int64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """Number of the table of each cell, ``(C,)``."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def units(self) -> tuple[int | None, ...]:
        """What is counted: records (None), always first, and each variable that counts."""
        counters = {t.counter for t in self.problem.tables if t.counter is not None}
        return (None, *sorted(counters))

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """What each table counts, a position in `units`, ``(T,)``."""
        return np.array([self.units.index(t.counter) for t in self.problem.tables], dtype=np.int64)

    def counted(self, codes: NDArray[np.signedinteger[Any]] | None = None) -> NDArray[np.int32]:
        """How many of each unit a record with these codes is; those of the problem by default.

        Table t counts ``counted[:, unit[t]]``: 1 for records. ``(n, units)``, int32.
        """
        rows = self.problem.codes if codes is None else codes
        columns = [np.ones(len(rows), np.int32) if u is None else rows[:, u] for u in self.units]
        return np.stack(columns, axis=1).astype(np.int32)

    def index(self, codes: NDArray[np.signedinteger[Any]] | None = None) -> NDArray[np.int32]:
        """The cell of each table into which combinations fall.

        `codes`: combinations, ``(n, V)``, e.g. a block of those of the problem; None: all of them.
        Returns numbers of cells, ``(n, T)``, int32; −1 for cells into which no record of the
        problem falls.
        """
        rows = np.asfortranarray(self.problem.codes if codes is None else codes)
        tables = self.problem.tables
        found = np.empty((len(rows), len(tables)), dtype=np.int32)
        for t, table in enumerate(tables):
            found[:, t] = self.find(t, _keys(self.problem, table, rows))
        return found

    def find(self, t: int, key: NDArray[np.int64]) -> NDArray[np.int32]:
        """Numbers of the cells of table `t` with these keys; −1 where there is none."""
        first, own = int(self.start[t]), self.key[self.start[t] : self.start[t + 1]]
        span = _span(self.problem, self.problem.tables[t])
        if span <= _DENSE:
            place = np.full(span, -1, dtype=np.int32)
            place[own] = np.arange(first, first + len(own))
            return place[key]
        near = np.minimum(np.searchsorted(own, key), len(own) - 1)
        return np.where(own[near] == key, near + first, -1).astype(np.int32)

    def codes(self, cell: int) -> tuple[int, ...]:
        """The code of a cell in each variable of its table."""
        table = self.problem.tables[int(self.table[cell])]
        sizes = [self.problem.sizes[v] for v in table.columns]
        if not sizes:
            return ()
        return tuple(int(code) for code in np.unravel_index(int(self.key[cell]), sizes))

    def named(self, cell: int) -> str:
        """A cell in words: its variables and codes, what it counts, and its count."""
        problem = self.problem
        table = problem.tables[int(self.table[cell])]
        at = zip(table.columns, self.codes(cell), strict=True)
        where = ", ".join(f"{problem.names[v]}={code}" for v, code in at) or "the total"
        if table.counter is None:
            number = Count(self.original[cell])
            return f"{where} ({number} {number:record|records})"
        return f"{where} ({self.original[cell]} {problem.names[table.counter]})"

    def score(self, deviation: NDArray[np.int64]) -> tuple[int, int, int]:
        """What is to be as small as possible, one after the other.

        `deviation`: protected less original count of each cell, ``(C,)``. Returns largest abs(d) −
        w, how many cells have it, and Σ abs(d), over the cells with an original count of at least
        1.
        """
        known = self.original > 0
        if not known.any():
            return 0, 0, 0
        off = np.abs(deviation[known])
        over = off - self.allowance[known]
        largest = int(over.max())
        return largest, int((over == largest).sum()), int(off.sum())


class ExactCellsError(InputError):
    """Cells that no safe file can keep exactly.

    `why`: what is wrong. `known`: all cells. `blamed`: numbers of those that are to blame.
    """

    def __init__(self, why: str, known: Cells, blamed: list[int]):
        self.cells = tuple((int(known.table[cell]), known.codes(cell)) for cell in blamed)
        named = "; ".join(known.named(cell) for cell in blamed[:_EXAMPLES])
        more = len(blamed) - _EXAMPLES
        super().__init__(
            f"{why}: {named}{f' and {more} more' if more > 0 else ''}. Keep fewer cells exactly, "
            f"combine categories, or allow a smaller minimum than {known.problem.minimum}"
        )


def cells(problem: SafeProblem, progress: Progress = silent) -> Cells:
    """Number the cells of all controlled tables.

    `problem`: combinations and tables. One table is looked at after the other; what is kept needs
    memory for cells, never for combinations times tables. `progress` is told how many there are.

    Two regions and two ages; of four possible combinations three occur.

    >>> codes = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    >>> tables = ControlTable((0,)), ControlTable((0, 1), exact=True)
    >>> problem = SafeProblem(("region", "age"), codes, np.array([1, 4, 6]), (2, 2), tables)
    >>> known = cells(problem)
    >>> known.original.tolist(), known.table.tolist()
    ([5, 6, 1, 4, 6], [0, 0, 1, 1, 1])
    >>> known.index().tolist()
    [[0, 2], [0, 3], [1, 4]]
    >>> known.named(2)
    'region=0, age=0 (1 record)'
    """
    rows = np.asfortranarray(problem.codes)
    parts: list[tuple[NDArray[np.int64], ...]] = []
    for done, table in enumerate(problem.tables):
        progress("count tables", done, len(problem.tables))
        own, original = _counted(problem, table, rows, problem.count)
        allowance = np.full(len(own), table.allowance, dtype=np.int64)
        exact = np.full(len(own), table.exact)
        for special in table.special:
            wanted = np.zeros((1, len(problem.names)), dtype=np.int32)
            wanted[0, list(table.columns)] = special.codes
            same = own == _keys(problem, table, wanted)
            allowance[same], exact[same] = special.allowance, special.exact
        parts.append((own, original, allowance, exact.astype(np.int64)))
    progress("count tables", len(parts), len(parts))
    start = np.cumsum([0, *(len(part[0]) for part in parts)])
    none = np.zeros(0, dtype=np.int64)
    own, original, allowance, exact = (
        np.concatenate([none, *(part[i] for part in parts)]) for i in range(4)
    )
    return Cells(problem, start, own, original, allowance, exact.astype(np.bool_))


@dataclass(frozen=True, eq=False)
class Deviations:
    """Counts of all controlled cells before and after, as `deviations` finds them.

    `table`: number of the table, ``(C,)``, int64.
    `original`, `protected`: counts, ``(C,)``, int64.
    """

    table: NDArray[np.int64]
    original: NDArray[np.int64]
    protected: NDArray[np.int64]


def deviations(
    problem: SafeProblem,
    file: SafeFile,
    known: Cells | None = None,
    progress: Progress = silent,
) -> Deviations:
    """Count the controlled cells in another file.

    Parameters
    ----------
    problem, file
        What was asked, and any combinations with frequencies.
    known
        The cells of the problem, if they are at hand.
    progress
        Told how many tables are counted.

    Returns
    -------
    Deviations
        First the cells of `cells`, in that order, then those that are counted in the file
        alone, by table.

    Examples
    --------
    >>> codes = np.array([[0], [1]], dtype=np.int32)
    >>> problem = SafeProblem(("age",), codes, np.array([2, 7]), (3,), (ControlTable((0,)),))
    >>> file = SafeFile(np.array([[1], [2]], dtype=np.int32), np.array([6, 3]))
    >>> found = deviations(problem, file)
    >>> found.original.tolist(), found.protected.tolist()
    ([2, 7, 0], [0, 6, 3])
    """
    known = cells(problem) if known is None else known
    rows = np.asfortranarray(file.codes)
    protected = np.zeros(len(known), dtype=np.int64)
    opened: list[NDArray[np.int64]] = []
    for t, table in enumerate(problem.tables):
        progress("count tables", t, len(problem.tables))
        key, total = _counted(problem, table, rows, file.count)
        at = known.find(t, key)
        protected[at[at >= 0]] = total[at >= 0]
        opened.append(total[(at < 0) & (total > 0)])
    progress("count tables", len(opened), len(opened))
    tables = np.repeat(np.arange(len(opened)), [len(counts) for counts in opened])
    new = np.concatenate([np.zeros(0, dtype=np.int64), *opened])
    return Deviations(
        np.concatenate([known.table, tables]),
        np.concatenate([known.original, 0 * new]),
        np.concatenate([protected, new]),
    )


def _span(problem: SafeProblem, table: ControlTable) -> int:
    """Number of possible cells."""
    span = 1
    for v in table.columns:
        span *= problem.sizes[v]
    if span > _LARGEST:
        names = ", ".join(problem.names[v] for v in table.columns)
        raise InputError(
            f"the controlled table {names} has {span:.1e} possible cells, more than can be "
            "numbered; name fewer variables, or coarser ones"
        )
    return span


def _counted(
    problem: SafeProblem,
    table: ControlTable,
    rows: NDArray[np.signedinteger[Any]],
    count: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of a table into which combinations fall, ascending, and what each holds."""
    span = _span(problem, table)
    if span > _DENSE or len(rows) < _MANY:
        return _summed(_keys(problem, table, rows), _amount(table, rows, count), span)
    from diskret.safe.cells_kernels import add_up

    there, total = np.zeros(span, dtype=np.bool_), np.zeros(span, dtype=np.int64)
    columns = np.array(table.columns, dtype=np.int64)
    sizes = np.array([problem.sizes[v] for v in table.columns], dtype=np.int64)
    counter = -1 if table.counter is None else table.counter
    add_up(rows, columns, sizes, counter, count, there, total)
    own = np.flatnonzero(there)
    return own, total[own]


def _keys(
    problem: SafeProblem, table: ControlTable, rows: NDArray[np.signedinteger[Any]]
) -> NDArray[np.int64]:
    """The cell of each combination as one number."""
    key = np.zeros(len(rows), dtype=np.int64)
    for v in table.columns:
        key *= problem.sizes[v]
        key += rows[:, v]
    return key


def _amount(
    table: ControlTable, rows: NDArray[np.signedinteger[Any]], count: NDArray[np.int64]
) -> NDArray[np.int64]:
    """What each combination adds to its cell."""
    return count if table.counter is None else count * rows[:, table.counter]


def _summed(
    key: NDArray[np.int64], amount: NDArray[np.int64], span: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct keys, ascending, and the sum of what has each."""
    if span <= _DENSE:
        there = np.zeros(span, dtype=np.bool_)
        there[key] = True
        own = np.flatnonzero(there)
        place = np.cumsum(there)[key] - 1
    else:
        own, place = np.unique(key, return_inverse=True)
    total = np.zeros(len(own), dtype=np.int64)
    np.add.at(total, place, amount)
    return own, total
