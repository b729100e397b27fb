"""Every record for itself: the cheapest values to hide so that what is left is common enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.suppression.problem import Condition, Items

#: Whether a condition holds for each item, ``(c,)``, if it alone hides some keys.
Criterion = Callable[[Sequence[int]], NDArray[np.bool_]]


def visible(
    items: Items, price: NDArray[np.float64], criteria: Sequence[Criterion]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The cheapest set of keys for each item such that all criteria hold for what it shows.

    What other records hide plays no part, so each set is the best there is: sets are tried from
    the cheapest on. With enough records as the only criterion, what a record shows is shared
    by so many records of the original file: (k, 1)-anonymity (Gionis, Mazza and Tassa,
    k-anonymization revisited, ICDE 2008).

    Parameters
    ----------
    items
        The records.
    price
        Of a value of each key, ``(m,)``; inf: stays.
    criteria
        What has to hold.

    Returns
    -------
    tuple of numpy.ndarray
        What each item hides, ``(c, m)``, and for which items no set is enough, ``(c,)``.
    """
    hidden = np.zeros(items.codes.shape, dtype=bool)
    left = np.ones(len(items.codes), dtype=bool)
    for chosen in _sets(price):
        holds = left.copy()
        for criterion in criteria:
            holds &= criterion(chosen)
        hidden[np.ix_(holds, np.isin(np.arange(len(price)), chosen))] = True
        left &= ~holds
        if not left.any():
            break
    return hidden & (items.codes >= 0), left


def enough(items: Items, which: int, condition: Condition) -> Criterion:
    """Whether what is left agrees with as many records as the item needs."""

    def holds(hidden: Sequence[int]) -> NDArray[np.bool_]:
        kept = [q for q in condition.of if q not in hidden]
        return items.agreeing(kept) >= items.need[which]

    return holds


def _sets(price: NDArray[np.float64]) -> Iterator[tuple[int, ...]]:
    """All sets of keys that may be hidden, from the cheapest on; equal ones by number."""
    free = np.flatnonzero(np.isfinite(price))
    number = np.arange(1 << len(free))
    total = np.zeros(len(number))
    for bit, q in enumerate(free):
        total += price[q] * (number >> bit & 1)
    for at in np.argsort(total, kind="stable").tolist():
        yield tuple(int(q) for bit, q in enumerate(free) if at >> bit & 1)
