"""What published sums with noise tell together: of two measures, and of a total and its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables import Published


def ratio_estimates(wanted: Published, other: Published, known: Any) -> NDArray[np.float64]:
    """Estimate sums from those of another measure that the attacker knows.

    Where noise is the same share of both, as it is if both have the same keys and a single unit
    contributes, x̂/ŷ = x/y: who knows y knows x.

    Parameters
    ----------
    wanted, other
        Two published measures of the same cells.
    known
        True values of the other measure, shape of the tables, in its own unit; NaN: not known.

    Returns
    -------
    numpy.ndarray
        Estimates in the measure's own unit, shape of the tables; NaN where there is none.

    Raises
    ------
    InputError
        The tables are not about the same cells, or `known` has another shape.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> def table(name, values):
    ...     values, by = np.array(values), (Dimension("firm", Hierarchy.flat(["a", "b"])),)
    ...     none = np.zeros(values.shape, bool)
    ...     return Published(name, by, name, False, 0, values, none, none, changed="cell_key")
    >>> wages, costs = table("wages", [285, 77, 208]), table("costs", [403, 110, 312])
    >>> ratio_estimates(wages, costs, [400, 100, 300]).round().tolist()
    [283.0, 70.0, 200.0]
    """
    if wanted.dimensions != other.dimensions or wanted.where != other.where:
        raise InputError(
            f"{wanted.name!r} and {other.name!r} are not about the same cells; give two measures "
            "of one table"
        )
    true = np.asarray(known, dtype=np.float64)
    if true.shape != wanted.shape:
        raise InputError(f"known= has the shape {true.shape}, the tables {wanted.shape}")
    x, y = _shown(wanted), _shown(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y != 0, x * true / y, np.nan)


def difference_estimates(published: Published) -> dict[str, NDArray[np.float64]]:
    """Estimate each cell by the published total above it minus the other parts of that.

    Returns
    -------
    dict
        Dimension → estimates in the measure's own unit, shape of the table; NaN where there is
        none: for totals of the dimension, for the only part of a total, which is the same cell,
        and where something is withheld.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> values = np.array([103, 61, 38])
    >>> none = np.zeros(3, bool)
    >>> by = (Dimension("region", Hierarchy.flat(["N", "S"])),)
    >>> table = Published("t", by, "sales", False, 0, values, none, none, changed="cell_key")
    >>> difference_estimates(table)["region"].tolist()
    [nan, 65.0, 42.0]
    """
    shown = _shown(published)
    found: dict[str, NDArray[np.float64]] = {}
    for axis, dimension in enumerate(published.dimensions):
        along = np.moveaxis(shown, axis, 0)
        estimate = np.full(along.shape, np.nan)
        for parent, children in enumerate(dimension.hierarchy.children):
            if len(children) > 1:
                parts = along[children]
                estimate[children] = along[parent] - (parts.sum(axis=0) - parts)
        found[dimension.name] = np.moveaxis(estimate, 0, axis)
    return found


def _shown(published: Published) -> NDArray[np.float64]:
    """Published values in the measure's own unit; NaN where there is none."""
    value = published.value / 10.0**published.decimals
    return np.where(published.suppressed, np.nan, value)
