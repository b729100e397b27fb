"""How far people have to be moved to make one map of another: Kantorovich and Wasserstein."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.solver import Solver, Status, pivots_for

#: Pairs of cells with too much and too little up to which the distance is computed exactly.
_PAIRS = 40_000
#: Steps that are looked at before what is left is bounded by wider and wider blocks.
_WORK = 1_000_000_000
#: Rows or columns from which on prices begin with those of cells twice as wide.
_COARSEST = 8
#: Share of what is to be moved that may be left where it is, and is bounded like the rest.
_DUST = 1e-9
#: Steps to half of the cells around, turning from one to the next; the others go back.
_STEPS = np.array([(0, 1), (1, 2), (1, 1), (2, 1), (1, 0), (2, -1), (1, -1), (1, -2)])
#: Their lengths, whole numbers near to 5 times the true ones: few different ones, few turns.
_LENGTHS = np.array([5, 11, 7, 11, 5, 11, 7, 11])


@dataclass(frozen=True)
class Transport:
    """Kantorovich–Wasserstein distance of two maps, between two bounds.

    The mean distance, over everybody on the map, by which people have to be moved to make one map
    of the other, the cheapest way. Straight lines between middles of cells, in cell widths.

    Parameters
    ----------
    low, high
        The distance is not below and not above. Equal: it is exact.
    moved
        Share of the people who have to be moved.
    """

    low: float
    high: float
    moved: float

    @property
    def exact(self) -> bool:
        """Whether the distance is known exactly."""
        return self.low == self.high


def transport(before: NDArray[np.float64], after: NDArray[np.float64]) -> Transport:
    """The distance of two maps, both taken as shares of their sum.

    What a cell has in both maps stays there, which costs nothing and is never dearer. Few cells:
    exact, a linear programme. Many: a cheapest flow in steps to 16 cells around, whose ways are
    up to 2.8 % longer than straight ones; its prices prove the lower bound. If the work for
    it ends, what is left is moved on maps of wider and wider cells.

    Parameters
    ----------
    before, after
        Values ≥ 0, ``(rows, columns)``. The bounds are NaN where a value is negative or a sum is 0.

    References
    ----------
    F. Bassetti, S. Gualandi, M. Veneroni (2020), On the computation of Kantorovich-Wasserstein
    distances between two-dimensional histograms by uncapacitated minimum cost flows, SIAM Journal
    on Optimization 30, 2441-2469 (steps to cells around, and how much longer ways are).

    Examples
    --------
    >>> before = np.array([[4.0, 0, 0], [0, 0, 0]])
    >>> transport(before, np.array([[2.0, 0, 0], [0, 0, 2]]))
    Transport(low=1.118033988749895, high=1.118033988749895, moved=0.5)
    """
    both = (before, after)
    if any(values.min(initial=0) < 0 or not values.sum() > 0 for values in both):
        return Transport(math.nan, math.nan, math.nan)
    excess = before / before.sum() - after / after.sum()
    excess[np.abs(excess) < 1e-14] = 0  # what shares that are equal may differ by
    moved = float(np.abs(excess).sum() / 2)
    rows, columns = np.nonzero(excess)
    if not len(rows):
        return Transport(0.0, 0.0, 0.0)
    excess = excess[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    much, little = (np.argwhere(sign * excess > 0) for sign in (1, -1))
    if len(much) * len(little) <= _PAIRS:
        found = _programme(excess, much, little)
        if found is not None:
            return Transport(found, found, moved)
    return Transport(*_flow(excess, _WORK), moved)


def _programme(
    excess: NDArray[np.float64], much: NDArray[np.int64], little: NDArray[np.int64]
) -> float | None:
    """The exact distance; None if the solver has trouble, or took too much work."""
    m, n = len(much), len(little)
    from_row = np.repeat(np.arange(m), n)
    to_row = m + np.tile(np.arange(n), m)
    pairs = np.arange(m * n)
    matrix = sparse.csc_array(
        (np.ones(2 * m * n), (np.concatenate([from_row, to_row]), np.tile(pairs, 2))),
        shape=(m + n, m * n),
    )
    given, taken = (np.abs(excess[tuple(those.T)]) for those in (much, little))
    taken *= given.sum() / taken.sum()
    distance = np.hypot(*(much[:, None] - little[None]).transpose(2, 0, 1)).reshape(-1)
    # amounts near 1, so that the solver's tolerances do not matter
    scale = len(given) / given.sum()
    amounts = np.concatenate([given, taken]) * scale
    # those with too little may get less by a rounding error
    low = np.concatenate([given * scale, np.zeros(n)])
    solver = Solver()
    solver.load(distance, matrix, columns=(0, np.inf), rows=(low, amounts))
    if solver.run(pivots=pivots_for(m * n)) is not Status.OPTIMAL:
        return None
    return float(solver.objective / scale)


def _flow(excess: NDArray[np.float64], work: int) -> tuple[float, float]:
    """Bounds of the distance."""
    dust = _DUST * float(np.abs(excess).sum()) / excess.size
    flow, price, left, _ = _moved(excess, dust, work)
    cost = float(np.abs(flow).sum(axis=0) @ np.hypot(*_STEPS.T))
    told = -float((price * excess).sum()) / _steepest(price)
    return max(told, 0.0), cost + _left_over(left, dust, work // 4)


def _left_over(excess: NDArray[np.float64], dust: float, work: int) -> float:
    """What it costs at most to move the rest: to middles of 2 × 2 cells, and between these."""
    simple = _within_blocks(excess)
    if not work or max(excess.shape) < 2 or not (np.abs(excess) > dust).any():
        return simple
    wide = _wider(excess)
    flow, _, left, _ = _moved(wide, dust, work)
    between = float(np.abs(flow).sum(axis=0) @ np.hypot(*_STEPS.T))
    to_middles = float(np.abs(excess).sum()) * math.sqrt(0.5)
    return min(simple, to_middles + 2 * (between + _left_over(left, dust, work // 2)))


def _moved(
    excess: NDArray[np.float64], dust: float, work: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], int]:
    """Flow, prices, what is left to move, and the work left; wider cells give prices to begin."""
    from diskret.spatial.transport_kernels import cheapest_flow, lowered

    rows, columns = excess.shape
    price = np.zeros(excess.shape, np.int64)
    if max(excess.shape) > _COARSEST:
        # a quarter at most for all the wider cells
        _, wider, _, unused = _moved(_wider(excess), dust, work // 4)
        work -= work // 4 - unused
        price = _finer(_finer(wider.astype(np.float64) * 2).T).T[:rows, :columns]
        price = np.ascontiguousarray(np.rint(price).astype(np.int64))
    steps = np.concatenate([_STEPS, -_STEPS])
    down, right = (np.ascontiguousarray(one) for one in steps.T)
    length = np.tile(_LENGTHS, 2)
    left, price = excess.reshape(-1).copy(), price.reshape(-1)
    lowered(price, columns, down, right, length)
    flow, work = cheapest_flow(left, price, columns, down, right, length, dust, work)
    return flow, price.reshape(excess.shape), left.reshape(excess.shape), work


def _wider(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of 2 × 2 cells."""
    rows, columns = values.shape
    even = np.pad(values, ((0, rows % 2), (0, columns % 2)))
    return even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2).sum(axis=(1, 3))


