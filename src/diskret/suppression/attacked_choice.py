"""A choice as attackers see it: what is hidden, what moves, and what is known to move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.graphs import connected
from diskret.suppression.changeable import Changeable
from diskret.suppression.linear import Program
from diskret.suppression.surroundings import Movement, Surroundings

#: What is hidden to at least this share is taken for hidden.
_CERTAIN = 0.999
#: Equations around a group that are looked at before all are.
_NEARBY = 60
_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Ask:
    """One movement that is required: of `group`, in one or both directions, by `need`."""

    group: int
    signs: tuple[int, ...]
    need: float


class View:
    """A choice seen from its groups: what is hidden, and what is known to move there.

    `cells`: the groups. `x`: the choice: 1 for groups that are hidden, fractions in between,
    ``(g,)``. `seconds`: time left; nothing is answered when it is up.
    """

    def __init__(
        self,
        cells: Changeable,
        x: NDArray[np.float64],
        seconds: Callable[[], float] = lambda: inf,
    ):
        self.x = x
        self.seconds = seconds
        self.certain = x >= _CERTAIN
        self.hidden = np.flatnonzero(x > 1e-7)
        self.column = np.full(len(x), -1)
        self.column[self.hidden] = np.arange(len(self.hidden))
        self.equations = sparse.csr_array(cells.equations[:, self.hidden])
        self._around = Surroundings(self.equations, seconds)
        self.share = x[self.hidden]
        self._settled = self.certain[self.hidden]
        self.down, self.up = cells.down[self.hidden], cells.up[self.hidden]
        self._far_down, self._far_up = self.down * self.share, self.up * self.share
        # how far each group moves down and up, and the number of the movement
        self._reached = np.zeros((2, len(self.hidden)))
        self._by = np.zeros((2, len(self.hidden)), dtype=np.int64)
        self._movements: list[NDArray[np.int64]] = []

    def met(self, ask: Ask) -> NDArray[np.int64] | None:
        """Groups that move in movements found already, if these are enough."""
        at = self.column[ask.group]
        reached, moved = 0.0, [_NOBODY]
        for sign in ask.signs:
            far, by = self._reached[int(sign > 0)][at], self._by[int(sign > 0)][at]
            reached += far
            moved.append(self._movements[by] if far else _NOBODY)
        return np.concatenate(moved) if reached >= ask.need * (1 - 1e-9) else None

    def note(self, column: NDArray[np.int64], change: NDArray[np.float64]) -> None:
        """Remember a movement that the choice permits, or else certain groups alone."""
        back = np.all(-change <= self._far_up[column]) and np.all(change <= self._far_down[column])
        for upwards, far in ((1, change), (0, -change)):
            if back:
                far = np.abs(far)
            further = far > self._reached[upwards][column]
            self._reached[upwards][column[further]] = far[further]
            self._by[upwards][column[further]] = len(self._movements)
        self._movements.append(self.hidden[column])

    def furthest(
        self, ask: Ask, rest: float, rows: NDArray[np.int64], enough: float
    ) -> list[Movement]:
        """How far a group can move, in units of the need, in each of its directions.

        Certain groups move by the need at most, the others by their share of `rest`. Equations
        around the group are looked at, beginning with `rows`; movements shorter than `enough`
        are not followed. Empty if the solver is in trouble.
        """
        at = int(self.column[ask.group])
        down, up = self.down / ask.need, self.up / ask.need
        own = min(down[at], 1), min(up[at], 1)
        most, share = np.where(self._settled, 1.0, rest), np.where(self._settled, 1.0, self.share)
        down, up = np.minimum(down, most) * share, np.minimum(up, most) * share
        down[at], up[at] = own
        moves: list[Movement] = []
        for k, sign in enumerate(ask.signs):
            missing = enough - fsum(move.distance for move in moves)
            last = k == len(ask.signs) - 1
            missing = missing if last else 0.0
            move = self._around.furthest(at, sign, down, up, rows, missing, _NEARBY)
            if move is None:
                return []
            moves.append(move)
            rows = move.rows
        return moves


def components(equations: sparse.csr_array) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What hangs together: a label for each equation and each group."""
    m, k = equations.shape
    row, column = equations.nonzero()
    links = sparse.coo_array((np.ones(len(row), np.int8), (row, m + column)), (m + k, m + k))
    label = connected(links)
    return label[:m], label[m:]


class Component:
    """The attacker's linear program of one connected component of a choice.

    `view`: the choice. `columns`, `rows`: hidden groups and equations of the component, ``(k,)``
    and ``(m,)``. `equations`: ``(m, k)``.
    """

    def __init__(
        self,
        view: View,
        columns: NDArray[np.int64],
        rows: NDArray[np.int64],
        equations: sparse.csr_array,
    ):
        self.rows = rows
        self._view = view
        self._columns = columns
        self._share = view.share[columns]
        self._down, self._up = view.down[columns], view.up[columns]
        self._program = Program(equations, seconds=view.seconds)
        self._everything = np.arange(len(columns))

    def furthest(
        self, ask: Ask, cap: float
    ) -> tuple[float, list[NDArray[np.float64]], NDArray[np.int64]]:
        """How far a group can move, in units of the need, the multipliers, and who moves."""
        at = int(np.searchsorted(self._columns, self._view.column[ask.group]))
        index = np.array([at])
        down = np.minimum(self._down / ask.need, cap) * self._share
        up = np.minimum(self._up / ask.need, cap) * self._share
        down[at], up[at] = min(down[at], 1), min(up[at], 1)
        self._program.bound(self._everything, -down, up)
        total, duals, moved = 0.0, [], []
        for sign in ask.signs:
            self._program.price(index, np.array([-float(sign)]))
            z = self._program.solve()
            dual = self._program.duals()
            self._program.price(index, np.zeros(1))
            if z is None:
                return 1.0, [], _NOBODY
            total += sign * float(z[at])
            duals.append(dual)
            moves = np.flatnonzero(np.abs(z) > 1e-9)
            self._view.note(self._columns[moves], z[moves] * ask.need)
            moved.append(self._view.hidden[self._columns[moves]])
        return total, duals, np.concatenate(moved)
