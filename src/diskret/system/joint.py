"""The equations of several tables at once, refined to atoms where groupings overlap."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.deadline import NEVER, Deadline
from diskret.errors import InputError
from diskret.hierarchy.table_circles import Codes, circles
from diskret.system.axes import Axis, Bases, axes_of
from diskret.system.equations import Cell, RectangularCells, System
from diskret.system.possible import possible_values
from diskret.tables import MeasureSum, Table
from diskret.texts.numbers import Count

#: Equations of one form: cells ``(r, k)``, -1 where there is none, and their signs ``(k,)``.
_Rows = tuple[NDArray[np.int64], NDArray[np.int8]]
_Kind = tuple[str, str]
_EXAMPLES = 3
#: Numbers of restrictions are made smaller before they leave 64 bits.
_LARGEST = 2**62


def joint_system(
    tables: Sequence[Table],
    sums: Sequence[MeasureSum] = (),
    combinations: bool = False,
    deadline: Deadline = NEVER,
) -> System:
    """The system of several tables over the same records.

    Its cells are those of the tables, one table after the other, and behind them cells that
    nobody publishes: the parts of categories that other tables cut through, and what is
    left of all records beside those of a filter. Cells with the same definition are tied
    together by equations of two. The values of unpublished cells are one possibility; `OutOfTime`
    is raised if none was found by the deadline.
    """
    _check_decimals(tables, sums)
    known = np.concatenate([table.measure.sum.ravel() for table in tables])
    grids = _grids(tables, len(known))
    if combinations:
        grids += _crossed(grids, max(int(grid.number.max()) for grid in grids) + 1)
    signed = {_kind(grid) for grid in grids if not grid.table.nonnegative}
    defined, rows = _by_kind(grids)
    rows += _parts(grids)
    summed = [*_summed(defined, sums, signed)]
    rows += [block for block, rest in summed if not rest]
    rests = [*(block for block, rest in summed if rest), *_rests(grids, signed)]
    n = behind = max(int(grid.number.max()) for grid in grids) + 1
    for cells, signs in rests:
        own = np.arange(n, n + len(cells))
        rows.append((np.column_stack((cells, own)), np.append(signs, np.int8(-1))))
        n += len(cells)
    nobody = np.concatenate([_nobody(grid) for grid in grids])
    equations = _matrix([_without(nobody, *own) for own in rows], n)
    cells = _JointCells(tables, grids, behind, n)
    _check(cells, equations, known)
    lowest = np.zeros(n)
    for grid in grids:
        lowest[grid.number] = -np.inf if _kind(grid) in signed else 0.0
    lowest = lowest[len(known) :]
    values = np.append(known, possible_values(equations, known, lowest, deadline))
    values[nobody] = 0
    return System(cells, values, equations, tuple(t.dimensions for t in tables), lowest)


@dataclass(frozen=True, eq=False)
class _Grid:
    """A table with its atoms: its axes, and the position of each of its cells.

    Or combinations of codes that nobody published; `table` is then one of those crossed.
    """

    table: Table
    axes: Sequence[Axis]
    number: NDArray[np.int64]

    def at_total(self, names: Set[str]) -> _Grid:
        """The cells at the total of some variables, as cells of the others."""
        kept = [axis for axis in self.axes if axis.name not in names]
        at = tuple(0 if axis.name in names else slice(None) for axis in self.axes)
        return replace(self, axes=kept, number=self.number[at])


def _grids(tables: Sequence[Table], latent: int) -> list[_Grid]:
    """Number the cells of all tables; atoms get the numbers from `latent` onwards."""
    grids: list[_Grid] = []
    start = 0
    for table, axes in zip(tables, axes_of(tables), strict=True):
        shown = [axis.public for axis in axes]
        size = int(np.prod(shown))
        number = np.full([len(axis.parent) for axis in axes], -1, dtype=np.int64)
        number[np.ix_(*map(np.arange, shown))] = start + np.arange(size).reshape(shown)
        new = number < 0
        number[new] = latent + np.arange(new.sum())
        latent += int(new.sum())
        start += size
        grids.append(_Grid(table, axes, number))
    return grids


def _crossed(grids: Sequence[_Grid], latent: int) -> list[_Grid]:
    """Combinations of the codes of tables in circles, numbered from `latent` onwards."""
    alike: defaultdict[object, list[_Grid]] = defaultdict(list)
    for grid in grids:
        alike[_kind(grid), grid.table.where].append(grid)
    found: list[_Grid] = []
    for same in alike.values():
        if not all(grid.table.nonnegative for grid in same):
            continue
        of = [[Codes(a.name, tuple(a.parent), tuple(a.bases)) for a in g.axes] for g in same]
        for circle in circles(of)[0]:
            axes = [Axis(c.name, list(c.parent), list(c.meaning), 0) for c in circle]
            shape = [len(axis.parent) for axis in axes]
            number = latent + np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
            latent += number.size
            found.append(_Grid(same[0].table, axes, number))
    return found


class _JointCells(Sequence[Cell]):
    """The cells of a joint system, made when asked for."""

    def __init__(self, tables: Sequence[Table], grids: Sequence[_Grid], rests: int, n: int):
        self._tables = [
            RectangularCells(t.measure.name, t.vintage, t.dimensions, t.where) for t in tables
        ]
        self._starts = np.cumsum([0, *map(len, self._tables)]).tolist()
        self._grids, self._rests, self._n = grids, rests, n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index):  # type: ignore[override]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        index = range(self._n)[int(index)]
        if index < self._starts[-1]:
            table = bisect_right(self._starts, index) - 1
            return self._tables[table][index - self._starts[table]]
        return Cell("", "", ()) if index >= self._rests else self._atom(index)

    def position(self, table: int, inside: Mapping[str, frozenset[str]]) -> int:
        """The cell of a table's records with these base codes, unpublished ones included."""
        grid = self._grids[table]
        at = tuple(axis.bases.index(inside.get(axis.name)) for axis in grid.axes)
        return int(grid.number[at])

    def _atom(self, index: int) -> Cell:
        grid = next(grid for grid in self._grids if (grid.number == index).any())
        at = np.argwhere(grid.number == index)[0].tolist()
        inside = ((axis.name, axis.bases[i]) for axis, i in zip(grid.axes, at, strict=True))
        codes = sorted((name, "+".join(sorted(b))) for name, b in inside if b is not None)
        return Cell(*_kind(grid), tuple(codes))


