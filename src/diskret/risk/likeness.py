"""How much more frequent a sensitive value is among records that agree than in the file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.risk.distributions import Distributions

#: Increases of shares that come from rounding alone.
_ROUNDING = 1e-9


def likeness(found: Distributions) -> NDArray[np.float64]:
    """Largest relative increase of a share, ``(b,)``: the smallest β of basic β-likeness.

    (p - q) / q with the share p of a value among the records that agree, and q in the file.
    Source: Cao and Karras (2012).
    """
    expected = found.expected[found.value]
    increase = np.maximum(found.share / expected - 1, 0.0)
    return np.maximum.reduceat(increase, found.start)


def enhanced_likeness(found: Distributions) -> NDArray[np.float64]:
    """The smallest β of enhanced β-likeness, ``(b,)``; infinite if there is none.

    The increase of a value with share q in the file may not exceed -log q either, which bounds what
    is learned of frequent values. Source: Cao and Karras (2012).
    """
    expected = found.expected[found.value]
    beyond = found.share / expected - 1 > -np.log(expected) + _ROUNDING
    return np.where(np.logical_or.reduceat(beyond, found.start), np.inf, likeness(found))


def disclosure(found: Distributions) -> NDArray[np.float64]:
    """Largest size of log(p / q), ``(b,)``: δ-disclosure privacy holds for every δ above it.

    Infinite if a value of the file does not occur among the records that agree, since its share
    is 0 there. Source: Brickell and Shmatikov (2008).
    """
    size = np.abs(np.log(found.share / found.expected[found.value]))
    complete = np.bincount(found.owner, minlength=len(found.rows)) == len(found.overall)
    return np.where(complete, np.maximum.reduceat(size, found.start), np.inf)
