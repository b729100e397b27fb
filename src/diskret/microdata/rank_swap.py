"""Rank swapping: values are exchanged between records of similar rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Swap:
    """Which record gets whose value.

    Parameters
    ----------
    source
        For each record the one whose value it gets, ``(n,)``, intp. A permutation, and its own
        inverse: values are exchanged in pairs.
    window
        Share of the ranks that exchanged values were apart at most.
    """

    source: NDArray[np.intp]
    window: float

    @property
    def exchanged(self) -> int:
        """Number of records that have a partner."""
        return int((self.source != np.arange(len(self.source))).sum())


def swapped(
    values: Numbers,
    window: float,
    draws: NDArray[np.uint64],
    groups: NDArray[np.intp] | None = None,
) -> Swap:
    """Exchange the values of pairs of records whose ranks are close.

    From the smallest value on, each record that has no partner yet gets one of those without among
    the next ranks, all equally likely. So each value moves at most once, and none is lost. Few
    records at the upper end find nobody.

    Parameters
    ----------
    values
        ``(n,)``, without missing values; equal ones rank in their order.
    window
        Share of the n ranks that partners are apart at most, between 0 and 1; at least one rank.
    draws
        Random numbers of 64 bits, ``(n,)``.
    groups
        Records are ranked and exchanged within groups, ``(n,)``; None: among all.

    References
    ----------
    R. A. Moore (1996), Controlled data-swapping techniques for masking public use microdata sets,
    US Bureau of the Census.

    Examples
    --------
    >>> draws = np.random.default_rng(1).bit_generator.random_raw(8)
    >>> values = np.array([7.0, 1, 5, 3, 2, 8, 4, 6])
    >>> values[swapped(values, 0.25, draws).source].tolist()
    [5.0, 3.0, 7.0, 1.0, 4.0, 6.0, 2.0, 8.0]
    """
    order, size, behind = _ranked(values, groups)
    return Swap(_exchanged(order, size, behind, window, draws), window)


def swapped_within(
    values: Numbers,
    enough: Callable[[Numbers], bool],
    draws: NDArray[np.uint64],
    groups: NDArray[np.intp] | None = None,
) -> Swap:
    """Swap within the widest window whose result is still good enough.

    The window is found by bisection, the same draws being used each time; the result that is
    returned has been looked at.

    Parameters
    ----------
    values, draws, groups
        As for `swapped`.
    enough
        Whether swapped values are good enough.

    Raises
    ------
    InputError
        They are not, even when only neighbours are exchanged.
    """
    order, size, behind = _ranked(values, groups)
    largest = int(size.max(initial=1))
    best: Swap | None = None
    low, high = 1, max(1, largest - 1)
    while low <= high:
        reach = (low + high) // 2
        source = _exchanged(order, size, behind, reach / largest, draws)
        if enough(values[source]):
            best, low = Swap(source, reach / largest), reach + 1
        else:
            high = reach - 1
    if best is None:
        raise InputError(
            "even exchanging the values of neighbouring ranks changes more than that; allow for "
            "more, or keep the largest values out with top="
        )
    return best


def ranks(window: float, n: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of n ranks a share is, at least one."""
    return np.maximum(1, np.floor(window * n * (1 + 1e-12)).astype(np.int64))


def at_ends(values: Numbers, bottom: float, top: float) -> tuple[NDArray[np.bool_], ...]:
    """Which values are among the smallest, and among the largest.

    `values`: ``(n,)``, without missing values. `bottom`, `top`: shares of the values, together
    below 1. Values equal to the last one belong to them, too.
    """
    n = len(values)
    low, high = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    if (few := int(bottom * n * (1 + 1e-12))) > 0:
        low = values <= np.partition(values, few - 1)[few - 1]
    if (few := int(top * n * (1 + 1e-12))) > 0:
        high = (values >= np.partition(values, n - few)[n - few]) & ~low
    return low, high


def _ranked(
    values: Numbers, groups: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """Records by rank; for each rank the size of its group, and how many of it are behind."""
    n = len(values)
    if groups is None:
        order = np.argsort(values, kind="stable")
        return order, np.full(n, n, dtype=np.int64), np.arange(n)[::-1].astype(np.int64)
    order = np.lexsort((values, groups))
    count = np.unique(groups, return_counts=True)[1].astype(np.int64)
    size = np.repeat(count, count)
    return order, size, np.repeat(np.cumsum(count), count) - 1 - np.arange(n)


def _exchanged(
    order: NDArray[np.intp],
    size: NDArray[np.int64],
    behind: NDArray[np.int64],
    window: float,
    draws: NDArray[np.uint64],
) -> NDArray[np.intp]:
    from diskret.microdata.swap_kernels import partners

    source = np.empty(len(order), dtype=np.intp)
    source[order] = order[partners(np.minimum(ranks(window, size), behind), draws)]
    return source