def _kind(grid: _Grid) -> _Kind:
    return grid.table.measure.name, grid.table.vintage


def cell_inside(system: System, table: int, inside: Mapping[str, frozenset[str]]) -> int:
    """Position of a cell by the base codes it is restricted to in each variable, if at all.

    `system`: made by `joint_system`, without further cells.
    """
    cells = system.cells
    if not isinstance(cells, _JointCells):
        raise TypeError("not the system of several tables")
    return cells.position(table, inside)


def definitions(tables: Sequence[Table]) -> list[NDArray[np.int64]]:
    """What the cells of each table are restricted to, whatever their measure.

    Numbers in the shape of each table; equal where population and codes are the same.
    """
    grids = _grids(tables, 0)
    return [
        where[tuple(slice(axis.public) for axis in grid.axes)].reshape(grid.table.shape)
        for where, grid in zip(_restrictions(grids), grids, strict=True)
    ]


# ── definitions ─────────────────────────────────────────────────────────────────────


def _restrictions(grids: Sequence[_Grid]) -> list[NDArray[np.int64]]:
    """What the cells are restricted to: numbers, equal where the restrictions are equal."""
    found = [np.zeros(grid.number.shape, dtype=np.int64) for grid in grids]
    bound = 1
    for name in dict.fromkeys(axis.name for grid in grids for axis in grid.axes):
        place: dict[Bases, int] = {None: 0}
        own = [
            (i, at, np.array([place.setdefault(bases, len(place)) for bases in axis.bases]))
            for i, grid in enumerate(grids)
            for at, axis in enumerate(grid.axes)
            if axis.name == name
        ]
        if bound * len(place) > _LARGEST:
            found, bound = _smaller(found), sum(grid.number.size for grid in grids)
        for i, at, ids in own:
            shape = [-1 if d == at else 1 for d in range(found[i].ndim)]
            found[i] = found[i] + ids.reshape(shape) * bound
        bound *= len(place)
    return _smaller(found)


