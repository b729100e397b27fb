"""Parameters that an office keeps secret, estimated from what it publishes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.attack.equations import equations
from diskret.attack.noise.feasible import least_noise
from diskret.errors import InputError
from diskret.tables import Perturbed, Published
from diskret.tables.perturbed import stands_for


@dataclass(frozen=True)
class HiddenParameters:
    """What a published table tells of the perturbation table behind it.

    Parameters
    ----------
    variance
        Estimated variance of the noise of counts that are not small; nan without an equation to
        estimate it from.
    equations
        Number of equations between such counts that it was estimated from.
    least_noise
        The largest noise D is at least this.
    missing
        Numbers from 1 up that no cell shows: 1 to this. If many cells are published, these are the
        small counts that are never published.
    """

    variance: float
    equations: int
    least_noise: int
    missing: int


def hidden_parameters(published: Published, *, large: int = 10) -> HiddenParameters:
    """Estimate variance, largest noise and unpublished small counts from a published table.

    Parameters
    ----------
    published
        The published table, of counts.
    large
        From which published value on counts are taken for large ones, which all have noise of the
        same variance; at least 1.

    Raises
    ------
    InputError
        The table is none of counts.

    Notes
    -----
    A total and its k parts miss each other by k + 1 noises, which are independent in pairs: the
    mean square of what they miss is (k + 1) V. Each equation says as much about V as any other,
    so all have the same weight. A total of one part is the same cell and tells nothing.

    References
    ----------
    Asghar & Kaafar (2020), Averaging attacks on bounded noise-based disclosure control
    algorithms, PoPETs 2020(2), arXiv:1902.06414.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> shown = np.array([40, 17, 20])
    >>> table = Published("t", (Dimension("sex", Hierarchy.flat(["f", "m"])),), "count", True, 0,
    ...     shown, shown < 0, shown < 0, changed="cell_key")
    >>> hidden_parameters(table)
    HiddenParameters(variance=3.0, equations=1, least_noise=1, missing=16)
    """
    if large < 1:
        raise InputError(f"large= is at least 1, not {large}")
    least = least_noise(published)
    known = equations(stands_for(published, Perturbed("noise", largest=0)))
    shown = ~(published.suppressed | published.empty) & (published.value >= large)
    terms = abs(known.matrix)
    of_terms = terms.sum(axis=1)
    usable = (terms @ shown.ravel()[known.cell].astype(np.int64) == of_terms) & (of_terms > 2)
    missed = (known.matrix @ published.value.ravel()[known.cell])[usable].astype(np.float64)
    positive = published.value[published.value > 0]
    return HiddenParameters(
        float((missed**2 / of_terms[usable]).mean()) if usable.any() else float("nan"),
        int(usable.sum()),
        least,
        int(positive.min()) - 1 if len(positive) else 0,
    )
