"""Suppression by hypercubes: each unsafe cell in a small closed pattern of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.suppression.blame import refuse_fixed
from diskret.suppression.certify import show, shown_alone
from diskret.suppression.changeable import Changeable, changeable, prices
from diskret.suppression.greedy import safe
from diskret.suppression.problem import Pattern, Problem
from diskret.system.equations import RectangularCells
from diskret.tables import Dimension
from diskret.texts.numbers import Count


def hypercube(problem: Problem) -> Pattern:
    """Find a safe pattern made of hypercubes, for comparison with other programs.

    In every subtable (one parent with its children in each variable) each unsafe cell gets
    the hypercube around it that gives it enough room with the fewest and then the cheapest new
    cells; none of them empty. All corners have to be protected in the other subtables they
    belong to as well, until nothing changes. Linked tables are gone through in turn: a cell that
    another table shows, too, needs as much room there, until nothing changes in any table. What no
    single hypercube protects, and what the hypercubes leave open together, is completed as in
    `sequential`; cells that turn out not to be needed are published again. Cells that no table
    shows in this form are refused by an `InputError`.

    References
    ----------
    Repsilber (1994), "Preservation of confidentiality in aggregated data", 2nd International
    Seminar on Statistical Confidentiality, Luxembourg; Giessing and Repsilber (2002), "Tools
    and strategies to protect multiple tables with the GHQUAR cell suppression engine", LNCS
    2316.

    Notes
    -----
    Different from there: the requirements of the cells in place of one sliding ratio for
    all, which is not lowered where it cannot be met; the problem's costs in place of values
    weighted by level; no second hypercube around cells of a single contributor; and the
    completion.
    """
    tables = _tables(problem)
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    certified = shown_alone(problem, cells)
    corners = covered(problem, cells, tables)
    hidden = cells.primary | cells.started
    hidden[cells.group[corners]] = True
    changes = show(
        cells,
        hidden,
        certified.copy(),
        one_by_one=False,
        seconds=problem.seconds,
        waiting=problem.waiting,
    )
    return safe(problem, cells, hidden, certified, changes).pattern(problem, cells, "hypercube")


def covered(
    problem: Problem, cells: Changeable, tables: Sequence[Sequence[Dimension]]
) -> NDArray[np.bool_]:
    """The primary cells and the corners of their hypercubes, ``(n,)``; not yet proven."""
    cover = _Cover(problem, cells, max(map(len, tables)))
    parts: list[Subtable] = []
    first = 0
    for dimensions in tables:
        for part in subtables([dimension.hierarchy for dimension in dimensions]):
            parts.append(Subtable(part.cell + first, part.role))
        first += math.prod(map(len, dimensions))
    changed = True
    while changed:
        changed = False
        for done, subtable in enumerate(parts):
            changed |= cover.protect(
                subtable, lambda done=done: problem.progress("suppress", done, len(parts))
            )
        if len(tables) > 1:
            cover.tell_each_other()
    problem.progress("suppress", len(parts), len(parts))
    return cover.wanted


def _tables(problem: Problem) -> Sequence[Sequence[Dimension]]:
    cells, tables = problem.system.cells, problem.system.tables
    if not tables and isinstance(cells, RectangularCells):
        return [cells.dimensions]
    if not tables:
        number = Count(len(cells))
        raise InputError(
            f"method='hypercube' protects tables, but {number} "
            f"{number:cell is given that belongs|cells are given that belong} to none; use "
            "method='sequential' or method='optimal'"
        )
    return tables


class _Cover:
    """What the cells need, and what the hypercubes so far give them in each role."""

    def __init__(self, problem: Problem, cells: Changeable, variables: int):
        self.group = cells.group
        inside = cells.group >= 0
        usable = inside & ~problem.frozen & (problem.system.value != 0)

        def of_cells(values: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
            out = np.zeros(len(inside))
            out[there] = values[cells.group[there]]
            return out

        hidden = cells.of_cells(cells.primary | cells.started)
        self.seconds, self.work = problem.seconds, problem.work
        self.wanted = cells.of_cells(cells.primary)
        self.room = Room(
            down=of_cells(cells.down, usable),
            up=of_cells(cells.up, usable),
            price=prices(problem),
            hidden=hidden,
        )
        self.below = of_cells(cells.below.astype(np.float64), inside)
        self.above = of_cells(cells.above.astype(np.float64), inside)
        self.width = of_cells(cells.width.astype(np.float64), inside)
        roles = 1 << variables
        self.down = np.zeros((roles, len(inside)))
        self.up = np.zeros((roles, len(inside)))
        self.left = np.zeros((roles, len(inside)), dtype=bool)

    def protect(self, subtable: Subtable, tell: Callable[[], None]) -> bool:
        """Give all cells of a subtable that lack room in it a hypercube; whether any did.

        `tell`: called for each of them.
        """
        tell()
        cell, role = subtable.cell.ravel(), subtable.role.ravel()
        todo = np.flatnonzero(self._lacking(cell, role))
        of = cell[todo]
        need = np.maximum.reduce([self.below[of], self.above[of], self.width[of] / 2])
        todo = todo[np.argsort(-need, kind="stable")]
        for at in todo.tolist():
            # another's hypercube may have given it room since
            if not self._lacking(cell[[at]], role[[at]])[0]:
                continue
            if self.seconds() <= 0:
                return False
            tell()
            self.work.step()
            one = cell[at]
            need = Need(float(self.below[one]), float(self.above[one]), float(self.width[one]))
            cube = cheapest_cube(subtable, at, need, self.room)
            if cube is None:
                self.left[role[at], one] = True
            else:
                self._use(cube, need, cell[cube.at], role[cube.at])
        return len(todo) > 0

    def tell_each_other(self) -> None:
        """Cells that always change alike are hidden alike, and need as much room."""
        inside = self.group >= 0
        group = self.group[inside]
        for of in (self.wanted, self.room.hidden, self.below, self.above, self.width):
            most = np.zeros(int(self.group.max(initial=-1)) + 1, dtype=of.dtype)
            np.maximum.at(most, group, of[inside])
            of[inside] = most[group]

    def _lacking(self, cell: NDArray[np.int64], role: NDArray[np.int64]) -> NDArray[np.bool_]:
        down, up = self.down[role, cell], self.up[role, cell]
        short = down < self.below[cell]
        short |= up < self.above[cell]
        short |= down + up < self.width[cell]
        return short & self.wanted[cell] & ~self.left[role, cell]

    def _use(
        self, cube: Cube, need: Need, cell: NDArray[np.int64], role: NDArray[np.int64]
    ) -> None:
        """Hide the corners; they have to move as far as the first must, here and elsewhere."""
        along = cube.along
        self.wanted[cell] = self.room.hidden[cell] = True
        self.below[cell] = np.maximum(self.below[cell], np.where(along, need.below, need.above))
        self.above[cell] = np.maximum(self.above[cell], np.where(along, need.above, need.below))
        self.width[cell] = np.maximum(self.width[cell], need.width)
        down, up = np.where(along, cube.down, cube.up), np.where(along, cube.up, cube.down)
        self.down[role, cell] = np.maximum(self.down[role, cell], down)
        self.up[role, cell] = np.maximum(self.up[role, cell], up)


# ── the cheapest hypercube around a cell of a subtable ──────────────────────────────
#
# A hypercube takes two codes of each variable; the cells at its corners can move by the same
# distance, some up and some down, without any sum of the subtable changing.


#: Hypercubes compared for one cell of one subtable.
LARGEST_NUMBER = 20_000


@dataclass(frozen=True, eq=False)
class Subtable:
    """One parent with its children in each variable that has any.

    `cell`: cells of the table; position 0 of each axis is the parent, the children follow; int64,
    ``(1 + c1, …, 1 + cd)``. `role`: along which axes a cell is the parent: bit k for axis k, int64,
    the same shape. A cell has each role in one subtable at most.
    """

    cell: NDArray[np.int64]
    role: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Room:
    """What is known of each cell of a table while hypercubes are chosen.

    `down`, `up`: how far each cell can move; 0 and 0 for those that can be no corner, float64,
    ``(n,)``. `price`: of hiding each cell, float64 > 0, ``(n,)``; not changed. `hidden`: cells that
    are suppressed already, bool, ``(n,)``; grows.
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

    `at`: positions of the corners in the flattened subtable, ``(2**d,)``. `along`: whether a corner
    rises when the first does (or else falls), bool, ``(2**d,)``. `down`, `up`: how far the first
    corner can move while no other leaves its room.
    """

    at: NDArray[np.int64]
    along: NDArray[np.bool_]
    down: float
    up: float


def subtables(hierarchies: Sequence[Hierarchy]) -> Iterator[Subtable]:
    """The subtables of a table, those of the largest totals first.

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

    `need`: how far the cell must be able to move. Gives none if no hypercube is large enough. Of
    more than 20,000 hypercubes those are compared whose corners next to the cell are hidden already
    or cheap.

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
