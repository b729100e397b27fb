"""The fewest gaps: one missing value makes a record agree with many that are too rare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.suppression.problem import Items
from diskret.microdata.suppression.state import State, started

#: At most so much of the gaps is taken back in one round.
_SHARE = 0.5


def shared(
    items: Items,
    subset: NDArray[np.int64],
    agree: NDArray[np.int64],
    price: NDArray[np.float64],
    rounds: int,
    work: int,
) -> State:
    """Few cheap gaps after which every record agrees with enough others.

    A record that hides some keys agrees with all that show the same in the others, and they
    with it. The record and the keys that help most for their price are chosen again and
    again (as in greedy multicover), gaps that are not needed are closed, and then, in rounds, a
    random part of the gaps is closed and made good in another way; what is cheaper is kept.
    The result depends on the items alone.

    Parameters
    ----------
    items
        Records of one group.
    subset
        The keys of each condition, as a number of bits, ``(t,)``.
    agree
        How many records each item agrees with so far, ``(t, c)``.
    price
        Of each set of keys, ``(2^m,)``; inf: not allowed.
    rounds, work
        Rounds of improvement at most, and operations in all of them together.
    """
    now, blank = started(items, subset, agree, price), started(items, subset, agree, price)
    spent = now.fill(price, None)
    now.close()
    blank.fill(_all_or_nothing(price), None)
    blank.close()
    now = best = min(now, blank, key=lambda state: state.cost)
    random = np.random.default_rng(0)
    for _ in range(min(rounds, work // max(1, spent)) if best.cost else 0):
        tried = now.copy()
        gaps = tried.gaps()
        most = max(2, int(_SHARE * len(gaps)))
        for at in random.permutation(len(gaps))[: int(random.integers(1, most + 1))].tolist():
            tried.show(*gaps[at], anyway=True)
        tried.fill(price, random)
        tried.close()
        if tried.cost <= now.cost:
            now = tried
        if now.cost < best.cost:
            best = now
    return best


def _all_or_nothing(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """Prices that leave one choice: all keys that may be hidden."""
    made = np.full(len(price), np.inf)
    most = int(np.flatnonzero(np.isfinite(price)).max(initial=0))
    made[most] = price[most]
    return made
