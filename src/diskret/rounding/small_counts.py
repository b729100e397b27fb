"""Rounding of small counts only; everything else is added up."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension
from diskret.texts.numbers import Count

#: Rounds of the search, enough for it to come to rest.
_SWEEPS = 50
#: Pairs of counts looked at for each of the worst cells in a round.
_TRIES = 20_000
#: So few counts have all their combinations looked at, in so many entries at a time at most.
_FEW, _ENTRIES = 14, 8_000_000
_EXAMPLES = 3


def small_counts(
    inner: NDArray[np.int64], cells: sparse.csr_array, base: int, draw: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Inner counts of which those that feed a small published cell are 0 or the base.

    Parameters
    ----------
    inner
        Counts of the finest combinations, ``(m,)``, at least 0.
    cells
        Which of them each published cell is the sum of, ``(n, m)``, ones.
    base
        No published cell is then one of 1 to base − 1.
    draw
        Order in which counts are decided; keyed, so that nobody can replay it, ``(m,)``.

    Returns
    -------
    numpy.ndarray
        Inner counts, ``(m,)``, int64; ``cells @ inner`` is what to publish.

    Notes
    -----
    The idea of Langsrud and Heldal (2018, "An algorithm for small count rounding of tabular
    data", Privacy in Statistical Databases); the choice is made by a search of another kind. Each
    count in turn is rounded to the side that keeps the squared deviations of its cells smaller;
    then single counts and pairs change sides while that lowers the fourth powers of deviations,
    so the largest most. Up to 14 counts at a time are not searched: of all their combinations
    that with the least largest deviation is taken, and then with the least fourth powers.

    Examples
    --------
    >>> cells = sparse.csr_array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> draw = np.array([3, 1, 2], dtype=np.uint64)
    >>> (cells @ small_counts(np.array([1, 2, 7]), cells, 3, draw)).tolist()
    [10, 0, 3, 7]
    """
    rounded = inner.astype(np.int64)
    cells = sparse.csr_array(cells)
    rest = np.zeros(cells.shape[0], dtype=np.int64)
    while True:
        value = cells @ rounded
        feeds = cells.T @ ((value > 0) & (value < base)).astype(np.int64)
        chosen = np.flatnonzero((feeds > 0) & (rounded > 0))
        if not len(chosen):
            return rounded
        chosen = chosen[np.argsort(draw[chosen], kind="stable")]
        rounded[chosen] = _rounded(rounded[chosen], cells[:, chosen], base, rest)


def _rounded(
    small: NDArray[np.int64], cells: sparse.csr_array, base: int, rest: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Small counts as 0 or the base; `rest`, what each cell is off by, is brought up to date."""
    if len(small) <= _FEW and cells.shape[0] * 2 ** len(small) <= _ENTRIES:
        return _best(small, cells, base, rest)
    from diskret.rounding.small_count_kernels import round_small, swap_small

    by_count = sparse.csc_array(cells)
    start, cell = by_count.indptr.astype(np.int64), by_count.indices.astype(np.int64)
    first, member = cells.indptr.astype(np.int64), cells.indices.astype(np.int64)
    high = np.zeros(len(small), dtype=np.bool_)
    round_small(small, base, np.arange(len(small)), start, cell, rest, high, _SWEEPS)
    swap_small(base, start, cell, first, member, rest, high, _SWEEPS, _TRIES)
    return np.where(high, base, 0).astype(np.int64)


def _best(
    small: NDArray[np.int64], cells: sparse.csr_array, base: int, rest: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The best of all combinations of a few small counts; of equal ones the first by `draw`."""
    high = np.arange(2 ** len(small))[:, None] >> np.arange(len(small)) & 1
    off = rest[:, None] + cells @ (high * base - small).T
    size = np.abs(off).astype(np.float64)
    order = np.lexsort(((size**4).sum(axis=0), size.max(axis=0, initial=0)))
    rest[:] = off[:, order[0]]
    return (high[order[0]] * base).astype(np.int64)


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
            many = Count(len(split))
            raise InputError(
                f"{many} {many:code|codes} of {dimension.name!r} {many:is|are} not made of codes "
                f"of the finest table, e.g. {examples}; tabulate that table by the finest codes "
                "of all tables"
            )
    start = np.cumsum([0, *(len(own) for own in holding)])
    return start, np.array([code for own in holding for code in own], dtype=np.int64)
