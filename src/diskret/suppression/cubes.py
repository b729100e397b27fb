"""Movements of a cell made of cubes: no programme, so that they are found however short time is.

A way along a variable takes a code with a chain of codes below it, down to a leaf, and another
code beside it with a chain of its own: what the one chain gains the other loses, so no total above
changes. The total itself needs no code beside it, and where nothing else is possible totals move
too. One way along each variable makes a cube: its
cells rise and fall by the same distance, and every equation of the table stays true. So a cube is
a change of the whole table by its making; nothing is left to other subtables, as with the
hypercubes of Repsilber, which this generalises.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.deadline import Deadline
from diskret.parallel import meanwhile, stage
from diskret.suppression.changeable import Changeable
from diskret.suppression.changes import Change, Reach
from diskret.suppression.problem import Problem
from diskret.suppression.surroundings import entries
from diskret.tables import Dimension

#: Cubes that are compared for one cell, about, and whether totals above may move: what finds none
#: tries the next.
_TRIES = ((3_000, False), (20_000, False), (20_000, True))
#: Both ways at once; else up, down, and what is then lacking in all.
_WAYS = (0, 1, -1, 1, -1)
#: Seconds that cubes get, once compiled, beyond all time: nothing but a refusal stands for them.
_BEYOND = 5.0
_Whole = NDArray[np.int64]


def hide_in_cubes(
    problem: Problem, cells: Changeable, hidden: NDArray[np.bool_], reach: Reach, todo: _Whole
) -> list[Change]:
    """Hide the cheapest cubes found around groups until each of them meets its requirement.

    Nothing is done for several tables that are tied to each other. A sum of cells that has to stay
    uncertain moves with one of its cells while the others stay.

    `hidden`, `reach`: the pattern and what it shows, ``(g,)``; both grow. `todo`: the groups, in
    this order. Gives changes that hold exactly; groups for which none was found miss their
    requirement as before. Raises OutOfTime: all time was up five seconds ago, not only that for the
    search.
    """
    if problem.tied:
        return []

    def prepared() -> _Cubes:
        cubes = _Cubes(problem.system.tables[0], cells, hidden)
        if len(todo):
            cubes.change(int(todo[0]), 0, 1, 2, False)  # compiled before time is counted
        return cubes

    def tell() -> None:
        done = len(todo) - int(np.count_nonzero(reach.missing(cells, todo)))
        problem.progress("suppress", done, len(todo))

    # what has to be compiled at the first use on a computer takes seconds
    cubes = stage(prepared, problem.progress, "prepare the search")
    return meanwhile(lambda: _hidden(problem, cubes, hidden, reach, todo), tell)


def _hidden(
    problem: Problem, cubes: _Cubes, hidden: NDArray[np.bool_], reach: Reach, todo: _Whole
) -> list[Change]:
    """See `hide_in_cubes`."""
    cells = cubes.cells
    last = Deadline(max(problem.deadline.whole.end, Deadline.after(0).end) + _BEYOND)
    found: list[Change] = []
    for compared, totals in _TRIES:
        for group in todo.tolist():
            last.check()
            without: set[tuple[int, int]] = set()
            for way in _WAYS:
                if not reach.misses(cells, group):
                    break
                distance = _distance(cells, reach, group, way)
                if (way, distance) in without:
                    continue
                change = cubes.change(group, way, distance, compared, totals)
                if change is None:
                    without.add((way, distance))
                else:
                    without.clear()
                    reach.add(change)
                    hidden[change.cell] = True
                    cubes.price[change.cell] = 0
                    found.append(change)
        todo = todo[reach.missing(cells, todo)]
    return found


def _distance(cells: Changeable, reach: Reach, group: int, way: int) -> int:
    """How far a group still has to be shown to move: both ways (0), up (1) or down (−1)."""
    if way == 0:
        return int(cells.need[group])
    shown, wanted = (reach.up, cells.above) if way > 0 else (reach.down, cells.below)
    if shown[group] < wanted[group]:
        return int(wanted[group])
    lacking = int(cells.width[group] - reach.width[group])
    return int(shown[group]) + lacking if lacking > 0 else 0


class _Cubes:
    """A table in which cubes are looked for."""

    def __init__(
        self, dimensions: Sequence[Dimension], cells: Changeable, hidden: NDArray[np.bool_]
    ):
        from diskret.suppression.cube_kernels import Lattice

        trees = [dimension.hierarchy for dimension in dimensions]
        shape = [len(tree) for tree in trees]
        self.cells = cells
        self.price = np.where(hidden, 0.0, cells.price)
        self._shape = tuple(shape)
        leaves = [np.flatnonzero(tree.is_leaf) for tree in trees]
        self._lattice = Lattice(
            np.array([prod(shape[k + 1 :]) for k in range(len(shape))], dtype=np.int64),
            np.concatenate([tree.parent for tree in trees]).astype(np.int64),
            np.cumsum([0, *shape]),
            np.concatenate(leaves).astype(np.int64),
            np.cumsum([0, *map(len, leaves)]),
            np.array([int(tree.level.max()) + 1 for tree in trees], dtype=np.int64),
            np.ascontiguousarray(cells.group[: prod(shape)]),
        )
        self._wide = max(sum(n > 1 for n in shape), 1)
        # the last member of a group in the table: no total of another one
        self._member = np.full(len(cells.down), -1, dtype=np.int64)
        inside = np.flatnonzero(self._lattice.group >= 0)
        self._member[self._lattice.group[inside]] = inside
        self._room = {
            # the kernel changes them, and sets them back
            0: (np.minimum(cells.down, cells.up), np.minimum(cells.down, cells.up)),
            1: (cells.up.copy(), cells.down.copy()),
            -1: (cells.down.copy(), cells.up.copy()),
        }

    def change(
        self, group: int, way: int, distance: int, compared: int, totals: bool
    ) -> Change | None:
        """A change that moves a group both ways (0), up (1) or down (−1), checked exactly."""
        if distance < 1:
            return None
        member = int(self._member[group])
        if member >= 0:
            return self._checked(*self._moved(member, way, distance, (), compared, totals))
        # a sum, which nobody publishes: with one of its cells while the others stay
        parts = self._parts(group)
        order = sorted(parts.tolist(), key=lambda part: float(self.price[part]))
        for part in order:
            others = [other for other in order if other != part]
            moved = self._moved(int(self._member[part]), way, distance, others, compared, totals)
            change = self._checked(*moved)
            if change is not None and group in change.cell:
                return change
        return None

    def _parts(self, group: int) -> _Whole:
        """The groups of a sum's cells."""
        by_group, equations = self.cells.by_group, self.cells.equations
        rows = by_group.indices[by_group.indptr[group] : by_group.indptr[group + 1]]
        own = [equations.indices[equations.indptr[r] : equations.indptr[r + 1]] for r in rows]
        parts = np.unique(np.concatenate([*own, np.zeros(0, dtype=np.int64)])).astype(np.int64)
        return parts[self._member[parts] >= 0]

    def _moved(
        self, base: int, way: int, distance: int, still: Sequence[int], compared: int, totals: bool
    ) -> tuple[_Whole, _Whole]:
        """Groups and steps; none if no cube does it."""
        from diskret.suppression.cube_kernels import Groups, Tries, movement

        plus, minus = self._room[way]
        if still:
            plus, minus = plus.copy(), minus.copy()
            plus[list(still)] = minus[list(still)] = 0
        group, step = movement(
            base,
            np.array(np.unravel_index(base, self._shape), dtype=np.int64),
            self._lattice,
            Groups(self.price, plus, minus),
            distance,
            Tries(max(int(compared ** (1 / self._wide)), 2), totals),
        )
        return group, -step if way < 0 else step

    def _checked(self, group: _Whole, step: _Whole) -> Change | None:
        """The change, and what it says of sums, if it holds; a group may stand there twice."""
        if len(group) == 0:
            return None
        cell, at = np.unique(group, return_inverse=True)
        total = np.zeros(len(cell), dtype=np.int64)
        np.add.at(total, at, step)
        cell, total = self._with_sums(cell[total != 0], total[total != 0])
        cells = self.cells
        if len(cell) == 0 or self._broken(cell, total)[0].size:
            return None
        rise, fall = total <= cells.up[cell], -total <= cells.down[cell]
        there = bool(np.all(rise & fall))
        back = bool(np.all((-total <= cells.up[cell]) & (total <= cells.down[cell])))
        if not (there or back):
            return None
        ahead, behind = np.where(there, total, 0), np.where(back, -total, 0)
        above, below = np.maximum(ahead, behind), np.maximum(-ahead, -behind)
        one = np.ones(len(cell), dtype=bool)
        return Change(cell, below, above, below + above, total, 1, one & there, one & back)

    def _broken(self, cell: _Whole, step: _Whole) -> tuple[_Whole, _Whole]:
        """Equations that a change does not satisfy, and by how much."""
        by_group = self.cells.by_group
        entry, size = entries(by_group.indptr, cell)
        row, place = np.unique(by_group.indices[entry], return_inverse=True)
        gap = np.zeros(len(row), dtype=np.int64)
        np.add.at(gap, place, by_group.data[entry] * np.repeat(step, size))
        return row[gap != 0].astype(np.int64), gap[gap != 0]

    def _with_sums(self, cell: _Whole, step: _Whole) -> tuple[_Whole, _Whole]:
        """The change with what it makes of sums that nobody publishes."""
        equations = self.cells.equations
        rows, gaps = self._broken(cell, step)
        more: dict[int, int] = {}
        for row, gap in zip(rows.tolist(), gaps.tolist(), strict=True):
            start, stop = equations.indptr[row : row + 2].tolist()
            members, weight = equations.indices[start:stop], equations.data[start:stop]
            sums = np.flatnonzero(self._member[members] < 0)
            if len(sums) == 1 and abs(int(weight[sums[0]])) == 1:
                more[int(members[sums[0]])] = -int(weight[sums[0]]) * gap
        if not more:
            return cell, step
        cell = np.append(cell, np.array(list(more), dtype=np.int64))
        step = np.append(step, np.array(list(more.values()), dtype=np.int64))
        order = np.argsort(cell)
        return cell[order], step[order]
