"""Logistic regression of "original or protected?" on rows that are made block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

#: Pairs of blocks: rows of the original file and the same rows of the protected one.
Blocks = Callable[[], Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]]

_STEPS = 100
#: A gain in deviance that is small beside the one by chance, which is 1 for each parameter.
_ENOUGH = 1e-6
#: Directions in which the columns vary less than this are combinations of the others.
_NOTHING = 1e-10


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Parameters
    ----------
    distance
        Σ(p̂ − ½)² over the rows of both files.
    rank
        Number of columns that are no combination of others, the constant included.
    """

    distance: float
    rank: int


@dataclass(frozen=True, eq=False)
class _State:
    deviance: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    distance: float


def fit(blocks: Blocks, columns: int) -> Fit:
    """Fit P(row is protected) by Newton's method, halving steps that make it worse.

    A row of the original file and its protected one are added in the same way, so that for files
    that are equal the gradient at the start is exactly 0, and with it the distance. Where a column
    tells the files apart without error there is no maximum; the steps end when the fit no longer
    gets better.

    Parameters
    ----------
    blocks
        Gives the blocks anew at each call, the same ones in the same order.
    columns
        Of each block, the constant included.
    """
    at = np.zeros(columns)
    state = _evaluated(blocks, at)
    rank = 0
    for _ in range(_STEPS):
        if not state.gradient.any():
            return Fit(state.distance, rank or _solved(state)[1])
        step, found = _solved(state)
        rank = rank or found
        size, better = 1.0, _evaluated(blocks, at + step)
        while better.deviance > state.deviance and size > 1e-4:
            size /= 2
            better = _evaluated(blocks, at + size * step)
        gained = state.deviance - better.deviance
        if gained <= 0:
            break
        at, state = at + size * step, better
        if gained <= _ENOUGH:
            break
    return Fit(state.distance, rank)


def _evaluated(blocks: Blocks, at: NDArray[np.float64]) -> _State:
    deviance, distance = 0.0, 0.0
    gradient = np.zeros(len(at))
    hessian = np.zeros((len(at), len(at)))
    for pair in blocks():
        parts: list[NDArray[np.float64]] = []
        for rows, protected in zip(pair, (False, True), strict=True):
            linear = rows @ at
            share = expit(linear)
            # −2 log likelihood, without loss for shares near 0 and 1
            deviance += 2 * float(np.sum(np.logaddexp(0, -linear if protected else linear)))
            distance += float(np.sum((share - 0.5) ** 2))
            parts.append((share - protected) @ rows)
            hessian += (rows * (share * (1 - share))[:, None]).T @ rows
        gradient -= parts[0] + parts[1]
    return _State(deviance, gradient, hessian, distance)


def _solved(state: _State) -> tuple[NDArray[np.float64], int]:
    """The step, and the number of directions in which there is one."""
    size = np.sqrt(np.diag(state.hessian))
    scale = np.divide(1, size, out=np.zeros_like(size), where=size > 0)
    values, vectors = np.linalg.eigh(state.hessian * np.outer(scale, scale))
    held = values > _NOTHING * values[-1]
    vectors = vectors[:, held]
    step = vectors @ ((vectors.T @ (scale * state.gradient)) / values[held])
    return scale * step, int(held.sum())
