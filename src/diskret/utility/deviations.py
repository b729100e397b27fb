"""How far published values lie from original ones: absolute, relative, by square roots."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Shares of cells for which the largest deviation is told.
QUANTILES = (0.5, 0.9, 0.95, 0.99)
#: Relative deviations up to which cells are counted.
RELATIVE_BOUNDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)

NAN = math.nan

Numbers = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class Deviations:
    """Deviations of the cells whose original value is not 0, in the measure's own unit.

    Cells whose published value is 0 are among them: they are lost, so they count. All figures
    are NaN where there is no cell.

    Parameters
    ----------
    cells
        Number of cells with an original value other than 0 that are published with a value.
    unchanged
        How many of them are published with the original value.
    mean
        Mean absolute deviation (AAD), Σ|x' − x| / cells.
    largest
        Largest absolute deviation.
    quantiles
        Smallest deviations that are not exceeded by at least `QUANTILES` of the cells.
    bias
        Mean deviation with its sign, Σ(x' − x) / cells.
    mse
        Mean squared deviation.
    relative
        Mean relative deviation (RAD) |x' − x| / |x|; 0.05 are 5 %.
    relative_largest, relative_quantiles
        The largest, and those not exceeded by `QUANTILES`.
    relative_shares
        Shares of cells whose relative deviation is at most each of `RELATIVE_BOUNDS`.
    root
        Mean of |√x' − √x| (D3); NaN if a value is negative.
    """

    cells: int
    unchanged: int
    mean: float
    largest: float
    quantiles: tuple[float, ...]
    bias: float
    mse: float
    relative: float
    relative_largest: float
    relative_quantiles: tuple[float, ...]
    relative_shares: tuple[float, ...]
    root: float

    @property
    def rmse(self) -> float:
        """Square root of the mean squared deviation."""
        return math.sqrt(self.mse)

    @property
    def share_unchanged(self) -> float:
        """Share of cells that are published with the original value."""
        return self.unchanged / self.cells if self.cells else NAN


@dataclass(frozen=True)
class Zeros:
    """Zeros before and after, among the cells that are published with a value.

    Parameters
    ----------
    cells
        Cells whose original value is 0.
    false_zeros
        Cells that are published as 0 and are not.
    false_nonzeros
        Cells that are 0 and are published as something else.
    largest
        The largest value, without its sign, that is published for a 0.
    """

    cells: int
    false_zeros: int
    false_nonzeros: int
    largest: float


@dataclass(frozen=True)
class Hellinger:
    """Distance of two tables that weighs small cells more than large ones.

    All figures are NaN where a value is negative.

    Parameters
    ----------
    distance
        √(½ Σ(√x' − √x)²).
    bound
        What the distance cannot exceed, √((Σx + Σx') / 2).
    scaled
        The same distance of the shares x / Σx and x' / Σx', from 0 to 1.
    utility
        1 − distance / √Σx; 1 where nothing is changed.
    """

    distance: float
    bound: float
    scaled: float
    utility: float


def deviations(
    original: NDArray[np.int64], protected: NDArray[np.int64], decimals: int = 0
) -> Deviations:
    """Figures of the deviations of all cells whose original value is not 0.

    Values are in units of ``10**-decimals``, ``(cells,)``.

    AAD, RAD and D3 as in the *Handbook on Statistical Disclosure Control*, 2nd ed., section on
    information loss of the cell key method. Zeros are told by the **original** value: told by
    the published one, cells that were set to 0 would not count at all.

    >>> found = deviations(np.array([0, 1, 10, 100]), np.array([0, 0, 12, 99]))
    >>> found.cells, found.mean, found.largest, found.unchanged
    (3, 1.3333333333333333, 2.0, 0)
    """
    there = original != 0
    before, after = original[there], protected[there]
    cells = len(before)
    if not cells:
        none = (NAN,) * len(QUANTILES)
        shares = (NAN,) * len(RELATIVE_BOUNDS)
        return Deviations(0, 0, NAN, NAN, none, NAN, NAN, NAN, NAN, none, shares, NAN)
    unit = 10.0**decimals
    signed = (after - before) / unit
    size = np.abs(signed)
    relative = size / (np.abs(before) / unit)
    ordered, relative_ordered = np.sort(size), np.sort(relative)
    return Deviations(
        cells=cells,
        unchanged=cells - int(np.count_nonzero(size)),
        mean=float(size.mean()),
        largest=float(ordered[-1]),
        quantiles=_quantiles(ordered),
        bias=float(signed.mean()),
        mse=float(np.mean(signed**2)),
        relative=float(relative.mean()),
        relative_largest=float(relative_ordered[-1]),
        relative_quantiles=_quantiles(relative_ordered),
        relative_shares=tuple(
            (np.searchsorted(relative_ordered, RELATIVE_BOUNDS, side="right") / cells).tolist()
        ),
        root=float(np.abs(_roots(after, unit) - _roots(before, unit)).mean()),
    )


def zeros(original: NDArray[np.int64], protected: NDArray[np.int64], decimals: int = 0) -> Zeros:
    """Zeros before and after.

    >>> zeros(np.array([0, 0, 1]), np.array([0, 3, 0]))
    Zeros(cells=2, false_zeros=1, false_nonzeros=1, largest=3.0)
    """
    zero = original == 0
    published = np.abs(protected[zero])
    return Zeros(
        cells=len(published),
        false_zeros=int(np.count_nonzero(~zero & (protected == 0))),
        false_nonzeros=int(np.count_nonzero(published)),
        largest=float(published.max(initial=0)) / 10**decimals,
    )


def hellinger(original: Numbers, protected: Numbers, decimals: int = 0) -> Hellinger:
    """Hellinger distance of all cells, zeros included.

    Gomatam & Karr (2003), Shlomo (2007); the utility as in the R package SmallCountRounding.

    >>> found = hellinger(np.array([4, 0]), np.array([0, 9]))
    >>> round(found.distance, 3), round(found.bound, 3), found.scaled
    (2.55, 2.55, 1.0)
    """
    unit = 10.0**decimals
    before, after = _roots(original, unit), _roots(protected, unit)
    total, published = float(np.sum(before**2)), float(np.sum(after**2))
    distance = _distance(before, after)
    if not total:
        scaled = NAN if math.isnan(published) else float(published > 0)
        return Hellinger(distance, math.sqrt(published / 2), scaled, 1.0 - scaled)
    rest = _distance(before / math.sqrt(total), after / math.sqrt(published)) if published else 1.0
    return Hellinger(
        distance=distance,
        bound=math.sqrt((total + published) / 2),
        scaled=min(rest, 1.0),
        utility=1 - distance / math.sqrt(total),
    )


def _distance(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    return math.sqrt(float(np.sum((after - before) ** 2)) / 2)


def _roots(values: Numbers, unit: float) -> NDArray[np.float64]:
    """Square roots; NaN everywhere if one does not exist."""
    if values.size and values.min() < 0:
        return np.full(values.shape, NAN)
    return np.sqrt(values / unit)


def _quantiles(ordered: NDArray[np.float64]) -> tuple[float, ...]:
    # the least rank that holds the share; 0.95 * 20 must not become 20 by a rounding error
    ranks = [math.ceil(round(share * len(ordered), 6)) - 1 for share in QUANTILES]
    return tuple(float(ordered[rank]) for rank in ranks)
