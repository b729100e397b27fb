"""How much single units determine what a model fits: leverage, and the weight of coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.fitted import Numbers

_BLOCK = 16_384  # records that are looked at at a time
_SQUARED = 1e-10  # of the largest: what is smaller is taken for zero
_CLOSE = (1e-14, 1e-5)  # regressors that are neither apart nor together, by singular values


@dataclass(frozen=True, eq=False)
class Influence:
    """What units determine.

    Parameters
    ----------
    leverage
        The largest share that a unit has in its own fitted values, from 0 to 1.
    few
        Shape (regressors,): whether fewer than the threshold's units determine the coefficient.
    close
        Whether regressors hang together so closely that this cannot be computed.
    """

    leverage: float
    few: NDArray[np.bool_]
    close: bool


def influence(
    x: Numbers,
    working: Numbers | None,
    units: NDArray[np.int32] | None,
    threshold: int,
    share: float,
) -> Influence:
    """What single units and few units determine, without ever making the hat matrix.

    A coefficient is a sum over records, each weighted by what its regressor is beyond the
    others. It is determined by few if they have `share` of the squares of these weights.

    Parameters
    ----------
    x
        Shape (records, regressors).
    working
        Shape (records,): how much each record counts; None: all alike.
    units
        Shape (records,): the unit of each record; None: each is one.
    threshold
        The fewest units.
    share
        From which on something is determined.
    """
    root, close = _root(x, working)
    levers: list[Numbers] = []
    total, largest = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for block in _blocks(x, working):
        apart = block @ root
        levers.append(np.einsum("ij,ij->i", apart, apart))
        squares = (apart @ root.T) ** 2
        total += squares.sum(axis=0)
        largest = np.maximum(largest, squares.max(axis=0))
    lever = np.concatenate(levers) if levers else np.zeros(0)
    # of a unit with several records, more than the largest: all are added up
    suspects = np.flatnonzero(
        (total > 0) & ((threshold - 1) * largest >= share * total) if units is None else total > 0
    )
    few = np.zeros(x.shape[1], bool)
    for at in suspects:
        parts = [(block @ (root @ root[at])) ** 2 for block in _blocks(x, working)]
        weight = np.concatenate(parts)
        weight = weight if units is None else np.bincount(units, weight)
        few[at] = np.sort(weight)[::-1][: threshold - 1].sum() >= share * total[at]
    if units is None:
        worst = float(lever.max(initial=0))
    else:
        own = np.bincount(units, lever).astype(np.float64)
        worst = _of_units(x, working, units, own, root, share)
    return Influence(min(worst, 1.0), few, close)


def leverage(x: Numbers) -> Numbers:
    """Shape (records,): the diagonal of the hat matrix."""
    root, _ = _root(x, None)
    parts = [block @ root for block in _blocks(x, None)]
    return np.concatenate([np.einsum("ij,ij->i", part, part) for part in parts])


def _blocks(x: Numbers, working: Numbers | None) -> Iterator[Numbers]:
    for begin in range(0, len(x), _BLOCK):
        block = x[begin : begin + _BLOCK]
        yield block if working is None else _weighted(block, working[begin : begin + _BLOCK])


def _weighted(x: Numbers, working: Numbers) -> Numbers:
    return x * np.sqrt(working)[:, None]


def _root(x: Numbers, working: Numbers | None) -> tuple[Numbers, bool]:
    """What makes columns orthonormal, and whether some are too close to each other to tell."""
    gram = np.zeros((x.shape[1], x.shape[1]))
    for block in _blocks(x, working):
        gram += block.T @ block
    size = np.sqrt(np.where(np.diag(gram) > 0, np.diag(gram), 1))
    values, vectors = np.linalg.eigh(gram / np.outer(size, size))
    kept = values > _SQUARED * values.max(initial=0)  # of those that hang together, fewer count
    close = False
    if values[0] < 100 * _SQUARED * values[-1]:
        scaled = np.concatenate([block / size for block in _blocks(x, working)])
        single = np.linalg.svd(scaled, compute_uv=False)
        ratio = single / max(single[0], 1e-300)
        close = bool(((ratio > _CLOSE[0]) & (ratio < _CLOSE[1])).any())
    return vectors[:, kept] / np.sqrt(values[kept]) / size[:, None], close


def _of_units(
    x: Numbers,
    working: Numbers | None,
    units: NDArray[np.int32],
    own: Numbers,
    root: Numbers,
    share: float,
) -> float:
    """The largest share of a unit in its fitted values, where it has several records."""
    worst = 0.0
    for unit in np.flatnonzero(own >= min(share, own.max(initial=0))):
        rows = np.flatnonzero(units == unit)
        block = x[rows] if working is None else _weighted(x[rows], working[rows])
        apart = block @ root
        worst = max(worst, float(np.linalg.eigvalsh(apart.T @ apart)[-1]))
    return worst
