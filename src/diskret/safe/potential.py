"""Costs of all states of a cell, looked up by the loops of the search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.safe.costs import EXACT, HEIGHT, NEVER, SCALE, STEEP, TOP, USUAL, Margin
from diskret.safe.layout import Layout
from diskret.safe.sums import SumPrices


@dataclass(frozen=True, eq=False)
class Potential:
    """Costs of deviations for each state of a cell; see `diskret.safe.layout.Layout.rest`.

    `slope`: parts of what a change of the deviation costs, ``(states, 4)``: factors of e, of
        e², and of `growth` at e and at -e. Whole numbers, so that no sum depends on its order.
    `against`: the same for a change by -e.
    `energy`: the cost itself, ``(states,)``, int32.
    `growth`: ``exp(s · e) - 1`` for e from -far to far, ``(2 · far + 1,)``.
    `sums`: costs of cells that are sums.
    """

    slope: NDArray[np.float64]
    against: NDArray[np.float64]
    energy: NDArray[np.int32]
    growth: NDArray[np.float64]
    sums: SumPrices


def potential(
    laid: Layout, minimum: int, wall: float | None, margin: Margin | None = None
) -> Potential:
    """Costs of deviations.

    `minimum`: deviations are measured in thirds of it. `wall`: admissible error in these units,
    beyond which costs grow exponentially; None: no wall. `margin`: how tables of one variable are
    treated; None: as all others. Kinds of cells in `laid` are followed by those that are empty and
    stay so.

    A cell costs w·(d² + h·exp(s·(abs(d) - wall))). Squares bring the mean down, the wall the
    largest deviation: a soft form of Höhne's admissible error. Cells with an allowance have a
    wall that is so much further out, and squares that weigh as much less.
    """
    kinds, half = laid.kinds, laid.half
    unit = minimum / 3
    margin = Margin(1.0, wall or 0.0) if margin is None else margin
    far = max(16, 2 * minimum)
    d = np.arange(-half, half) / unit
    slope = np.zeros((len(kinds) + 1, 2 * half, 4))
    energy = np.full((len(kinds) + 1, 2 * half), float(NEVER))
    energy[-1, half] = 0
    for k, kind in enumerate(kinds):
        allowance = kind.allowance / unit
        weight = (USUAL / max(USUAL + allowance, 1.0)) ** 2 * (margin.weight if kind.margin else 1)
        height = 0.0 if wall is None else HEIGHT
        if kind.exact or kind.free:
            weight, height = (EXACT if kind.exact else 1 / SCALE), 0.0
        limit = (margin.wall if kind.margin else wall or 0.0) + allowance
        up = height * np.exp(np.minimum(STEEP * (d - limit), TOP))
        down = height * np.exp(np.minimum(STEEP * (-d - limit), TOP))
        slope[k] = np.stack([2 * weight * d / unit, weight / unit**2 + 0 * d, up, down], axis=1)
        energy[k] = np.minimum((weight * d**2 + up + down) * SCALE, NEVER)
        energy[k, np.abs(np.arange(-half, half)) >= half - 2 * far] = NEVER
    slope = np.clip(np.rint(slope * SCALE), -NEVER, NEVER).reshape(-1, 4)
    return Potential(
        slope,
        slope[:, [0, 1, 3, 2]] * [-1, 1, 1, 1],
        np.rint(energy).ravel().astype(np.int32),
        np.exp(STEEP * np.arange(-far, far + 1) / unit) - 1,
        laid.sums.prices(unit, wall, margin),
    )
