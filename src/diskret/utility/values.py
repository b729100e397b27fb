"""How far the values of records are from what they were, variable by variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskret.errors import InputError
from diskret.texts.numbers import Count
from diskret.utility.deviations import NAN


@dataclass(frozen=True)
class ValueLoss:
    """What happened to the values of one numeric variable.

    S is the standard deviation of the original values. A figure is NaN where it does not exist.

    Parameters
    ----------
    compared
        Records with a value before and after.
    changed
        Those of them with another value.
    suppressed
        Records with a value before and none after.
    filled
        Records with none before and one after.
    il1s
        Mean of |x' − x| / (√2 S) over the compared records (IL1s; Yancey, Winkler and Creecy
        2002).
    relative
        Mean of |x' − x| / |x| over those whose original value is not 0 (IL1).
    zeros
        Compared records whose original value is 0.
    squares
        Σ(x' − x)² / Σ(x − mean)² over the compared records: the share of the variance that is
        lost (SSE/SST of microaggregation).
    distance
        Mean of (2/π) arctan(|x' − x| / S), over the records with a value before; a suppressed
        value counts 1 (one term of Młodak's λ).
    """

    compared: int
    changed: int
    suppressed: int
    filled: int
    il1s: float
    relative: float
    zeros: int
    squares: float
    distance: float


def value_loss(before: NDArray[np.float64], after: NDArray[np.float64]) -> ValueLoss:
    """Compare the values of one numeric variable of the same records.

    Parameters
    ----------
    before, after
        ``(n,)``, NaN where a value is missing.

    Notes
    -----
    Distances are in standard deviations of the original values, so that a variable in EUR and the
    same in thousand EUR lose the same.

    Examples
    --------
    >>> found = value_loss(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    >>> round(found.il1s, 4), round(found.relative, 4), found.squares, round(found.distance, 4)
    (0.2357, 0.1111, 0.5, 0.1667)
    """
    old, new = ~np.isnan(before), ~np.isnan(after)
    both = old & new
    x, y = before[both], after[both]
    moved = np.abs(y - x)
    scale = _deviation(before[old])
    size = np.abs(x)
    hidden = int((old & ~new).sum())
    per_record = ratio(moved, np.full(len(x), scale))
    there = hidden + len(x)
    return ValueLoss(
        compared=len(x),
        changed=int((moved > 0).sum()),
        suppressed=hidden,
        filled=int((new & ~old).sum()),
        il1s=mean(per_record / np.sqrt(2)),
        relative=mean(moved[size > 0] / size[size > 0]),
        zeros=int((size == 0).sum()),
        squares=_share(float(moved @ moved), float(np.sum((x - x.mean()) ** 2)) if len(x) else 0),
        distance=(float(np.sum(2 / np.pi * np.arctan(per_record))) + hidden) / there
        if there
        else NAN,
    )


def category_distance(
    before: NDArray[np.int64], after: NDArray[np.int64], ranks: int | None = None
) -> float:
    """Mean distance of categories, one term of Młodak's λ: 0 if all are equal, at most 1.

    Parameters
    ----------
    before, after
        Codes of the same records, ``(n,)``, -1 where a value is missing. Records without a value
        before do not count; a suppressed value counts 1.
    ranks
        None: the variable is nominal, a pair of values counts **0 if they are equal and 1 if
        not**. Number r of ordered categories, whose codes are 0 … r − 1: it counts
        |difference of codes| / (r − 1).

    Examples
    --------
    >>> before, after = np.array([0, 1, 2, 2, -1]), np.array([0, 1, 1, -1, 1])
    >>> category_distance(before, after), category_distance(before, after, ranks=3)
    (0.5, 0.375)
    """
    held = before >= 0
    x, y = before[held], after[held]
    if not len(x):
        return NAN
    apart = (x != y).astype(np.float64)
    if ranks is not None:
        apart = np.abs(y - x) / max(ranks - 1, 1)
    return float(np.mean(np.where(y < 0, 1.0, apart)))


def _deviation(values: NDArray[np.float64]) -> float:
    if len(values) < 2:
        return NAN
    return float(np.std(values, ddof=1)) if np.ptp(values) else 0.0


def ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Part / whole; 0 where nothing moved, NaN where something did and there is no scale."""
    out = np.where(part == 0, 0.0, NAN)
    return np.divide(part, whole, out=out, where=whole > 0)


def _share(part: float, whole: float) -> float:
    if not part:
        return 0.0
    return part / whole if whole else NAN


def mean(values: NDArray[np.float64]) -> float:
    """The mean; NaN of nothing."""
    return float(np.mean(values)) if values.size else NAN


def entropy_loss(joint: ArrayLike, published: ArrayLike | None = None) -> float:
    """Information loss by entropy, EBIL: Σ over records of H(original | published), in bits.

    Parameters
    ----------
    joint
        Records by original category (rows) and published category (columns), ``(K, L)``: counted
        in the two files, or, for PRAM with a matrix P and frequencies t of the original
        categories, expected as ``t[:, None] * P``.
    published
        Frequencies of the published categories, ``(L,)``. None: the sums of the columns.

    Raises
    ------
    InputError
        Numbers are negative or not finite, or the shapes do not belong together.

    Notes
    -----
    P. Kooiman, L. Willenborg and J. Gouweleeuw (1998), *PRAM: a method for disclosure limitation
    of microdata*; with P(original = k | published = l) by Bayes' rule from `joint`.

    Examples
    --------
    >>> frequencies = np.array([60, 40])
    >>> stays = np.array([[0.9, 0.1], [0.15, 0.85]])  # invariant: 60 · 0.1 = 40 · 0.15
    >>> round(entropy_loss(frequencies[:, None] * stays), 3)
    52.533
    >>> entropy_loss(np.diag([60, 40])), entropy_loss([[50, 50], [50, 50]])
    (0.0, 200.0)
    """
    cells = np.asarray(joint, dtype=np.float64)
    if cells.ndim != 2 or not np.isfinite(cells).all() or (cells < 0).any():
        raise InputError("joint= must be a table of finite numbers from 0 on, original x published")
    columns = cells.sum(axis=0)
    shown = columns if published is None else np.asarray(published, dtype=np.float64)
    if shown.shape != columns.shape:
        number = Count(len(columns))
        raise InputError(
            f"published= has shape {shown.shape}; {number} published "
            f"{number:category is|categories are} expected"
        )
    at, to = np.nonzero(cells)
    return _entropy(cells[at, to], columns[to], shown[to])


def counted_entropy(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """`entropy_loss` of the joint frequencies of codes from -1 (missing) on, ``(n,)``.

    >>> counted_entropy(np.array([0, 1, 1, -1]), np.array([0, 0, 1, 1]))
    4.0
    """
    width = int(after.max()) + 2
    pairs, counts = np.unique((before + 1) * width + after + 1, return_counts=True)
    columns = np.bincount(after + 1)[pairs % width]
    return _entropy(counts, columns, columns)


def _entropy(cells: NDArray[Any], columns: NDArray[Any], shown: NDArray[Any]) -> float:
    """Σ shown · H, of the cells that are not 0, each with the sum of its column."""
    share = cells / columns
    return float(np.sum(shown * share * -np.log2(share))) + 0.0  # no -0.0
