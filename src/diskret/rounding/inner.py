"""Which of the finest combinations each cell of a table is the sum of."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension

_EXAMPLES = 3


def cells_of(
    inner: tuple[Dimension, ...], place: NDArray[np.int64], dimensions: tuple[Dimension, ...]
) -> sparse.csr_array:
    """The finest combinations that each cell of another table consists of.

    Parameters
    ----------
    inner
        The variables of the table whose leaf combinations are the finest.
    place
        Positions of leaf codes in their trees, one row for each combination, ``(m, d)``.
    dimensions
        The variables of the other table, in any order; they are among those of `inner`, and
        every code consists of leaves there.

    Returns
    -------
    scipy.sparse.csr_array
        Ones, int64, shape ``(cells of the other table, m)``; cells in C order.

    Raises
    ------
    InputError
        A variable or code is not made of the finest ones.
    """
    m = len(place)
    cell = np.zeros(m, dtype=np.int64)
    of = np.arange(m)
    axes = {dimension.name: i for i, dimension in enumerate(inner)}
    for dimension in dimensions:
        axis = axes.get(dimension.name)
        if axis is None:
            raise InputError(
                f"variable {dimension.name!r} is not in the table of the finest combinations "
                f"({', '.join(axes)}); tabulate that table by all variables"
            )
        start, codes = _above(inner[axis].hierarchy, dimension)
        leaf = place[of, axis]
        number = start[leaf + 1] - start[leaf]
        first = np.repeat(start[leaf] - np.cumsum(number) + number, number)
        of, cell = np.repeat(of, number), np.repeat(cell, number)
        cell = cell * len(dimension) + codes[first + np.arange(len(of))]
    size = int(np.prod([len(d) for d in dimensions], dtype=np.int64))
    return sparse.csr_array((np.ones(len(of), np.int64), (cell, of)), shape=(size, m))


def _above(finest: Hierarchy, dimension: Dimension) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The codes of a variable that hold each leaf: ``codes[start[leaf]:start[leaf + 1]]``."""
    tree = dimension.hierarchy
    if tree == finest:
        holding = [above.tolist() for above in tree.ancestors]
    else:
        holding = [list[int]() for _ in range(len(finest))]
        below = {leaf: finest.leaves_below(leaf) for leaf in finest.leaves.tolist()}
        owner = {own: leaf for leaf, codes in below.items() for own in codes}
        split: list[str] = []
        for code in range(len(tree)):
            wanted = owner if code == 0 else tree.leaves_below(code)
            number = Counter(owner[own] for own in wanted if own in owner)
            if any(found < len(below[leaf]) for leaf, found in number.items()):
                split.append(tree.codes[code])
            for leaf in number:
                holding[leaf].append(code)
        if split:
            examples = ", ".join(split[:_EXAMPLES])
            raise InputError(
                f"{len(split)} codes of {dimension.name!r} are not made of codes of the finest "
                f"table, e.g. {examples}; tabulate that table by the finest codes of all tables"
            )
    start = np.cumsum([0, *(len(own) for own in holding)])
    return start, np.array([code for own in holding for code in own], dtype=np.int64)
