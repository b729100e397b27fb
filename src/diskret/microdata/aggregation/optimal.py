"""Groups of one variable that lose least of all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.progress import Progress, silent


def optimal(
    values: NDArray[np.float64],
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """The groups with the least sum of squares around their means, of all there are.

    Some best groups hold values that follow each other, k to 2 k - 1 of them, and so are a shortest
    path through the sorted values; it takes about 2 k n steps.

    Parameters
    ----------
    values
        Numbers without gaps, ``(n, 1)``, n ≥ k.
    k
        Least number of records in a group.
    weights, seed, progress
        Without effect: records count alike (with weights, best groups may overlap), nothing is
        drawn, and nothing takes long.

    Returns
    -------
    numpy.ndarray
        Group of each record, from 0, ascending with the value, ``(n,)``.

    Raises
    ------
    InputError
        There are several variables, for which the best groups are out of reach.

    References
    ----------
    Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation,
    IEEE Transactions on Knowledge and Data Engineering 15.

    Examples
    --------
    Cutting the order into pairs would put 3 and 8 together:

    >>> optimal(np.array([[1.0], [2.0], [3.0], [8.0], [9.0]]), 2).ravel().tolist()
    [0, 0, 0, 1, 1]
    """
    from diskret.microdata.aggregation import _kernels

    if values.shape[1] != 1:
        raise InputError(
            f"the best groups can be found for one variable only, not for {values.shape[1]}"
        )
    order = np.argsort(values[:, 0], kind="stable")
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = _kernels.least_spread(values[order, 0], k)
    return groups
