"""Iterative proportional fitting of a whole table, from its grand total downwards."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension

_STEPS = 500
_NEAR = 1e-9


def raked(dimensions: tuple[Dimension, ...], value: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rake all cells to the totals above them, the coarsest first.

    Cells of one depth in each variable are a table whose margins are the cells one step above in
    one of the variables. These are raked first, so they contradict each other nowhere; only zeros
    can keep margins from being met.

    Parameters
    ----------
    dimensions
        The variables of the table.
    value
        Values ≥ 0 to start from, shape of the table. The grand total keeps its value.

    Returns
    -------
    ndarray
        Shape of the table, float64.

    References
    ----------
    Deming, W. E., Stephan, F. F. (1940), On a least squares adjustment of a sampled frequency
    table when the expected marginal totals are known, Annals of Mathematical Statistics 11.

    Examples
    --------
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> raked((region,), np.array([12, 8, 8])).tolist()
    [12.0, 6.0, 6.0]
    """
    levels = [_levels(d.hierarchy) for d in dimensions]
    found = value.astype(np.float64)
    depths = product(*(range(len(own)) for own in levels))
    for depth in sorted(depths, key=sum):
        if sum(depth):
            _rake(found, [own[i] for own, i in zip(levels, depth, strict=True)])
    return found


@dataclass(frozen=True, eq=False)
class _Level:
    """The codes of one depth, those with the same parent side by side.

    `parent` are their parents, each once; `first` is where the codes of each parent begin, and
    `of` the number of each code's parent among them.
    """

    code: NDArray[np.int64]
    parent: NDArray[np.int64]
    first: NDArray[np.int64]
    of: NDArray[np.int64]


def _levels(tree: Hierarchy) -> list[_Level]:
    found: list[_Level] = []
    for depth in range(int(tree.level.max()) + 1):
        code = np.flatnonzero(tree.level == depth)
        code = code[np.argsort(tree.parent[code], kind="stable")]
        parent, first, of = np.unique(tree.parent[code], return_index=True, return_inverse=True)
        found.append(_Level(code, parent.astype(np.int64), first, of))
    return found


def _rake(value: NDArray[np.float64], levels: list[_Level]) -> None:
    """Rake the cells of one depth to the totals one step above, in place."""
    here = np.ix_(*(own.code for own in levels))
    block = value[here]
    margins: list[tuple[int, _Level, NDArray[np.float64]]] = []
    for axis, own in enumerate(levels):
        if own.parent[0] >= 0:
            codes = [own.parent if i == axis else other.code for i, other in enumerate(levels)]
            margins.append((axis, own, value[np.ix_(*codes)]))
    for _ in range(_STEPS):
        worst = 0.0
        for axis, own, margin in margins:
            now = np.add.reduceat(block, own.first, axis=axis)
            factor = np.divide(margin, now, out=np.ones_like(now), where=now > 0)
            worst = max(worst, float(np.abs(now - margin)[now > 0].max(initial=0)))
            block = block * np.take(factor, own.of, axis=axis)
        if worst < _NEAR * max(1.0, float(block.max(initial=0))):
            break
    value[here] = block
