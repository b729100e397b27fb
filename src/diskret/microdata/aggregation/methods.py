"""The methods of microaggregation by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.aggregation.clustered import clustered_pca, clustered_projection
from diskret.microdata.aggregation.nearby import (
    gower,
    mdav,
    mdav_mixed,
    random_groups,
    random_nearest,
    vmdav,
)
from diskret.microdata.aggregation.optimal import optimal
from diskret.microdata.aggregation.ranked import pca, pca_robust, projection, single
from diskret.microdata.aggregation.rmd import rmd


@dataclass(frozen=True)
class Method:
    """A way to divide records into groups.

    Parameters
    ----------
    partition
        Called as ``partition(values, k, weights=, seed=, progress=, **options)`` with comparable
        numbers without gaps, ``(n, p)``, n ≥ k, and weights or None; gives the group of each
        record, from 0, ``(n,)``, int64, with k records or more each. Records come in ascending
        order of their values, so what is done with equally good choices depends on positions
        alone.
    options
        Names of the further options it takes.
    draws
        Whether it needs a seed.
    categories
        Whether variables may be categories (codes); `partition` then takes ``scales``.
    alone
        Whether each variable has groups of its own; `partition` is called for one after another.
    robust
        Whether a robust covariance is estimated, without variables that follow from others.
    scales
        Whether `partition` makes numbers comparable in its own way, unless ``scale=False``.
    """

    partition: Callable[..., NDArray[np.int64]]
    options: tuple[str, ...] = ()
    draws: bool = False
    categories: bool = False
    alone: bool = False
    robust: bool = False
    scales: bool = False


METHODS: Mapping[str, Method] = {
    "mdav": Method(mdav),
    "mdav_mixed": Method(mdav_mixed, categories=True),
    "gower": Method(gower, categories=True),
    "vmdav": Method(vmdav, options=("gamma",)),
    "random": Method(random_groups, draws=True),
    "random_nearest": Method(random_nearest, draws=True),
    "rmd": Method(rmd, robust=True, scales=True),
    "single": Method(single),
    "pca": Method(pca),
    "pca_robust": Method(pca_robust, robust=True),
    "projection": Method(projection),
    "clustered_pca": Method(clustered_pca, options=("clusters", "transform")),
    "clustered_projection": Method(clustered_projection, options=("clusters", "transform")),
    "individual": Method(single, alone=True),
    "optimal": Method(optimal, alone=True),
}