def _finer(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Twice as many rows, on straight lines between the old ones."""
    around = np.pad(values, ((1, 1), (0, 0)), mode="edge")
    upper = 0.75 * values + 0.25 * around[:-2]
    lower = 0.75 * values + 0.25 * around[2:]
    return np.stack([upper, lower], axis=1).reshape(-1, values.shape[1])


def _steepest(price: NDArray[np.int64]) -> float:
    """By how much prices differ at most, by the distance of the cells, between any two of them.

    Measured from the prices, so that the bound does not rest on the loop that made them. A way
    from cell to cell takes two neighbouring steps, of which each takes its part of the prices.
    """
    rate = np.empty(len(_STEPS))
    for at, (down, right) in enumerate(_STEPS.tolist()):
        rows, columns = price.shape
        one = price[: max(rows - down, 0), max(0, -right) : max(columns - max(0, right), 0)]
        other = price[down:, max(0, right) : max(columns + min(0, right), 0)]
        rate[at] = max(1e-9, float(np.abs(other - one).max(initial=0)))
    # the farthest that one unit of price reaches in each direction; between two of them a line
    reach = np.concatenate([_STEPS / rate[:, None], -_STEPS[:1] / rate[0]])
    one, way = reach[:-1], np.diff(reach, axis=0)
    along = np.clip(-(one * way).sum(axis=1) / (way**2).sum(axis=1), 0, 1)
    return float(1 / np.hypot(*(one + along[:, None] * way).T).min())


def _within_blocks(excess: NDArray[np.float64]) -> float:
    """What it costs at most to move within blocks, twice as wide from one step to the next."""
    cost, width = 0.0, 1
    while np.any(excess) and max(excess.shape) > 1:
        rows, columns = excess.shape
        even = np.pad(excess, ((0, rows % 2), (0, columns % 2)))
        parts = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2).swapaxes(1, 2)
        much, little = (np.maximum(sign * parts, 0).sum(axis=(2, 3)) for sign in (1, -1))
        width *= 2
        cost += float(np.minimum(much, little).sum()) * math.sqrt(2) * (width - 1)
        excess = much - little
    return cost
