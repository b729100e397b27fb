"""The largest contributions where a contribution of weight w counts as w equal ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.engines.contributions import heaviest
from diskret.hierarchy import Hierarchy


def merge_pairs_up(
    amount: NDArray[np.int64], weight: NDArray[np.int64], trees: list[Hierarchy]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fill the largest contributions of all totals, and their weights, in place.

    Right where no contributor is in two leaves.

    Parameters
    ----------
    amount
        The largest |contributions| for a weight of 1, descending, ``(*table.shape, k)``;
        leaves must be filled.
    weight
        How many times each counts, same shape.
    trees
        The code tree of each dimension.
    """
    kept = amount.shape[-1]
    for axis, tree in enumerate(trees if kept else ()):
        amounts, weights = np.moveaxis(amount, axis, 0), np.moveaxis(weight, axis, 0)
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                together = _side_by_side(amounts[children]), _side_by_side(weights[children])
                amounts[code], weights[code] = heaviest(*together, kept)
    return amount, weight


def slots(amount: NDArray[np.int64], weight: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
    """What k equal contributors of weight 1 would have contributed, the largest first.

    Laid end to end, the largest amount first, contributions cover an axis of weights; slot i
    is what lies between i − 1 and i. As all weights are at least 1, k of them cover k slots.

    Parameters
    ----------
    amount
        The k largest |contributions| for a weight of 1, descending, ``(…, k)``: whole
        multiples of `unit` wherever the weight is not `unit`, and 0 beyond the last.
    weight
        How many times each counts, in units of 1/`unit`, same shape.
    unit
        The scaled weight that means 1.

    Returns
    -------
    ndarray
        ``(…, k)``, int64. The sum of the first i slots is exact where no contributor of
        weight `unit` lies across two slots, and rounded up to a whole number there.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, sections 2.3 and 4.3.1 (sample weights in the
    dominance and p% rules).

    Examples
    --------
    10 counts 2.4 times, 6 counts three times, in tenths: 10, 10, 0.4·10 + 0.6·6 = 7.6.

    >>> slots(np.array([100, 60, 0]), np.array([24, 30, 0]), 10).tolist()
    [100, 100, 76]
    """
    kept = amount.shape[-1]
    whole, rest = np.divmod(amount, unit)
    before = np.cumsum(weight, axis=-1) - weight
    ends = np.empty_like(amount)
    for i in range(kept):
        covered = np.clip((i + 1) * unit - before, 0, weight)
        # exact unless a part of an amount that is no multiple of the unit is covered
        ends[..., i] = (whole * covered - (-(rest * covered) // unit)).sum(axis=-1)
    return np.diff(ends, axis=-1, prepend=0)


def _side_by_side(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs of several cells as those of one, ``(cells, …, k)`` → ``(…, cells · k)``."""
    together = np.moveaxis(parts, 0, -2)
    return together.reshape(*together.shape[:-2], -1)
