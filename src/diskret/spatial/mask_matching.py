"""Which places points may have come from if all of them are fitted to places at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: So many of the places that a point may have come from are looked at, at least.
_LOOKED_AT = 64
_BLOCK = 20_000

#: Places that a tree holds, by their number, and how wide their rings are.
Level = tuple[NDArray[np.int64], float, float]


def possible_together(
    places: NDArray[np.float64],
    levels: list[Level],
    points: NDArray[np.float64],
    shown: NDArray[np.bool_],
    least: int,
) -> NDArray[np.int64]:
    """From how many places each shown point may have come, all points fitted at once; at least.

    Points of different places came from different ones. That a point came from another place is
    possible if the point of that place may have come from a third one, and so on, until a place
    is reached that no shown point needs, or the first one. These are the strong components of a
    graph (A. L. Dulmage and N. S. Mendelsohn, 1958, Coverings of bipartite graphs, Canadian
    Journal of Mathematics 10), whatever fit one begins with.

    Parameters
    ----------
    places
        Shape (places, 2).
    levels
        The places of each width of rings, with the inner and the outer radius.
    points
        Shape (places, 2): where each place moved to.
    shown
        Shape (places,): whether its point is shown.
    least
        How many places are asked for. Of points that may have come from many more, only some are
        looked at.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    number = len(places)
    looked_at = max(_LOOKED_AT, 4 * least)
    own, other = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    for those, inner, outer in levels:
        for at, candidate in _candidates(places, those, points, shown, (inner, outer), looked_at):
            own.append(at)
            other.append(candidate)
    at, candidate = np.concatenate(own), np.concatenate(other)
    free = np.flatnonzero(~shown)
    root = np.full(number, number)
    tail = np.concatenate([at, free, root])
    head = np.concatenate([candidate, root[: len(free)], np.arange(number)])
    graph = sparse.csr_array(
        (np.ones(len(tail), np.int8), (tail, head)), shape=(number + 1, number + 1)
    )
    part = connected_components(graph, directed=True, connection="strong")[1]
    possible = (part[at] == part[candidate]) & (at != candidate)
    return np.where(shown, 1 + np.bincount(at[possible], minlength=number), 0)


def _candidates(
    places: NDArray[np.float64],
    those: NDArray[np.int64],
    points: NDArray[np.float64],
    shown: NDArray[np.bool_],
    ring: tuple[float, float],
    looked_at: int,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of a shown point and a place of one width that it may have come from."""
    from scipy.spatial import KDTree

    inner, outer = ring
    left = np.flatnonzero(shown)
    some = those
    while len(left):
        tree = KDTree(places[some])
        number = np.asarray(
            tree.query_ball_point(points[left], outer, workers=-1, return_length=True)
        )
        now = number <= 2 * looked_at
        if len(some) <= looked_at:
            now[:] = True
        for begin in range(0, int(now.sum()), _BLOCK):
            block = left[now][begin : begin + _BLOCK]
            yield from _pairs(tree, some, points, block, inner, outer)
        left = left[~now]
        some = some[::2]  # of towns half, a quarter and so on of the places are enough


def _pairs(
    tree: Any,
    some: NDArray[np.int64],
    points: NDArray[np.float64],
    block: NDArray[np.int64],
    inner: float,
    outer: float,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    found = tree.query_ball_point(points[block], outer, workers=-1)
    size = np.array([len(one) for one in found])
    if not size.sum():
        return
    which = np.concatenate([np.asarray(one, np.int64) for one in found])
    at = np.repeat(block, size)
    away = np.hypot(*(tree.data[which] - points[at]).T)
    inside = away >= inner
    yield at[inside], some[which[inside]]
