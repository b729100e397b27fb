"""Which variables follow from which: the district from the municipality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that are looked at first: most pairs of variables fail there already.
_FIRST = 4096


def groups(
    columns: Sequence[NDArray[np.signedinteger[Any]]], sizes: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Put each variable together with the finer one that it follows from.

    A variable follows from another if each code of that other one goes together with a single
    code of it. Of several the one with the most codes counts, of these the first; a variable with
    a single code follows from none.

    Parameters
    ----------
    columns
        Codes of each variable in J combinations, V arrays ``(J,)``.
    sizes
        Number of codes of each variable, ``(V,)``.

    Returns
    -------
    tuple of tuple of int
        A partition of the variables; within a group from coarse to fine.

    Examples
    --------
    >>> town, state = np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1])
    >>> sex = np.array([0, 1, 0, 1])
    >>> groups([town, sex, state], (3, 2, 2))
    ((2, 0), (1,))
    """
    order = sorted(range(len(sizes)), key=lambda v: (-sizes[v], v))
    above: dict[int, int] = {}
    for at, coarse in enumerate(order):
        finer = (fine for fine in order[:at] if follows(columns[fine], columns[coarse]))
        found = next(finer, coarse) if sizes[coarse] > 1 else coarse
        above[coarse] = above.get(found, found)
    members: dict[int, list[int]] = {}
    for v in range(len(sizes)):
        members.setdefault(above[v], []).append(v)
    return tuple(tuple(sorted(group, key=lambda v: (sizes[v], v))) for group in members.values())


def follows(fine: NDArray[np.signedinteger[Any]], coarse: NDArray[np.signedinteger[Any]]) -> bool:
    """Whether the code in one variable is known from that in another.

    Examples
    --------
    >>> town, state = np.array([0, 1, 2]), np.array([0, 0, 1])
    >>> follows(town, state), follows(state, town)
    (True, False)
    """
    for rows in _rows(len(fine)):
        here, there = fine[rows], coarse[rows]
        one = np.zeros(int(here.max(initial=0)) + 1, dtype=there.dtype)
        one[here] = there
        if not np.array_equal(one[here], there):
            return False
    return True


def _rows(number: int) -> Iterator[slice]:
    """Some rows from all over the file, and then all of them."""
    if number > 4 * _FIRST:
        yield slice(None, None, number // _FIRST)
    yield slice(None)
