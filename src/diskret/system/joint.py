"""The equations of several tables at once, refined to atoms where groupings overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from diskret.engines.filters import as_codes
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.meaning import base_codes, pieces
from diskret.system.cells import Cell, RectangularCells
from diskret.system.equations import System
from diskret.tables import MeasureSum, Table

#: What each variable is restricted to; variables that stand for everything are left out.
_Where = frozenset[tuple[str, frozenset[str]]]
#: A cell's definition whatever its table: measure, vintage, restrictions.
_Key = tuple[str, str, _Where]
_Row = list[tuple[int, int]]
_EXAMPLES = 3


def joint_system(tables: Sequence[Table], sums: Sequence[MeasureSum] = ()) -> System:
    """The system of several tables over the same records.

    Its cells are those of the tables, one table after the other, and behind them cells that
    nobody publishes: the parts of categories that other tables cut through, and what is
    left of all records beside those of a filter. Cells with the same definition are tied
    together by equations of two. The values of unpublished cells are one possibility.

    Parameters
    ----------
    tables
        Tables of one kind: counts, or sums with the same decimals.
    sums
        Equations between measures.

    Raises
    ------
    InputError
        Two tables give one cell different values, or a sum of measures does not hold.
    """
    public = [RectangularCells(t.measure.name, t.vintage, t.dimensions, t.where) for t in tables]
    known = np.concatenate([table.measure.sum.ravel() for table in tables])
    latent: list[Cell] = []
    cells_of: list[dict[_Key, int]] = []
    rows: list[_Row] = []
    start = 0
    for table, axes in zip(tables, _axes(tables), strict=True):
        number = _numbered(table, axes, start, len(known), latent)
        cells_of.append(_defined(table, axes, number))
        rows += _parts(axes, number)
        start += table.measure.sum.size
    rows += _same(cells_of)
    rows += _summed(cells_of, sums)
    signed = _signed(tables)
    rests = [*_unsummed(cells_of, sums, signed), *_rests(tables, cells_of, signed)]
    for whole, *inside in rests:
        rows.append([(whole, 1), *((p, -1) for p in inside), (len(known) + len(latent), -1)])
        latent.append(Cell("", "", ()))
    n = len(known) + len(latent)
    equations = _matrix(rows, n)
    cells = [*(cell for table in public for cell in table), *latent]
    _check(cells, equations, known)
    lowest = np.array([-np.inf if (c.measure, c.vintage) in signed else 0.0 for c in latent])
    values = np.append(known, _fitted(equations, known, lowest))
    return System(cells, values, equations, tuple(t.dimensions for t in tables), lowest)


# ── what codes stand for ────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Axis:
    """A variable of a table: published codes, then the atoms of leaves that are cut.

    `bases` holds what each code stands for, None for everything.
    """

    name: str
    parent: list[int]
    bases: list[frozenset[str] | None]
    public: int


def _axes(tables: Sequence[Table]) -> list[list[_Axis]]:
    trees: defaultdict[str, list[Hierarchy]] = defaultdict(list)
    for table in tables:
        for dimension in table.dimensions:
            trees[dimension.name].append(dimension.hierarchy)
    bases = {name: base_codes(of) for name, of in trees.items()}
    filters = [(name, codes) for table in tables for name, codes in as_codes(table.where)]
    for name in {name for name, _ in filters} - set(trees):
        bases[name] = pieces([code for other, codes in filters if other == name for code in codes])
    axes = [_own_axes(table, bases) for table in tables]
    for name in {axis.name for own in axes for axis in own}:
        same = [axis for own in axes for axis in own if axis.name == name]
        published = [set(axis.bases) for axis in same]
        for axis in same:
            _cut(axis, same, published)
    return axes


def _own_axes(table: Table, bases: dict[str, dict[str, frozenset[str]]]) -> list[_Axis]:
    filters = {
        name: frozenset(base for code in codes for base in bases[name].get(code, frozenset([code])))
        for name, codes in as_codes(table.where)
    }
    axes: list[_Axis] = []
    for name, tree in ((d.name, d.hierarchy) for d in table.dimensions):
        only = filters.pop(name, None)
        below = [bases[name][code] for code in tree.codes[1:]]
        inside = below if only is None else [code & only for code in below]
        axes.append(_Axis(name, tree.parent.tolist(), [only, *inside], len(tree)))
    return axes + [_Axis(name, [-1], [only], 1) for name, only in filters.items()]


def _cut(
    axis: _Axis, same: Sequence[_Axis], published: Sequence[set[frozenset[str] | None]]
) -> None:
    """Put atoms below each leaf that not every table of the variable shows as it is."""
    inner = set(axis.parent)
    for leaf in [i for i in range(axis.public) if i not in inner]:
        own = axis.bases[leaf]
        if own is None or all(own in codes for codes in published):
            continue
        atoms = {own}
        for other in same:
            for bases in other.bases[: other.public]:
                if bases is not None:
                    pieces = [(a & bases, a - bases) for a in atoms]
                    atoms = {piece for pair in pieces for piece in pair if piece}
        if len(atoms) > 1:
            for atom in sorted(atoms, key=sorted):
                axis.parent.append(leaf)
                axis.bases.append(atom)


# ── cells and equations ─────────────────────────────────────────────────────────────


def _numbered(
    table: Table, axes: Sequence[_Axis], start: int, public: int, latent: list[Cell]
) -> NDArray[np.int64]:
    """Position of each cell of a table with its atoms; unpublished ones join `latent`."""
    number = np.full([len(axis.parent) for axis in axes], -1, dtype=np.int64)
    shown = [axis.public for axis in axes]
    size = int(np.prod(shown))
    number[np.ix_(*map(np.arange, shown))] = start + np.arange(size).reshape(shown)
    for at in np.argwhere(number < 0).tolist():
        number[tuple(at)] = public + len(latent)
        inside = ((a.name, a.bases[i]) for a, i in zip(axes, at, strict=True))
        codes = sorted((name, "+".join(sorted(b))) for name, b in inside if b is not None)
        latent.append(Cell(table.measure.name, table.vintage, tuple(codes)))
    return number


def _defined(table: Table, axes: Sequence[_Axis], number: NDArray[np.int64]) -> dict[_Key, int]:
    """The cell of each definition; an only child is the same as its parent."""
    measure, found = table.measure.name, dict[_Key, int]()
    restricted = [[None if b is None else (axis.name, b) for b in axis.bases] for axis in axes]
    for where, cell in zip(product(*restricted), number.ravel().tolist(), strict=True):
        key = measure, table.vintage, frozenset(pair for pair in where if pair is not None)
        found.setdefault(key, cell)
    return found


def _parts(axes: Sequence[_Axis], number: NDArray[np.int64]) -> Iterator[_Row]:
    """Total = parts along each axis."""
    for place, axis in enumerate(axes):
        moved = np.moveaxis(number, place, 0).reshape(len(axis.parent), -1).T.tolist()
        below: defaultdict[int, list[int]] = defaultdict(list)
        for child, parent in enumerate(axis.parent):
            below[parent].append(child)
        for parent, children in below.items():
            if parent >= 0:
                for line in moved:
                    yield [(line[parent], 1), *((line[child], -1) for child in children)]


def _same(cells_of: Sequence[dict[_Key, int]]) -> Iterator[_Row]:
    """Cells of different tables with one definition are equal."""
    first: dict[_Key, int] = {}
    for cells in cells_of:
        for key, cell in cells.items():
            if first.setdefault(key, cell) != cell:
                yield [(first[key], 1), (cell, -1)]


def _summed(cells_of: Sequence[dict[_Key, int]], sums: Sequence[MeasureSum]) -> Iterator[_Row]:
    """Measures that are sums of others, wherever all of them are tabulated."""
    every: dict[_Key, int] = {}
    for cells in cells_of:
        every = cells | every
    for equation in sums:
        for (measure, vintage, where), cell in every.items():
            if measure == equation.total:
                parts = [every.get((part, vintage, where)) for part in equation.parts]
                if None not in parts:
                    yield [(cell, 1), *((part, -1) for part in parts if part is not None)]


def _unsummed(
    cells_of: Sequence[dict[_Key, int]], sums: Sequence[MeasureSum], signed: Set[tuple[str, str]]
) -> Iterator[list[int]]:
    """Measures that are sums with the parts that are tabulated, where others are not."""
    every: dict[_Key, int] = {}
    for cells in cells_of:
        every = cells | every
    known = {(measure, vintage) for measure, vintage, _ in every}
    for equation in sums:
        for (measure, vintage, where), cell in every.items():
            if measure == equation.total:
                parts = {part: every.get((part, vintage, where)) for part in equation.parts}
                missing = {(part, vintage) for part, own in parts.items() if own is None}
                inside = [own for own in parts.values() if own is not None]
                if missing and inside and missing <= known - signed:
                    yield [cell, *inside]


def _rests(
    tables: Sequence[Table], cells_of: Sequence[dict[_Key, int]], signed: Set[tuple[str, str]]
) -> Iterator[list[int]]:
    """Cells of all records with those of a filter, or of filters without common records."""
    for whole, larger in zip(tables, cells_of, strict=True):
        kind = whole.measure.name, whole.vintage
        known = {name for name, _ in whole.where} | {d.name for d in whole.dimensions}
        parts: list[tuple[dict[str, frozenset[str]], dict[_Where, int]]] = []
        for table, cells in zip(tables, cells_of, strict=True):
            extra = {name for name, _ in table.where} - known
            if extra and kind not in signed and kind == (table.measure.name, table.vintage):
                parts.append(_without(extra, cells))
        disjoint = [
            [any(not (one[n] & other[n]) for n in one.keys() & other.keys()) for other, _ in parts]
            for one, _ in parts
        ]
        settled: list[tuple[set[int], set[int]]] = []
        for chosen in sorted(_apart(disjoint), key=len, reverse=True):
            first, *others = (parts[i][1] for i in chosen)
            said = set[int]().union(*(totals for of, totals in settled if of > set(chosen)))
            settled.append((set(chosen), set()))
            for where, cell in first.items():
                inside = [cell, *(other[where] for other in others if where in other)]
                total = larger.get((*kind, where))
                if total is not None and total not in said and len(inside) == len(chosen):
                    settled[-1][1].add(total)
                    yield [total, *inside]


def _without(
    extra: Set[str], cells: dict[_Key, int]
) -> tuple[dict[str, frozenset[str]], dict[_Where, int]]:
    """What a filter asks of some variables, and its cells by all else that selects them."""
    first = next(iter(cells))[2]  # the table's total comes first
    asked = {name: codes for name, codes in first if name in extra}
    own = frozenset(asked.items())
    return asked, {where - own: cell for (_, _, where), cell in cells.items() if own <= where}


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


def _signed(tables: Sequence[Table]) -> set[tuple[str, str]]:
    """Measure and vintage of tables in which something may be negative."""
    return {(t.measure.name, t.vintage) for t in tables if not t.nonnegative}


def _matrix(rows: Sequence[_Row], n: int) -> sparse.csr_array:
    line = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    cell = np.array([cell for row in rows for cell, _ in row], dtype=np.int64)
    sign = np.array([sign for row in rows for _, sign in row], dtype=np.int8)
    return sparse.csr_array((sign, (line, cell)), shape=(len(rows), n))


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
        raise InputError(
            f"the tables contradict each other in {len(wrong):,} equations (in scaled units): "
            f"{'; '.join(examples)}. Tables that are protected together must come from the same "
            "records; give other data another vintage= or where="
        )


def _fitted(
    equations: sparse.csr_array, known: NDArray[np.int64], lowest: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Possible values of the unpublished cells: whole, and away from their bounds if possible.

    Which ones does not matter for what can be protected, as all possible tables can be
    reached from each of them; but they have to satisfy every equation exactly.
    """
    unpublished = equations.shape[1] - len(known)
    if not unpublished:
        return np.zeros(0, dtype=np.int64)
    among = sparse.csr_array(equations[:, len(known) :], dtype=np.int64)
    used = np.flatnonzero(np.diff(among.indptr))
    among = among[used]
    right = -(equations[used][:, : len(known)].astype(np.int64) @ known)
    inner = _inner_point(among, right, lowest)
    near = np.maximum(np.floor(inner + 1e-6), lowest).astype(np.int64)
    short = right - among @ near
    if not short.any():
        return near
    steps = optimize.milp(
        np.ones(2 * unpublished),
        constraints=optimize.LinearConstraint(
            sparse.hstack([among, -among], format="csc").astype(float), short, short
        ),
        bounds=optimize.Bounds(0, np.append(np.full(unpublished, np.inf), near - lowest)),
        integrality=np.ones(2 * unpublished),
        options={"node_limit": 1000},
    )
    if steps.x is None:
        return near
    up, down = np.split(np.rint(steps.x).astype(np.int64), 2)
    return near + up - down


def _inner_point(
    matrix: sparse.csr_array, right: NDArray[np.int64], lowest: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Numbers that satisfy the equations, away from their bounds where that is possible."""
    solver = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "solver": "ipm",
        "run_crossover": "off",  # a corner would leave most of them no room
        "presolve": "off",
    }.items():
        solver.setOptionValue(option, value)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = np.zeros(matrix.shape[1])
    model.col_lower_ = lowest
    model.col_upper_ = np.full(matrix.shape[1], np.inf)
    model.row_lower_ = model.row_upper_ = right.astype(float)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    model.a_matrix_.index_ = matrix.indices.astype(np.int32)
    model.a_matrix_.value_ = matrix.data.astype(float)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise InputError(
            "the tables contradict each other: no records can have categories that overlap like "
            "these and the values of both tables; check that they come from the same records"
        )
    return np.array(solver.getSolution().col_value)
