"""What ties the cells of several tables together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

from diskret.attack.world import Grid, Meaning, World


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
        named = [[g for g in grids if g.table.measure == m] for m in (total.total, *total.parts)]
        for chosen in product(*named):
            if len({g.table.vintage for g in chosen}) == 1:
                signs = np.array([1, *(-1 for _ in total.parts)])
                yield Tie(_common(chosen), signs, False, f"must follow {total} with")
    if world.nonnegative:
        for whole, part in permutations(grids, 2):
            narrower = {name for name, _ in part.table.where} - {a.name for a in whole.axes}
            if _kind(whole) == _kind(part) and narrower:
                cells = _common([whole, part], narrower)
                yield Tie(cells, np.array([1, -1]), True, "cannot be less than")


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
