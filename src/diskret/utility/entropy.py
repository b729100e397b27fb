"""How uncertain original categories are, given the ones that are published."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskret.errors import InputError


def entropy_loss(joint: ArrayLike, published: ArrayLike | None = None) -> float:
    """Information loss by entropy, EBIL: Σ over records of H(original | published), in bits.

    Parameters
    ----------
    joint
        Records by original category (rows) and published category (columns), ``(K, L)``: counted
        in the two files, or, for PRAM with a matrix P and frequencies t of the original
        categories, expected as ``t[:, None] * P``.
    published
        Frequencies of the published categories, ``(L,)``. None: the sums of the columns.

    Raises
    ------
    InputError
        Numbers are negative or not finite, or the shapes do not belong together.

    Notes
    -----
    P. Kooiman, L. Willenborg and J. Gouweleeuw (1998), *PRAM: a method for disclosure limitation
    of microdata*; with P(original = k | published = l) by Bayes' rule from `joint`.

    Examples
    --------
    >>> frequencies = np.array([60, 40])
    >>> stays = np.array([[0.9, 0.1], [0.15, 0.85]])  # invariant: 60 · 0.1 = 40 · 0.15
    >>> round(entropy_loss(frequencies[:, None] * stays), 3)
    52.533
    >>> entropy_loss(np.diag([60, 40])), entropy_loss([[50, 50], [50, 50]])
    (0.0, 200.0)
    """
    cells = np.asarray(joint, dtype=np.float64)
    if cells.ndim != 2 or not np.isfinite(cells).all() or (cells < 0).any():
        raise InputError("joint= must be a table of finite numbers from 0 on, original x published")
    columns = cells.sum(axis=0)
    shown = columns if published is None else np.asarray(published, dtype=np.float64)
    if shown.shape != columns.shape:
        raise InputError(
            f"published= has shape {shown.shape}; {len(columns)} published categories are expected"
        )
    at, to = np.nonzero(cells)
    return _entropy(cells[at, to], columns[to], shown[to])


def counted_entropy(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """`entropy_loss` of the joint frequencies of codes from -1 (missing) on, ``(n,)``.

    Examples
    --------
    >>> counted_entropy(np.array([0, 1, 1, -1]), np.array([0, 0, 1, 1]))
    4.0
    """
    width = int(after.max()) + 2
    pairs, counts = np.unique((before + 1) * width + after + 1, return_counts=True)
    columns = np.bincount(after + 1)[pairs % width]
    return _entropy(counts, columns, columns)


def _entropy(cells: NDArray[Any], columns: NDArray[Any], shown: NDArray[Any]) -> float:
    """Σ shown · H, of the cells that are not 0, each with the sum of its column."""
    share = cells / columns
    return float(np.sum(shown * share * -np.log2(share))) + 0.0  # no -0.0
