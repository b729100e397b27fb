"""The cheapest hypercube around a cell of a subtable.

A hypercube takes two codes of each variable; the cells at its corners can move by the same
distance, some up and some down, without any sum of the subtable changing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy

#: Hypercubes compared for one cell of one subtable.
LARGEST_NUMBER = 20_000


@dataclass(frozen=True, eq=False)
class Subtable:
    """One parent with its children in each variable that has any.

    Parameters
    ----------
    cell
        Cells of the table; position 0 of each axis is the parent, the children follow;
        int64, ``(1 + c1, …, 1 + cd)``.
    role
        Along which axes a cell is the parent: bit k for axis k, int64, the same shape.
        A cell has each role in one subtable at most.
    """

    cell: NDArray[np.int64]
    role: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Room:
    """What is known of each cell of a table while hypercubes are chosen.

    Parameters
    ----------
    down, up
        How far each cell can move; 0 and 0 for those that can be no corner, float64, ``(n,)``.
    price
        Of hiding each cell, float64 > 0, ``(n,)``; not changed.
    hidden
        Cells that are suppressed already, bool, ``(n,)``; grows.
    """

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    price: NDArray[np.float64]
    hidden: NDArray[np.bool_]


@dataclass(frozen=True)
class Need:
    """How far a cell must be able to move: down, up, and from end to end."""

    below: float
    above: float
    width: float

    def met(self, down: NDArray[np.float64], up: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where this much room is enough."""
        return (down >= self.below) & (up >= self.above) & (down + up >= self.width)


@dataclass(frozen=True, eq=False)
class Cube:
    """A hypercube: its corners, the first of them the cell that it protects.

    Parameters
    ----------
    at
        Positions of the corners in the flattened subtable, ``(2**d,)``.
    along
        Whether a corner rises when the first does (or else falls), bool, ``(2**d,)``.
    down, up
        How far the first corner can move while no other leaves its room.
    """

    at: NDArray[np.int64]
    along: NDArray[np.bool_]
    down: float
    up: float


def subtables(hierarchies: Sequence[Hierarchy]) -> Iterator[Subtable]:
    """The subtables of a table, those of the largest totals first.

    Examples
    --------
    >>> total_and_parts = Hierarchy.flat(["a", "b"])
    >>> [s.cell.tolist() for s in subtables([total_and_parts, Hierarchy.flat(["x"])])]
    [[[0, 1], [2, 3], [4, 5]]]
    """
    number = np.arange(np.prod([len(h) for h in hierarchies], dtype=np.int64))
    # a variable of one code has no equations
    trees = [h for h in hierarchies if len(h) > 1]
    number = number.reshape([len(h) for h in trees])
    inner = [np.flatnonzero(~h.is_leaf).tolist() for h in trees]
    levels = [h.level for h in trees]
    for parents in sorted(
        product(*inner),
        key=lambda at: sum(int(level[p]) for level, p in zip(levels, at, strict=True)),
    ):
        codes = [np.append(p, h.children[p]) for h, p in zip(trees, parents, strict=True)]
        cell = number[np.ix_(*codes)]
        role = np.zeros(cell.shape, dtype=np.int64)
        for axis in range(cell.ndim):
            np.moveaxis(role, axis, 0)[0] += 1 << axis
        yield Subtable(cell, role)


def cheapest_cube(subtable: Subtable, at: int, need: Need, room: Room) -> Cube | None:
    """The hypercube around one cell that protects it with the fewest and cheapest new cells.

    Parameters
    ----------
    subtable
        Where to look.
    at
        Position of the cell in the flattened subtable.
    need
        How far the cell must be able to move.
    room
        How far each cell can move, and what hiding it costs.

    Returns
    -------
    Cube or None
        None if no hypercube is large enough. Of more than 20,000 hypercubes those are
        compared whose corners next to the cell are hidden already or cheap.

    Notes
    -----
    Along a variable, two children move against each other, a parent with its child; so a
    corner moves along with the first or against it as the product of these signs says.
    """
    shape = subtable.cell.shape
    here = np.unravel_index(at, shape)
    others = [_others(subtable.cell, here, axis, need, room) for axis in range(subtable.cell.ndim)]
    if not all(map(len, others)):
        return None
    others = [np.sort(kept) for kept in _fewer(others)]
    signs = [np.where((kept == 0) | (i == 0), 1, -1) for kept, i in zip(others, here, strict=True)]
    first = subtable.cell[here]
    down, up = (
        np.full((1,) * len(shape), room.down[first]),
        np.full((1,) * len(shape), room.up[first]),
    )
    new, price = np.zeros_like(down), np.zeros_like(down)
    subsets = list(product((False, True), repeat=len(shape)))
    for moved in subsets[1:]:
        codes = [
            kept if there else np.array([i])
            for there, kept, i in zip(moved, others, here, strict=True)
        ]
        along = _sign(signs, moved) > 0
        corner = subtable.cell[np.ix_(*codes)]
        below, above = room.down[corner], room.up[corner]
        down = np.minimum(down, np.where(along, below, above))
        up = np.minimum(up, np.where(along, above, below))
        fresh = ~room.hidden[corner]
        new = new + fresh
        price = price + np.where(fresh, room.price[corner], 0)
    enough = need.met(down, up)
    if not enough.any():
        return None
    fewest = enough & (new == new[enough].min())
    best = np.unravel_index(np.argmin(np.where(fewest, price, np.inf)), fewest.shape)
    corners: list[int] = []
    directions: list[bool] = []
    for moved in subsets:
        place = [
            int(kept[b]) if there else int(i)
            for there, kept, b, i in zip(moved, others, best, here, strict=True)
        ]
        corners.append(int(np.ravel_multi_index(place, shape)))
        chosen = tuple(b if there else 0 for there, b in zip(moved, best, strict=True))
        directions.append(bool(_sign(signs, moved)[chosen] > 0))
    return Cube(np.array(corners), np.array(directions), float(down[best]), float(up[best]))


def _others(
    cell: NDArray[np.int64],
    here: Sequence[np.intp],
    axis: int,
    need: Need,
    room: Room,
) -> NDArray[np.int64]:
    """Codes of a variable at which the corner next to a cell has room; the cheapest first."""
    line = cell[tuple(slice(None) if k == axis else i for k, i in enumerate(here))]
    i = int(here[axis])
    code = np.delete(np.arange(len(line)), i)
    corner = line[code]
    along = (code == 0) | (i == 0)
    below, above = room.down[corner], room.up[corner]
    down, up = np.where(along, below, above), np.where(along, above, below)
    fresh = ~room.hidden[corner]
    order = np.lexsort((np.where(fresh, room.price[corner], 0), fresh))
    return code[order][need.met(down, up)[order]]


def _fewer(others: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """The first codes of each variable, so that there are not too many combinations."""
    kept = list(others)
    left = float(LARGEST_NUMBER)
    order = sorted(range(len(others)), key=lambda axis: len(others[axis]))
    for done, axis in enumerate(order):
        share = max(int(left ** (1 / (len(order) - done)) + 1e-9), 1)
        kept[axis] = others[axis][:share]
        left /= len(kept[axis])
    return kept


def _sign(signs: Sequence[NDArray[np.int64]], moved: Sequence[bool]) -> NDArray[np.int64]:
    """1 where a corner moves along with the first, -1 where it moves against it."""
    d = len(signs)
    out = np.ones((1,) * d, dtype=np.int64)
    for axis, (sign, there) in enumerate(zip(signs, moved, strict=True)):
        if there:
            out = out * sign.reshape([-1 if k == axis else 1 for k in range(d)])
    return out
