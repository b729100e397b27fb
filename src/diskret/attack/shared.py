"""What ties the cells of several tables together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

from diskret.attack.world import Grid, Meaning, World
from diskret.tables import MeasureSum


@dataclass(frozen=True, eq=False)
class Tie:
    """Equations of one form: ``Σ sign · cell = rest`` with the same signs in each.

    Parameters
    ----------
    cells
        Positions in the world, ``(r, k)``, int64.
    signs
        ``(k,)``, int64.
    rest
        Whether each equation has an unknown rest ≥ 0 of its own: ``Σ sign · cell ≥ 0``.
    why
        What the equations say, for messages.
    """

    cells: NDArray[np.int64]
    signs: NDArray[np.int64]
    rest: bool
    why: str


def ties(world: World) -> Iterator[Tie]:
    """Cells that are the same, sums of measures, and populations that are part of others."""
    grids = world.grids
    for first, second in combinations(grids, 2):
        if _kind(first) == _kind(second):
            cells = _common([first, second])
            yield Tie(cells, np.array([1, -1]), False, "is the same cell as")
    for total in world.publication.sums:
        yield from _sums(world, total)
    for whole in grids:
        if world.nonnegative(*_kind(whole)):
            yield from _filtered(whole, [g for g in grids if _kind(g) == _kind(whole)])


def _sums(world: World, total: MeasureSum) -> Iterator[Tie]:
    """A measure is the sum of its parts, and no less than those that are tabulated."""
    settled: list[tuple[set[str], NDArray[np.int64]]] = []
    for number in range(len(total.parts), 0, -1):
        for parts in combinations(total.parts, number):
            measures = [total.total, *parts]
            named = [[g for g in world.grids if g.table.measure == m] for m in measures]
            signs = np.array([1, *(-1 for _ in parts)])
            for chosen in product(*named):
                vintages = {grid.table.vintage for grid in chosen}
                missing = set(total.parts) - set(parts)
                if len(vintages) > 1 or not all(
                    world.nonnegative(other, *vintages) for other in missing
                ):
                    continue
                cells = _common(chosen)
                if missing:
                    said = [done for of, done in settled if of >= set(parts)]
                    cells = cells[~np.isin(cells[:, 0], np.concatenate([[-1], *said]))]
                settled.append((set(parts), cells[:, 0]))
                why = (
                    f"cannot be less, as {total}, than" if missing else f"must follow {total} with"
                )
                yield Tie(cells, signs, bool(missing), why)


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
        cells = _common([whole, *inside], at_total)
        said = [done for of, done in settled if of > set(chosen)]  # more parts say more
        cells = cells[~np.isin(cells[:, 0], np.concatenate([[-1], *said]))]
        settled.append((set(chosen), cells[:, 0]))
        signs = np.array([1, *(-1 for _ in inside)])
        yield Tie(cells, signs, True, "cannot be less than")


def apart(disjoint: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Single things, pairs that are disjoint, and sets of more to which none can be added.

    Examples
    --------
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


def _common(grids: Sequence[Grid], at_total: Set[str] = frozenset[str]()) -> NDArray[np.int64]:
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
