"""Integer programmes over frequencies that are 0 or at least the minimum, solved by HiGHS."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.solver import Solver, Status

_NEAR = 1e-6
_LEAST_SECONDS = 0.01


@dataclass(frozen=True, eq=False)
class Solved:
    """What the solver says; whole numbers, but nothing in it has been checked.

    `y`: frequencies, or None if none were found.
    `impossible`: there are none.
    `least`: no frequencies have an objective below this whole number.
    """

    y: NDArray[np.int64] | None
    impossible: bool
    least: float


class Programme:
    """A programme that is put together row by row.

    A frequency is y = m b + s, with b 0 or 1 and 0 ≤ s ≤ (most − m) b. The rest are other columns.

    `minimum`: m.
    `least`, `most`: bounds of the frequencies, ``(n,)``.
    """

    def __init__(self, minimum: int, least: NDArray[np.int64], most: NDArray[np.int64]):
        self._n, self._minimum = len(most), minimum
        beyond = np.maximum(most - minimum, 0)
        one = sparse.eye_array(self._n)
        self._y = sparse.hstack([minimum * one, one])
        self._low = [np.zeros(2 * self._n)]
        self._high = [(most >= minimum).astype(float), beyond.astype(float)]
        self._cost, self._whole = [np.zeros(2 * self._n)], [np.ones(2 * self._n, dtype=np.bool_)]
        self._rows: list[sparse.csr_array] = []
        self._right: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        off = sparse.hstack([-sparse.diags_array(beyond.astype(float)), one])
        self._add(off, np.full(self._n, -np.inf), np.zeros(self._n))
        self.rows(np.eye(self._n, dtype=np.int64)[least > 0], least[least > 0], np.inf)

    def columns(
        self, cost: NDArray[np.int64], high: float, *, low: int = 0, whole: bool = True
    ) -> None:
        """Add columns with these costs; the rows that follow may name them."""
        self._low.append(np.full(len(cost), float(low)))
        self._high.append(np.full(len(cost), float(high)))
        self._cost.append(cost.astype(float))
        self._whole.append(np.full(len(cost), whole))

    def rows(
        self,
        matrix: NDArray[np.int64],
        low: NDArray[np.int64] | float,
        high: NDArray[np.int64] | float,
        last: NDArray[np.int64] | None = None,
    ) -> None:
        """Ask for ``low ≤ matrix y + last x ≤ high``, x the columns that were added last."""
        left = sparse.csr_array(matrix.astype(float)) @ self._y
        if last is not None:
            before = sum(map(len, self._cost)) - 2 * self._n - last.shape[1]
            gap = sparse.csr_array((len(matrix), before))
            left = sparse.hstack([left, gap, sparse.csr_array(last.astype(float))])
        ones = np.ones(len(matrix))
        self._add(left, low * ones, high * ones)

    def _add(
        self, left: sparse.sparray, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> None:
        self._rows.append(sparse.csr_array(left))
        self._right.append((low, high))

    def solve(self, until: float | None = None) -> Solved:
        """Run the solver, with one thread, until `until` on the monotonic clock."""
        cost, whole = np.concatenate(self._cost), np.concatenate(self._whole)
        for rows in self._rows:
            rows.resize(rows.shape[0], len(cost))
        matrix = sparse.csr_array(sparse.vstack(self._rows))
        solver = Solver(
            random_seed=1,
            mip_rel_gap=0.0,
            mip_abs_gap=1 - 1e-4,  # objectives are whole numbers
            mip_feasibility_tolerance=1e-7,
        )
        solver.load(
            cost,
            matrix,
            columns=(np.concatenate(self._low), np.concatenate(self._high)),
            rows=(
                np.concatenate([low for low, _ in self._right]),
                np.concatenate([high for _, high in self._right]),
            ),
            whole=whole,
        )
        left = None if until is None else max(until - time.monotonic(), _LEAST_SECONDS)
        status, values = solver.run(left), solver.x
        if not solver.feasible or len(values) < len(cost):
            return Solved(None, status is Status.IMPOSSIBLE, -np.inf)
        y = np.rint(self._y @ values[: 2 * self._n]).astype(np.int64)
        return Solved(y, False, float(np.ceil(solver.bound - _NEAR)))
