"""What deviations cost: their squares, and a wall beyond an admissible error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.safe.layout import Kind

#: Costs are whole numbers, so that sums do not depend on their order: so many for a cost of 1.
SCALE = 64
#: Logarithm of the factor by which the wall grows with each unit of deviation.
_STEEP = 0.7
#: Height of the wall at the admissible error.
_HEIGHT = 30.0
#: Beyond this exponent it grows no further.
_TOP = 12.0
_NEVER = 1 << 29
_EXACT = 1e4
#: A deviation of so many units is worth a closer look at cells with allowances.
_USUAL = 12.0


@dataclass(frozen=True, eq=False)
class Potential:
    """Costs of deviations for each state of a cell; see `diskret.safe.layout.Layout.rest`.

    Parameters
    ----------
    slope
        Parts of what a change of the deviation costs, ``(states, 4)``, int32: factors of e, of
        e², and of `growth` at e and at -e.
    energy
        The cost itself, ``(states,)``, int32.
    growth
        ``exp(s · e) - 1`` for e from -far to far, ``(2 · far + 1,)``.
    """

    slope: NDArray[np.int32]
    energy: NDArray[np.int32]
    growth: NDArray[np.float64]


def potential(
    kinds: tuple[Kind, ...], minimum: int, half: int, wall: float | None, margin: float = 1.0
) -> Potential:
    """Costs of deviations.

    Parameters
    ----------
    kinds
        Kinds of cells; those that are empty and stay so follow as one more.
    minimum
        Deviations are measured in thirds of it.
    half
        Deviations are told apart up to here.
    wall
        Admissible error in these units, beyond which costs grow exponentially; None: no wall.
    margin
        Squares of tables of one variable weigh so much more.

    Notes
    -----
    A cell costs w·(d² + h·exp(s·(abs(d) - wall))). Squares bring the mean down, the wall the
    largest deviation: a soft form of Höhne's admissible error. Cells with an allowance have a
    wall that is so much further out, and squares that weigh as much less.
    """
    unit = minimum / 3
    far = max(16, 2 * minimum)
    d = np.arange(-half, half) / unit
    slope = np.zeros((len(kinds) + 1, 2 * half, 4))
    energy = np.full((len(kinds) + 1, 2 * half), float(_NEVER))
    energy[-1, half] = 0
    for k, kind in enumerate(kinds):
        allowance = kind.allowance / unit
        weight = (_USUAL / max(_USUAL + allowance, 1.0)) ** 2 * (margin if kind.margin else 1)
        height = 0.0 if wall is None else _HEIGHT
        if kind.exact or kind.free:
            weight, height = (_EXACT if kind.exact else 1 / SCALE), 0.0
        limit = (wall or 0.0) + allowance
        up = height * np.exp(np.minimum(_STEEP * (d - limit), _TOP))
        down = height * np.exp(np.minimum(_STEEP * (-d - limit), _TOP))
        slope[k] = np.stack([2 * weight * d / unit, weight / unit**2 + 0 * d, up, down], axis=1)
        energy[k] = np.minimum((weight * d**2 + up + down) * SCALE, _NEVER)
        energy[k, np.abs(np.arange(-half, half)) >= half - 2 * far] = _NEVER
    slope = np.clip(np.rint(slope * SCALE), -_NEVER, _NEVER)
    return Potential(
        slope.reshape(-1, 4).astype(np.int32),
        np.rint(energy).ravel().astype(np.int32),
        np.exp(_STEEP * np.arange(-far, far + 1) / unit) - 1,
    )
