"""The methods of microaggregation by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.aggregation.nearby import (
    gower,
    mdav,
    mdav_mixed,
    random_groups,
    random_nearest,
    vmdav,
)


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
    """

    partition: Callable[..., NDArray[np.int64]]
    options: tuple[str, ...] = ()
    draws: bool = False
    categories: bool = False
    alone: bool = False


METHODS: Mapping[str, Method] = {
    "mdav": Method(mdav),
    "mdav_mixed": Method(mdav_mixed, categories=True),
    "gower": Method(gower, categories=True),
    "vmdav": Method(vmdav, options=("gamma",)),
    "random": Method(random_groups, draws=True),
    "random_nearest": Method(random_nearest, draws=True),
}