def _smaller(numbers: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """The same with numbers from 0 onwards."""
    _, small = np.unique(np.concatenate([own.ravel() for own in numbers]), return_inverse=True)
    parts = np.split(small.ravel(), np.cumsum([own.size for own in numbers])[:-1])
    return [part.reshape(own.shape) for part, own in zip(parts, numbers, strict=True)]


@dataclass(frozen=True, eq=False)
class _Defined:
    """The first cell of each definition of one kind: what it is restricted to, ascending."""

    where: NDArray[np.int64]
    cell: NDArray[np.int64]

    def at(self, where: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cells with these restrictions, -1 where there is none."""
        place = np.minimum(np.searchsorted(self.where, where), len(self.where) - 1)
        return np.where(self.where[place] == where, self.cell[place], -1)


def _first(where: NDArray[np.int64], cell: NDArray[np.int64]) -> _Defined:
    known, first = np.unique(where, return_index=True)
    return _Defined(known, cell.ravel()[first])


def _by_kind(grids: Sequence[_Grid]) -> tuple[dict[_Kind, _Defined], list[_Rows]]:
    """The first cell of each definition, and that cells of later tables are the same."""
    restrictions = _restrictions(grids)
    found: dict[_Kind, _Defined] = {}
    rows: list[_Rows] = []
    for kind in dict.fromkeys(map(_kind, grids)):
        own = [i for i, grid in enumerate(grids) if _kind(grid) == kind]
        each = [_first(restrictions[i], grids[i].number) for i in own]
        where = np.concatenate([one.where for one in each])
        cell = np.concatenate([one.cell for one in each])
        found[kind] = _first(where, cell)
        first = found[kind].at(where)
        again = first != cell
        rows.append((np.column_stack((first[again], cell[again])), _signs(1)))
    return found, rows


# ── equations ───────────────────────────────────────────────────────────────────────


def _signs(parts: int) -> NDArray[np.int8]:
    """1 for a total, -1 for each of its parts."""
    return np.append(np.int8(1), np.full(parts, -1, dtype=np.int8))


def _parts(grids: Sequence[_Grid]) -> Iterator[_Rows]:
    """Total = parts along each axis."""
    for grid in grids:
        for place, axis in enumerate(grid.axes):
            moved = np.moveaxis(grid.number, place, -1).reshape(-1, len(axis.parent))
            above = np.array(axis.parent)
            for parent in np.unique(above[1:]).tolist():
                members = np.append(parent, np.flatnonzero(above == parent))
                yield moved[:, members], _signs(len(members) - 1)


def _summed(
    defined: dict[_Kind, _Defined], sums: Sequence[MeasureSum], signed: Set[_Kind]
) -> Iterator[tuple[_Rows, bool]]:
    """Measures that are sums of others, and whether some of these are not tabulated."""
    for equation in sums:
        for (measure, vintage), total in defined.items():
            if measure != equation.total:
                continue
            kinds = [(part, vintage) for part in equation.parts]
            parts = [
                defined[kind].at(total.where) if kind in defined else np.full_like(total.cell, -1)
                for kind in kinds
            ]
            cells, signs = np.column_stack((total.cell, *parts)), _signs(len(parts))
            missing = cells[:, 1:] < 0
            yield (cells[~missing.any(axis=1)], signs), False
            lost = [kind not in defined or kind in signed for kind in kinds]
            some = missing.any(axis=1) & ~missing.all(axis=1) & ~(missing & lost).any(axis=1)
            yield (cells[some], signs), True


def _rests(grids: Sequence[_Grid], signed: Set[_Kind]) -> Iterator[_Rows]:
    """Cells of all records with those of a filter, or of filters without common records."""
    for whole in grids:
        if _kind(whole) in signed:
            continue
        known = {axis.name for axis in whole.axes}
        parts: list[tuple[dict[str, frozenset[str]], _Grid]] = []
        for grid in grids:
            extra = {name for name, _ in grid.table.where} - known
            if extra and _kind(grid) == _kind(whole):
                asked = {a.name: a.bases[0] or frozenset[str]() for a in grid.axes}
                parts.append(({n: asked[n] for n in extra}, grid.at_total(extra)))
        disjoint = [
            [any(not (one[n] & other[n]) for n in one.keys() & other.keys()) for other, _ in parts]
            for one, _ in parts
        ]
        numbered = _restrictions([whole, *(part for _, part in parts)])
        larger = _first(numbered[0], whole.number)
        inside = [
            _first(where, part.number) for where, (_, part) in zip(numbered[1:], parts, strict=True)
        ]
        settled: list[tuple[set[int], NDArray[np.int64]]] = []
        for chosen in sorted(_apart(disjoint), key=len, reverse=True):
            where = inside[chosen[0]].where
            cells = np.column_stack((larger.at(where), *(inside[i].at(where) for i in chosen)))
            said = [totals for of, totals in settled if of > set(chosen)]  # more parts say more
            cells = cells[
                (cells >= 0).all(axis=1) & ~np.isin(cells[:, 0], np.concatenate([[-1], *said]))
            ]
            settled.append((set(chosen), cells[:, 0]))
            yield cells, _signs(len(chosen))


def _apart(disjoint: Sequence[Sequence[bool]]) -> Iterator[list[int]]:
    """Every one alone, every two that are disjoint, and more as long as all are."""
    number = range(len(disjoint))
    larger = set[tuple[int, ...]]()
    for i in number:
        yield [i]
        for j in (j for j in number if j > i and disjoint[i][j]):
            yield [i, j]
            chosen = [i, j]
            for k in number:
                if k not in chosen and all(disjoint[k][c] for c in chosen):
                    chosen.append(k)
            if len(chosen) > 2:
                larger.add(tuple(sorted(chosen)))
    yield from map(list, sorted(larger))


def _nobody(grid: _Grid) -> NDArray[np.int64]:
    """Cells of codes that nobody of the table's population is in."""
    empty = np.zeros(grid.number.shape, dtype=bool)
    for place, axis in enumerate(grid.axes):
        empty[(slice(None),) * place + (axis.empty,)] = True
    return grid.number[empty]


def _without(nobody: NDArray[np.int64], cells: NDArray[np.int64], signs: NDArray[np.int8]) -> _Rows:
    """Equations without the cells that nobody is in: they are 0."""
    left = np.where(np.isin(cells, nobody), -1, cells)
    return left[(left >= 0).any(axis=1)], signs


def _matrix(rows: Sequence[_Rows], n: int) -> sparse.csr_array:
    blocks = [np.nonzero(cells >= 0) for cells, _ in rows]
    above = np.cumsum([0, *(len(cells) for cells, _ in rows)]).tolist()
    line = [start + block[0] for start, block in zip(above, blocks, strict=False)]
    cell = [cells[block] for (cells, _), block in zip(rows, blocks, strict=True)]
    sign = [signs[block[1]] for (_, signs), block in zip(rows, blocks, strict=True)]
    entries = np.concatenate(sign), (np.concatenate(line), np.concatenate(cell))
    return sparse.csr_array(entries, shape=(above[-1], n))


def _check_decimals(tables: Sequence[Table], sums: Sequence[MeasureSum]) -> None:
    """Refuse values that are equal or add up, but are held in different units."""
    tied = [{table.measure.name} for table in tables] + [{one.total, *one.parts} for one in sums]
    for names in tied:
        found = {
            f"{table.measure.name!r} by {', '.join(d.name for d in table.dimensions)}": (
                table.measure.decimals
            )
            for table in tables
            if table.measure.name in names
        }
        if len({*found.values()}) > 1:
            listed = ", ".join(f"{table}: {decimals}" for table, decimals in found.items())
            raise InputError(
                "values that are equal or add up need the same number of decimals, and these have "
                f"{listed}; tabulate them with the same decimals="
            )


def _check(cells: Sequence[Cell], equations: sparse.csr_array, known: NDArray[np.int64]) -> None:
    """Refuse tables that contradict each other."""
    inside = equations[:, : len(known)]
    complete = np.diff(inside.indptr) == np.diff(equations.indptr)
    wrong = np.flatnonzero(complete & (inside.astype(np.int64) @ known != 0))
    if len(wrong):
        examples = [
            " and ".join(f"{cells[i]} = {known[i]}" for i in equations[[row]].indices[:4])
            for row in wrong[:_EXAMPLES]
        ]
        number = Count(len(wrong))
        raise InputError(
            f"the tables contradict each other in {number} {number:equation|equations} (in scaled "
            f"units): {'; '.join(examples)}. Tables that are protected together must come from "
            "the same records, with the same texts in each column: make coarser categories with "
            "recode(); give other data another vintage= or where="
        )
