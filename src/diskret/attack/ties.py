"""What ties the cells of several tables together, and which of them are one and the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.all_cells import AllCells, Grid, all_cells
from diskret.attack.axes import Meaning
from diskret.graphs import connected
from diskret.tables import MeasureSum, Publication


@dataclass(frozen=True, eq=False)
class Tie:
    """Equations of one form: ``Σ sign · cell = rest`` with the same signs in each.

    cells: positions among all cells, ``(r, k)``, int64.
    signs: ``(k,)``, int64.
    rest: whether each equation has an unknown rest ≥ 0 of its own: ``Σ sign · cell ≥ 0``.
    why: what the equations say, for messages.
    """

    cells: NDArray[np.int64]
    signs: NDArray[np.int64]
    rest: bool
    why: str


def ties(seen: AllCells) -> Iterator[Tie]:
    """Cells that are the same, sums of measures, and populations that are part of others."""
    grids = seen.grids
    if len(grids) > 1:
        definition = _definitions(grids)
        cells = _first_cells(grids, definition)
        for grid, own in zip(grids, definition, strict=True):
            known, at = np.unique(own, return_index=True)  # an only child is tied otherwise
            pairs = np.column_stack((cells[_kind(grid)][known], grid.number.ravel()[at]))
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
            yield Tie(pairs, np.array([1, -1]), False, "is the same cell as")
        for total in seen.publication.sums:
            yield from _sums(seen, total, cells)
    for whole in grids:
        if seen.nonnegative(*_kind(whole)):
            yield from _filtered(whole, [g for g in grids if _kind(g) == _kind(whole)])


def _definitions(grids: Sequence[Grid]) -> list[NDArray[np.int64]]:
    """Numbers from 0 of what each cell is restricted to, the same for the same restrictions."""
    place: dict[tuple[str, Meaning], int] = {}
    sets: list[NDArray[np.int64]] = []
    for grid in grids:
        codes = [
            [
                0 if meaning is None else place.setdefault((axis.name, meaning), len(place) + 1)
                for meaning in axis.meaning
            ]
            for axis in grid.axes
        ]
        every = np.stack(np.meshgrid(*codes, indexing="ij"), axis=-1)
        sets.append(np.sort(every.reshape(-1, len(codes)), axis=1)[:, ::-1])
    size = max(own.shape[1] for own in sets)
    rows = np.concatenate([np.pad(own, ((0, 0), (0, size - own.shape[1]))) for own in sets])
    return np.split(numbered(rows), np.cumsum([len(own) for own in sets])[:-1])


def numbered(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers from 0, the same for the same rows."""
    order = np.lexsort(rows.T)
    new = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    number = np.empty(len(rows), dtype=np.int64)
    number[order] = np.cumsum(np.append(0, new))
    return number


def _first_cells(
    grids: Sequence[Grid], definition: Sequence[NDArray[np.int64]]
) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Measure and vintage → the first cell of each definition, -1 where there is none."""
    number = 1 + max(int(own.max()) for own in definition)
    found: dict[tuple[str, str], NDArray[np.int64]] = {}
    for grid, own in zip(grids, definition, strict=True):
        first = found.setdefault(_kind(grid), np.full(number, -1, dtype=np.int64))
        known, at = np.unique(own, return_index=True)
        first[known] = np.where(first[known] < 0, grid.number.ravel()[at], first[known])
    return found


def _sums(
    seen: AllCells, total: MeasureSum, cells: Mapping[tuple[str, str], NDArray[np.int64]]
) -> Iterator[Tie]:
    """A measure is the sum of its parts, and no less than those that are tabulated."""
    for vintage in [vintage for measure, vintage in cells if measure == total.total]:
        whole = cells[total.total, vintage]
        nowhere = np.full_like(whole, -1)
        parts = [cells.get((part, vintage), nowhere) for part in total.parts]
        bounded = np.array([seen.nonnegative(part, vintage) for part in total.parts])
        which = 2 ** np.arange(len(parts)) @ (np.array(parts) >= 0)
        for pattern in np.unique(which[whole >= 0]).tolist():
            shown = np.array([bool(pattern >> i & 1) for i in range(len(parts))])
            rest = not shown.all()
            if not pattern or not bounded[~shown].all():
                continue
            at = np.flatnonzero((which == pattern) & (whole >= 0))
            own = [whole, *(part for part, used in zip(parts, shown, strict=True) if used)]
            signs = np.array([1, *(-1 for _ in own[1:])])
            why = f"cannot be less, as {total}, than" if rest else f"must follow {total} with"
            yield Tie(np.stack(own, axis=1)[at], signs, rest, why)


def _filtered(whole: Grid, grids: Sequence[Grid]) -> Iterator[Tie]:
    """All records are no less than those of a filter, or of filters without common records."""
    parts = [(grid, _narrower(whole, grid)) for grid in grids]
    parts = [(grid, names) for grid, names in parts if names]
    disjoint = np.zeros((len(parts), len(parts)), dtype=bool)
    for (i, (one, names)), (j, (other, theirs)) in permutations(enumerate(parts), 2):
        disjoint[i, j] = any(
            not (_population(one, name) & _population(other, name)) for name in names & theirs
        )
    settled: list[tuple[set[int], NDArray[np.int64]]] = []
    for chosen in sorted(apart(disjoint), key=len, reverse=True):
        inside = [parts[i][0] for i in chosen]
        at_total = set[str]().union(*(parts[i][1] for i in chosen))
        cells = common_cells([whole, *inside], at_total)
        said = [done for of, done in settled if of > set(chosen)]  # more parts say more
        cells = cells[~np.isin(cells[:, 0], np.concatenate([[-1], *said]))]
        settled.append((set(chosen), cells[:, 0]))
        signs = np.array([1, *(-1 for _ in inside)])
        yield Tie(cells, signs, True, "cannot be less than")


def apart(disjoint: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Single things, pairs that are disjoint, and sets of more to which none can be added.

    >>> apart(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool))
    [(0,), (1,), (2,), (0, 1)]
    """
    number = len(disjoint)
    found: dict[tuple[int, ...], None] = {(i,): None for i in range(number)}
    pairs = [pair for pair in combinations(range(number), 2) if disjoint[pair]]
    found |= dict.fromkeys(pairs)
    for pair in pairs:
        chosen = list(pair)
        for i in range(number):
            if i not in chosen and disjoint[i, chosen].all():
                chosen.append(i)
        found[tuple(sorted(chosen))] = None
    return list(found)


