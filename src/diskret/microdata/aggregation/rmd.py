"""Groups that begin with the records farthest from the bulk of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.aggregation.nearby import led
from diskret.progress import Progress, silent
from diskret.risk.robust import robust_scale, robust_scatter


def rmd(
    values: NDArray[np.float64],
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    scale: bool = True,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Groups of k records around those that are farthest from the bulk (RMD).

    Of the records without a group the one with the largest robust Mahalanobis distance
    ([`robust_scatter`][diskret.risk.robust.robust_scatter]) forms one with the k - 1 nearest to
    it. Near is Euclidean, in robust deviations from the medians unless `scale` is False. Fewer than
    k that are left in the end join the groups with the nearest means. Distances between all pairs
    are never computed, and variables that follow from others (a total and its parts) are no
    obstacle.

    Parameters
    ----------
    values
        Numbers without gaps, ``(n, p)``, n ≥ k.
    k
        Least number of records in a group.
    weights, seed
        Without effect: records count alike, and nothing is drawn.
    scale
        Whether what is near is looked for in robust deviations, so that units do not matter; False:
        as the numbers are. Which records lie far depends on units in neither case.
    progress
        Callback.

    Returns
    -------
    numpy.ndarray
        Group of each record, from 0, ``(n,)``, with k to 2 k - 1 records each.

    References
    ----------
    Templ and Meindl (2008), Robust statistics meets SDC, Privacy in Statistical Databases.

    Examples
    --------
    >>> values = np.array([[1.0, 1], [2, 3], [3, 1], [4, 2], [80, 9], [90, 1]])
    >>> rmd(values, 2).tolist()
    [2, 1, 2, 1, 0, 0]
    """
    comparable = values
    if scale:
        center, spread = robust_scale(values)
        comparable = (values - center) / spread
    # the last digits of equal distances may differ
    far = robust_scatter(values).distances(values).round(9)
    return led(comparable, np.argsort(-far, kind="stable"), k, progress=progress)
