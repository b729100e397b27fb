"""The question of controlled tabular adjustment, and its answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What has to move, what may, and what moving costs; arrays with one entry a cell, ``(n,)``.

    Parameters
    ----------
    equations
        ``equations @ change`` must be zero, ``(m, n)``, entries 1 and −1.
    cell
        The sensitive cells, ascending, ``(k,)``, int64.
    lower, upper
        A sensitive cell moves down by `lower` or up by `upper` at least, scaled integers ≥ 0,
        ``(k,)``. Where one of them is 0, the cell moves in the other direction.
    down, up
        How far each cell may move at most, scaled integers ≥ 0.
    cost
        Price of moving a cell by one scaled unit, float64 ≥ 0.
    """

    equations: sparse.csr_array
    cell: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    cost: NDArray[np.float64]

    @property
    def may_rise(self) -> NDArray[np.bool_]:
        """Which sensitive cells have room to rise as far as they must."""
        return (self.upper > 0) & (self.upper <= self.up[self.cell])

    @property
    def may_fall(self) -> NDArray[np.bool_]:
        """Which sensitive cells have room to fall as far as they must."""
        return (self.lower > 0) & (self.lower <= self.down[self.cell])

    def price(self, change: NDArray[np.int64]) -> float:
        """What a change of all cells costs."""
        return float(self.cost @ np.abs(change))

    def least(self) -> float:
        """What every adjustment costs at least: all sensitive cells at their nearest level."""
        rise = np.where(self.may_rise, self.upper, np.inf)
        nearest = np.minimum(np.where(self.may_fall, self.lower, np.inf), rise)
        return float(self.cost[self.cell] @ nearest)

    def satisfied(self, change: NDArray[np.int64]) -> bool:
        """Whether a change satisfies every requirement, in whole numbers."""
        moved = change[self.cell]
        risen = (self.upper > 0) & (moved >= self.upper)
        fallen = (self.lower > 0) & (-moved >= self.lower)
        return bool(
            (risen | fallen).all()
            and (change <= self.up).all()
            and (-change <= self.down).all()
            and not (self.equations.astype(np.int64) @ change).any()
        )


@dataclass(frozen=True, eq=False)
class Adjusted:
    """How far each cell moves.

    Parameters
    ----------
    change
        Scaled integers, ``(n,)``; `Adjustment.satisfied` holds for it.
    cost
        What it costs.
    bound
        What every adjustment costs at least; equal to `cost`, up to the tolerances of the solver,
        if nothing cheaper exists.
    rounds
        Programmes solved to find a better one.
    """

    change: NDArray[np.int64]
    cost: float
    bound: float
    rounds: int = 0