def _narrower(whole: Grid, part: Grid) -> set[str]:
    """The variables of a filter that a table has nothing to do with."""
    return {name for name, _ in part.table.where} - {axis.name for axis in whole.axes}


def _population(grid: Grid, name: str) -> frozenset[str]:
    """What a filter lets through of a variable."""
    axis = next(axis for axis in grid.axes if axis.name == name)
    return axis.meaning[0] or frozenset()


def _kind(grid: Grid) -> tuple[str, str]:
    return grid.table.measure, grid.table.vintage


def common_cells(grids: Sequence[Grid], at_total: Set[str] = frozenset[str]()) -> NDArray[np.int64]:
    """Positions of the cells that all tables have, ``(r, len(grids))``.

    A variable that a table does not have stands for everything there. Variables in
    `at_total` are taken at the total of the tables that have them, whatever it stands for.
    """
    names = list(dict.fromkeys(axis.name for grid in grids for axis in grid.axes))
    codes = [_common_codes(grids, name, at_total) for name in names]
    mesh = np.indices([found.shape[1] for found in codes]).reshape(len(names), -1)
    columns: list[NDArray[np.int64]] = []
    for i, grid in enumerate(grids):
        at = {name: codes[v][i][mesh[v]] for v, name in enumerate(names)}
        columns.append(grid.number[tuple(at[axis.name] for axis in grid.axes)])
    return np.stack(columns, axis=1)


def _common_codes(grids: Sequence[Grid], name: str, at_total: Set[str]) -> NDArray[np.int64]:
    """Positions of the codes of one variable that all tables have, ``(len(grids), codes)``."""
    if name in at_total:
        return np.zeros((len(grids), 1), dtype=np.int64)
    everything: dict[Meaning, int] = {None: 0}
    first = [
        next((_first(axis.meaning) for axis in grid.axes if axis.name == name), everything)
        for grid in grids
    ]
    shared = [meaning for meaning in first[0] if all(meaning in other for other in first[1:])]
    places = [[found[meaning] for meaning in shared] for found in first]
    return np.array(places, dtype=np.int64).reshape(len(grids), len(shared))


def _first(meanings: Sequence[Meaning]) -> dict[Meaning, int]:
    """Meaning → the first code that has it; an only child means the same as its parent."""
    found: dict[Meaning, int] = {}
    for i, meaning in enumerate(meanings):
        found.setdefault(meaning, i)
    return found


def same_cells(publication: Publication) -> NDArray[np.int64]:
    """A number for each cell of all tables, ``(n,)``: equal for cells with one definition.

    An only child is the same cell as its parent.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension, Published
    >>> def shown(*codes: str) -> Published:
    ...     tree = Hierarchy.flat(codes)
    ...     value, no = np.ones(len(tree), dtype=np.int64), np.zeros(len(tree), dtype=bool)
    ...     return Published("", (Dimension("x", tree),), "count", True, 0, value, no, no)
    >>> same_cells(Publication((shown("a", "b"), shown("b", "c")))).tolist()
    [0, 1, 2, 0, 2, 3]
    """
    seen = all_cells(publication)
    pairs = [
        tie.cells
        for tie in ties(seen)
        if tie.cells.shape[1] == 2 and tie.signs.sum() == 0 and not tie.rest
    ]
    pairs += [_only_children(grid, axis) for grid in seen.grids for axis in range(len(grid.axes))]
    alike = np.concatenate(pairs)
    n = seen.public + seen.latent
    links = sparse.coo_array((np.ones(len(alike)), (alike[:, 0], alike[:, 1])), shape=(n, n))
    label = connected(links)
    return label[: seen.public].astype(np.int64)


def shown_somewhere(
    publication: Publication, label: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Which cells some table publishes under the same definition; `label` as from `same_cells`."""
    label = same_cells(publication) if label is None else label
    shown = np.zeros(len(label), dtype=bool)
    shown[label[~publication.suppressed]] = True
    return shown[label]


def _only_children(grid: Grid, axis: int) -> NDArray[np.int64]:
    """Cells along an axis with the only part that they have, ``(r, 2)``."""
    parent = grid.axes[axis].parent
    above, first, parts = np.unique(parent[1:], return_index=True, return_counts=True)
    alone = parts == 1
    whole = np.take(grid.number, above[alone], axis=axis)
    part = np.take(grid.number, 1 + first[alone], axis=axis)
    return np.stack((whole.ravel(), part.ravel()), axis=1)
