"""What is near a group: how far it can move, told from the equations around it; neighbours.

Some of the equations bind less than all of them. So a movement that a few forbid is forbidden,
and one that breaks no other equation is possible: equations are added where the movement found
breaks them, until it breaks none, or is too short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.solver import Solver, Status, pivots_for

_BROKEN = 1e-7
_UNMOVED = 1e-9


@dataclass(frozen=True, eq=False)
class Movement:
    """The furthest movement that some equations permit.

    `distance`: how far the group moves in the direction asked for. Under all equations it moves no
        further.
    `rows`: the equations used, ascending, ``(r,)``.
    `duals`: their multipliers, ``(r,)``.
    `column`: the groups that move, ascending, ``(s,)``.
    `change`: how far, ``(s,)``.
    `possible`: whether the movement satisfies all equations.
    """

    distance: float
    rows: NDArray[np.int64]
    duals: NDArray[np.float64]
    column: NDArray[np.int64]
    change: NDArray[np.float64]
    possible: bool


class Surroundings:
    """Equations between groups, asked about one group at a time.

    `equations`: ``(m, k)``; ``equations @ z = 0`` for movements ``z``. `seconds`: time left;
    nothing is answered when it is up, nor what takes more than a counted amount of work.
    """

    def __init__(self, equations: sparse.csr_array, seconds: Callable[[], float] = lambda: inf):
        self._seconds = seconds
        self._equations = equations
        self._by_column = sparse.csc_array(equations)
        self._solver = Solver(presolve="off", solver="simplex")

    def furthest(
        self,
        at: int,
        sign: int,
        down: NDArray[np.float64],
        up: NDArray[np.float64],
        rows: NDArray[np.int64],
        enough: float,
        most: int,
    ) -> Movement | None:
        """The furthest movement of a group; None: the solver is in trouble, or time or work ends.

        `sign`: 1 for up, -1 for down. `down`, `up`: how far each group can move, ``(k,)``. `rows`:
        equations to begin with, ascending; those of the group are added.
        """
        rows = np.union1d(rows, self._rows_of(at))
        while True:
            column, change, duals = self._solve(at, sign, down, up, rows)
            if len(column) == 0:
                return None
            distance = sign * float(change[np.searchsorted(column, at)])
            moves = np.abs(change) > _UNMOVED
            column, change = column[moves], change[moves]
            broken = self._broken(column, change)
            broken = np.setdiff1d(broken, rows, assume_unique=True)
            if len(broken) == 0 or distance < enough or len(rows) > most:
                return Movement(distance, rows, duals, column, change, len(broken) == 0)
            rows = np.union1d(rows, broken)

    def _rows_of(self, at: int) -> NDArray[np.int64]:
        start, end = self._by_column.indptr[at : at + 2]
        return np.sort(self._by_column.indices[start:end]).astype(np.int64)

    def _broken(self, column: NDArray[np.int64], change: NDArray[np.float64]) -> NDArray[np.int64]:
        """The equations that a movement does not satisfy, ascending."""
        entry, size = entries(self._by_column.indptr, column)
        row, where = np.unique(self._by_column.indices[entry], return_inverse=True)
        gap = np.bincount(where, self._by_column.data[entry] * np.repeat(change, size), len(row))
        return row[np.abs(gap) > _BROKEN].astype(np.int64)

    def _solve(
        self,
        at: int,
        sign: int,
        down: NDArray[np.float64],
        up: NDArray[np.float64],
        rows: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Groups, their changes and the multipliers of the equations; nothing if in trouble."""
        entry, size = entries(self._equations.indptr, rows)
        member = self._equations.indices[entry]
        column = np.unique(np.append(member, at)).astype(np.int64)
        shape = len(rows), len(column)
        inside = sparse.csr_array(
            (
                self._equations.data[entry],
                np.searchsorted(column, member),
                np.append(0, np.cumsum(size)),
            ),
            shape=shape,
        )
        cost = np.where(column == at, -float(sign), 0.0)
        self._solver.load(cost, inside, columns=(-down[column], up[column]), rows=(0, 0))
        most = pivots_for(len(column))
        if self._solver.run(self._seconds(), pivots=most) is not Status.OPTIMAL:
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        return column, self._solver.x, self._solver.row_duals


def entries(
    start: NDArray[np.integer], line: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the entries of some lines of a compressed matrix, and how many each has."""
    size = (start[line + 1] - start[line]).astype(np.int64)
    end = np.cumsum(size)
    first = np.repeat(start[line] - (end - size), size)
    return first + np.arange(len(first)), size


def neighbours(
    equations: sparse.csr_array,
    by_group: sparse.csc_array,
    centre: int,
    candidate: NDArray[np.bool_],
    size: int,
) -> NDArray[np.bool_]:
    """Candidates near a group: those of its equations, of their groups' equations, and so on.

    `equations`, `by_group`: the equations between groups, by row and by column, ``(m, g)``.
    `candidate`: the groups that count, bool, ``(g,)``. `size`: the last equation is the one that
    makes it at least so many. Gives bool, ``(g,)``.

    Two equations with a group in common; the first has enough groups.

    >>> import numpy as np
    >>> from scipy import sparse
    >>> equations = sparse.csr_array(np.array([[1, -1, -1, 0, 0], [0, 0, 1, -1, -1]]))
    >>> everybody = np.ones(5, dtype=bool)
    >>> neighbours(equations, sparse.csc_array(equations), 0, everybody, 3).tolist()
    [True, True, True, False, False]
    """
    inside = np.zeros(equations.shape[1], dtype=bool)
    inside[centre] = True
    seen = np.zeros(equations.shape[0], dtype=bool)
    newest = np.array([centre])
    while len(newest):
        rows = np.unique(by_group.indices[entries(by_group.indptr, newest)[0]])
        rows = rows[~seen[rows]].astype(np.int64)
        seen[rows] = True
        before = inside.copy()
        for row in rows.tolist():
            inside[equations.indices[equations.indptr[row] : equations.indptr[row + 1]]] = True
            if np.count_nonzero(inside & candidate) >= size:
                return inside & candidate
        newest = np.flatnonzero(inside & ~before)
    return inside & candidate
