"""Costs of all states of a cell, looked up by the loops of the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.safe.costs import EXACT, HEIGHT, NEVER, SCALE, STEEP, TOP, USUAL, Margin, Raised
from diskret.safe.layout import Kind, Layout
from diskret.safe.sums import SumPrices


@dataclass(frozen=True, eq=False)
class Potential:
    """Costs of deviations for each state of a cell; see `diskret.safe.layout.Layout.rest`.

    `slope`: parts of what a change of the deviation costs, ``(states, 4)``, int32: factors of e,
        of e² and of `growth` at e, and the sum of this one and of that of `growth` at -e. Whole
        numbers, so that no sum depends on its order.
    `energy`: the cost itself, ``(states,)``, int32.
    `growth`: ``exp(s · e) - 1`` for e from -far to far, ``(2 · far + 1,)``.
    `sums`: costs of cells that are sums.
    """

    slope: NDArray[np.int32]
    energy: NDArray[np.int32]
    growth: NDArray[np.float64]
    sums: SumPrices


def potential(
    laid: Layout,
    minimum: int,
    wall: float | None,
    margin: Margin | None = None,
    raised: Raised | None = None,
) -> Potential:
    """Costs of deviations.

    `minimum`: deviations are measured in thirds of it. `wall`: admissible error in these units,
    beyond which costs grow exponentially; None: no wall. `margin`: how tables of one variable are
    treated; None: as all others. `raised`: how cells are that have to be mended, if there are any.
    Kinds of cells in `laid` are followed by those that are empty and stay so, and these by the same
    kinds once more, raised.

    A cell costs w·(d² + h·exp(s·(abs(d) - wall))). Squares bring the mean down, the wall the
    largest deviation: a soft form of Höhne's admissible error. Cells with an allowance have a
    wall that is so much further out, and squares that weigh as much less.
    """
    unit = minimum / 3
    margin = Margin(1.0, wall or 0.0) if margin is None else margin
    far = max(16, 2 * minimum)
    shapes = [_usual(kind, unit, wall, margin) for kind in laid.kinds]
    blocks = [*(_costs(laid.half, shape, unit, far) for shape in shapes), _stays_empty(laid.half)]
    if raised is not None:
        shapes = [_raised(kind, unit, margin, raised) for kind in laid.kinds]
        blocks += [_costs(laid.half, shape, unit, far) for shape in shapes]
    slope, energy = zip(*blocks, strict=True)
    slopes = np.clip(np.rint(np.concatenate(slope) * SCALE), -NEVER, NEVER).astype(np.int32)
    slopes[:, 3] += slopes[:, 2]
    return Potential(
        slopes,
        np.rint(np.concatenate(energy)).astype(np.int32),
        np.exp(STEEP * np.arange(-far, far + 1) / unit) - 1,
        laid.sums.prices(unit, wall, margin),
    )


class _Shape(NamedTuple):
    """Weight of the squares, and height and place of the wall in thirds of the minimum."""

    weight: float
    height: float
    wall: float


def _usual(kind: Kind, unit: float, wall: float | None, margin: Margin) -> _Shape:
    if kind.exact or kind.free:
        return _Shape(EXACT if kind.exact else 1 / SCALE, 0.0, 0.0)
    allowance = kind.allowance / unit
    at = margin.wall if kind.margin else wall or 0.0
    return _Shape(_weight(kind, unit, margin), 0.0 if wall is None else HEIGHT, at + allowance)


def _raised(kind: Kind, unit: float, margin: Margin, raised: Raised) -> _Shape:
    if kind.exact or kind.free:
        return _usual(kind, unit, None, margin)
    at = raised.margin if kind.margin else raised.most
    return _Shape(_weight(kind, unit, margin), raised.height, (at + kind.allowance) / unit)


def _weight(kind: Kind, unit: float, margin: Margin) -> float:
    eased = (USUAL / max(USUAL + kind.allowance / unit, 1.0)) ** 2
    return eased * (margin.weight if kind.margin else 1)


def _costs(
    half: int, shape: _Shape, unit: float, far: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slope and energy of the states of a kind, see `Potential`; slopes are not yet rounded."""
    records = np.arange(-half, half)
    d = records / unit
    up = shape.height * np.exp(np.minimum(STEEP * (d - shape.wall), TOP))
    down = shape.height * np.exp(np.minimum(STEEP * (-d - shape.wall), TOP))
    square = np.full(len(d), shape.weight / unit**2)
    slope = np.stack([2 * shape.weight * d / unit, square, up, down], axis=1)
    energy = np.minimum((shape.weight * d**2 + up + down) * SCALE, NEVER)
    energy[np.abs(records) >= half - 2 * far] = NEVER
    return slope, energy


def _stays_empty(half: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    energy = np.full(2 * half, float(NEVER))
    energy[half] = 0
    return np.zeros((2 * half, 4)), energy
