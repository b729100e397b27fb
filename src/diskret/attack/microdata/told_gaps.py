"""Missing values of keys that are not missing: another column of the same file tells them.

A district that was suppressed is known if the name of the district leaves, too, or the number of
a household whose other members show theirs. A reader learns from the file alone which value of the
key goes with which value of the other column; nothing else has to be known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

#: A column that tells nothing may go with a key by chance; so seldom among all that are looked at.
_CHANCE = 0.001


@dataclass(frozen=True, eq=False)
class Told:
    """A key of which other columns tell missing values."""

    numbers: Numbers  # the values of the key, told ones filled in, -1 where nothing tells, (n,)
    by: tuple[str, ...]  # the columns that tell some


def told(key: Numbers, others: Mapping[str, Numbers], pairs: int) -> Told:
    """Fill in the missing values of a key that single other columns tell.

    A column tells a key if each of its values goes with one value of the key wherever both are
    shown, and no chance explains it. If each value of the key goes with one of the column, too, as
    codes and their names do, other values of the column tell a value of the key that is not shown.

    Parameters
    ----------
    key
        Its values as numbers, -1 where missing, ``(n,)``.
    others
        The same of other columns of the file, by name.
    pairs
        How many pairs of columns the file has, of which one could go with the other by chance.

    Examples
    --------
    >>> town = np.arange(40) % 4
    >>> code = np.where(np.arange(40) == 5, -1, town)
    >>> found = told(code, {"town": town}, pairs=1)
    >>> int(found.numbers[5]), found.by
    (1, ('town',))
    """
    filled, by = key, list[str]()
    gaps = np.flatnonzero(key == -1)
    if not len(gaps) or len(gaps) == len(key):
        return Told(key, ())
    often = np.bincount(key[key >= 0])
    share = np.log(often[often > 0] / often.sum())
    for name, other in others.items():
        means = _meanings(key, other, share, log(_CHANCE / max(pairs, 1)))
        if means is None:
            continue
        here = gaps[(filled[gaps] == -1) & (other[gaps] >= 0)]
        here = here[means[other[here]] >= 0]
        if len(here):
            filled = filled.copy() if filled is key else filled
            filled[here] = means[other[here]]
            by.append(name)
    return Told(filled, tuple(by))


def _meanings(
    key: Numbers, other: Numbers, share: NDArray[np.float64], least: float
) -> Numbers | None:
    """The value of the key that each value of another column goes with; None: it tells none."""
    both = (key >= 0) & (other >= 0)
    if not both.any():
        return None
    means = np.full(int(other.max()) + 1, -1)
    means[other[both]] = key[both]
    if (means[other[both]] != key[both]).any():
        return None
    # that so many records with one value of the column agree in the key by chance
    here = np.bincount(other[both])
    sizes, number = np.unique(here[here > 0], return_counts=True)
    chance = np.array([np.logaddexp.reduce(size * share) for size in sizes]) @ number
    if chance > least:
        return None
    shown = means[means >= 0]
    if len(np.unique(shown)) == len(shown):
        # a name that no shown code goes with stands for a code that is none of these
        hidden = np.flatnonzero(means < 0)
        means[hidden] = int(key.max()) + 1 + np.arange(len(hidden))
    return means
