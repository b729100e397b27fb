"""The cheapest cells to hide so that some contributors can no longer tell a cell or a sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from diskret.attack.surroundings import Surroundings
from diskret.suppression import Problem

#: Cells around a target that may move at first; then all may.
_NEAR = 400
#: Price of moving what is hidden anyway, beside that of the cheapest published cell.
_FREE = 1e-4


class Repair:
    """Moves of hidden cells and of as few published ones as possible. Proven by the attack alone.

    Parameters
    ----------
    problem
        Cells, equations and prices.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._near = Surroundings(problem.system.equations)
        self._by_column = sparse.csc_array(problem.system.equations)

    def hide(
        self,
        hidden: NDArray[np.bool_],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        cells: NDArray[np.int64],
        levels: tuple[int, int],
    ) -> NDArray[np.int64] | None:
        """What else to hide so that some cells together can move by their levels within bounds.

        Parameters
        ----------
        hidden
            What is hidden already, ``(n,)``.
        low, high
            What the contributors know of each cell, ``(n,)``.
        cells, levels
            The target, and how far it has to move down and up.

        Returns
        -------
        ndarray or None
            Positions; None if nothing helps.
        """
        n = len(hidden)
        more = hidden.copy()
        for side, need in ((-1, levels[0]), (1, levels[1])):
            for size in (_NEAR, n) if need > 0 else ():
                window = self._near.grown(cells, min(size, n))
                moved = self._move(window, more, low, high, cells, side, need)
                if moved is not None:
                    more[moved] = True
                    break
            else:
                if need > 0:
                    return None
        return np.flatnonzero(more & ~hidden)

    def _move(
        self,
        window: NDArray[np.int64],
        hidden: NDArray[np.bool_],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        cells: NDArray[np.int64],
        side: int,
        need: int,
    ) -> NDArray[np.int64] | None:
        problem, value = self.problem, self.problem.system.value[window].astype(np.float64)
        inside = sparse.csr_array(self._by_column[:, window])
        inside = inside[np.flatnonzero(np.diff(inside.indptr))]
        target = np.isin(window, cells) * float(side)
        matrix = sparse.vstack([inside, sparse.csr_array(target[None])], format="csr")
        stays = problem.frozen[window] & ~hidden[window]
        up = np.where(stays, 0, (high[window] - value) / need)
        down = np.where(stays, 0, (value - low[window]) / need)
        price = problem.cost[window]
        least = price[price > 0].min(initial=1.0)
        price = np.where(hidden[window], least * _FREE, np.maximum(price, least))
        right = np.zeros(matrix.shape[0])
        right[-1] = 1
        found = linprog(
            np.append(price, price),
            A_eq=sparse.hstack([matrix, -matrix], format="csr"),
            b_eq=right,
            bounds=np.stack((np.zeros(2 * len(window)), np.append(up, down)), axis=1),
            method="highs",
        )
        if found.status != 0:
            return None
        moved = found.x[: len(window)] + found.x[len(window) :] > 1e-7
        return window[moved & ~hidden[window]]
