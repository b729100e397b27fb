"""Perturbed values made additive again, from themselves alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension
from diskret.tables.add_up import leaf_mask
from diskret.texts.numbers import Count

AdditiveMethod = Literal["ipf", "least"]

_SWEEPS = 200
#: Rounds in which inner cells that became negative are set to 0 and the rest is fitted again.
_ROUNDS = 4
_STEPS = 150
_LOWEST = int(np.iinfo(np.int64).min) // 4
_RAKINGS = 500
_NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """Values that add up, near perturbed ones that don't.

    Parameters
    ----------
    value
        Whole scaled units, shape of the table, int64; totals are the sums of their parts.
    before
        The perturbed values.
    """

    value: NDArray[np.int64]
    before: NDArray[np.int64]

    @property
    def change(self) -> NDArray[np.int64]:
        """What was changed beside the perturbation, shape of the table."""
        return self.value - self.before

    @property
    def changed(self) -> int:
        """How many cells no longer have the value that every other table shows for them."""
        return int(np.count_nonzero(self.change))

    def report(self, decimals: int = 0) -> dict[str, float | int]:
        """The price of additivity, in published units: what was lost of consistency.

        ``changed`` and ``share`` (percent of all cells), ``largest`` and ``mean`` second change,
        and ``added_variance``, the mean square of all second changes.
        """
        size = np.abs(self.change) / 10.0**decimals
        return {
            "cells": self.value.size,
            "changed": self.changed,
            "share": 100 * self.changed / self.value.size,
            "largest": float(size.max(initial=0)),
            "mean": float(size.mean()),
            "added_variance": float((size**2).mean()),
        }


def make_additive(
    dimensions: tuple[Dimension, ...],
    perturbed: NDArray[np.int64],
    method: AdditiveMethod = "least",
    *,
    nonnegative: bool = True,
) -> AdditiveFit:
    """Change perturbed values so that all totals are the sums of their parts.

    Nothing but the perturbed values is used, so the fit tells nothing beyond them; zeros stay
    zeros. The same cell gets other values in other tables: consistency is lost.

    Parameters
    ----------
    dimensions
        The variables of the table.
    perturbed
        Values of all cells in scaled units, int64.
    method
        ``"least"``: the least sum of squared changes. All cells have noise of the same variance,
        so this is also the best guess that the perturbed values allow.
        ``"ipf"``: iterative proportional fitting, from the grand total to the inner cells: each
        level is raked to the one above, so totals of few variables keep their values best.
    nonnegative
        Whether no value may become negative.

    Raises
    ------
    InputError
        The method is unknown, or values are negative where none can be, or to be raked.

    References
    ----------
    Fraser, B., Wooton, J. (2006), A proposed method for confidentialising tabular output to
    protect against differencing, UNECE work session on statistical data confidentiality (the
    second stage).

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> make_additive((region,), np.array([12, 8, 7])).value.tolist()
    [13, 7, 6]
    >>> make_additive((region,), np.array([12, 8, 7]), "ipf").value.tolist()
    [12, 6, 6]
    """
    if method not in ("ipf", "least"):
        raise InputError(f"additive fits are 'ipf' or 'least', not {method!r}")
    if (nonnegative or method == "ipf") and (perturbed < 0).any():
        number = Count((perturbed < 0).sum())
        raise InputError(
            f"{number} {number:value is|values are} negative; values that are raked, or that "
            "cannot be negative, have to be at least 0"
        )
    above = cells_above(dimensions)
    inner_cells = np.flatnonzero(leaf_mask(dimensions))
    flat = perturbed.ravel()
    # an inner cell below a total of 0 is 0
    alive = (above @ (flat == 0)) == 0
    kept = sparse.csr_array(above[np.flatnonzero(alive)])
    at = inner_cells[alive]
    if method == "ipf":
        shown = np.where((kept.T @ np.ones(len(at))) > 0, flat, 0).reshape(perturbed.shape)
        within = np.zeros(perturbed.size, dtype=bool)
        within[inner_cells[~alive]] = True
        start = raked(dimensions, np.where(within.reshape(perturbed.shape), 0, shown)).ravel()[at]
        target = kept.T @ start
    else:
        start = _least_squares(kept, flat.astype(float), nonnegative)
        target = flat.astype(float)
    inner = np.rint(start).astype(np.int64)
    floor = 0 if nonnegative or method == "ipf" else _LOWEST
    _settle(kept, floor, inner, target)
    value = (kept.T.astype(np.int64) @ inner).reshape(perturbed.shape)
    return AdditiveFit(value, perturbed)


def _settle(
    above: sparse.csr_array, floor: int, inner: NDArray[np.int64], target: NDArray[np.float64]
) -> None:
    """Round so that totals stay near their targets, too; `inner` is changed in place."""
    from diskret.adjustment.step_kernels import settle

    off = above.T @ inner.astype(float) - target
    start, cells = above.indptr.astype(np.int64), above.indices.astype(np.int64)
    settle(start, cells, floor, _SWEEPS, inner, off)


def _least_squares(
    above: sparse.csr_array, target: NDArray[np.float64], nonnegative: bool
) -> NDArray[np.float64]:
    """Inner cells whose sums are nearest to the targets, by sparse steps (LSMR)."""
    from scipy.sparse.linalg import lsmr

    found = np.zeros(above.shape[0])
    free = np.ones(len(found), dtype=bool)
    for _ in range(_ROUNDS):
        if not free.any():
            break
        sums = sparse.csr_array(above[np.flatnonzero(free)].T)
        start = found[free]
        found[:] = 0.0
        found[free] = lsmr(sums, target, atol=1e-6, btol=1e-6, maxiter=_STEPS, x0=start)[0]
        below = found < 0
        if not nonnegative or not below.any():
            break
        free &= ~below
    return np.maximum(found, 0.0) if nonnegative else found


def raked(dimensions: tuple[Dimension, ...], value: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rake all cells to the totals above them, the coarsest first.

    Cells of one depth in each variable are a table whose margins are the cells one step above in
    one of the variables. These are raked first, so they contradict each other nowhere; only zeros
    can keep margins from being met.

    `value`: values ≥ 0 to start from, shape of the table. The grand total keeps its value. Returns
    shape of the table, float64.

    Source: Deming, W. E., Stephan, F. F. (1940), On a least squares adjustment of a sampled
    frequency table when the expected marginal totals are known, Annals of Mathematical Statistics
    11.

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
    for _ in range(_RAKINGS):
        worst = 0.0
        for axis, own, margin in margins:
            now = np.add.reduceat(block, own.first, axis=axis)
            factor = np.divide(margin, now, out=np.ones_like(now), where=now > 0)
            worst = max(worst, float(np.abs(now - margin)[now > 0].max(initial=0)))
            block = block * np.take(factor, own.of, axis=axis)
        if worst < _NEAR * max(1.0, float(block.max(initial=0))):
            break
    value[here] = block


def cells_above(dimensions: tuple[Dimension, ...]) -> sparse.csr_array:
    """Which cells each inner cell is part of, ``(inner cells, cells)``, ones, in C order.

    Its transpose adds inner cells up to all cells.

    >>> cells_above((Dimension("x", Hierarchy.flat(["a", "b"])),)).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    each = [_codes_above(d.hierarchy) for d in dimensions]
    return sparse.csr_array(reduce(lambda a, b: sparse.kron(a, b, format="csr"), each))


def _codes_above(tree: Hierarchy) -> sparse.csr_array:
    above = [tree.ancestors[leaf] for leaf in tree.leaves.tolist()]
    line = np.repeat(np.arange(len(above)), [len(codes) for codes in above])
    column = np.concatenate(above)
    ones = np.ones(len(column))
    return sparse.csr_array((ones, (line, column)), shape=(len(above), len(tree)))
