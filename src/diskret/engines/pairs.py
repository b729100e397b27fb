"""Contributions with weights: pairs of an amount and how many times it counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def heaviest(
    amount: NDArray[np.int64], weight: NDArray[np.int64], kept: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs with the largest amounts along the last axis, descending.

    Examples
    --------
    >>> amount, weight = heaviest(np.array([6, 10, 6]), np.array([3, 2, 4]), 2)
    >>> amount.tolist(), weight.tolist()
    ([10, 6], [2, 4])
    """
    order = np.lexsort((weight, amount), axis=-1)[..., ::-1][..., :kept]
    return np.take_along_axis(amount, order, -1), np.take_along_axis(weight, order, -1)
