"""Suppression by hypercubes: each unsafe cell in a small closed pattern of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.suppression.blame import refuse_fixed
from diskret.suppression.certify import certify, show
from diskret.suppression.cubes import Cube, Need, Room, Subtable, cheapest_cube, subtables
from diskret.suppression.greedy import safe
from diskret.suppression.problem import Pattern, Problem
from diskret.suppression.reduce import Changeable, changeable, prices
from diskret.system.cells import RectangularCells


def hypercube(problem: Problem) -> Pattern:
    """Find a safe pattern made of hypercubes, for comparison with other programs.

    In every subtable (one parent with its children in each variable) each unsafe cell gets
    the hypercube around it that gives it enough room with the fewest and then the cheapest new
    cells; none of them empty. All corners have to be protected in the other subtables they
    belong to as well, until nothing changes. What no single hypercube protects, and what the
    hypercubes leave open together, is completed as in `sequential`; cells that turn out not
    to be needed are published again.

    Parameters
    ----------
    problem
        Of one rectangular table. Cells that `problem.start` suppresses without being primary
        are free of charge at first and are published again where no requirement needs them.

    Returns
    -------
    Pattern
        All requirements hold, and every secondary can take values at least one scaled unit
        apart. `complete` is False if the deadline fell into the final tidying up.

    Raises
    ------
    InputError
        The cells are not those of one table; or the attacker's bounds exclude an original
        value.
    ProtectionError
        A primary cell cannot be protected, e.g. because of frozen cells; or the deadline
        passed before a safe pattern was found.

    Notes
    -----
    Repsilber (1994), "Preservation of confidentiality in aggregated data", 2nd International
    Seminar on Statistical Confidentiality, Luxembourg; Giessing and Repsilber (2002), "Tools
    and strategies to protect multiple tables with the GHQUAR cell suppression engine", LNCS
    2316. Different from there: the requirements of the cells in place of one sliding ratio for
    all, which is not lowered where it cannot be met; the problem's costs in place of values
    weighted by level; no second hypercube around cells of a single contributor; and the
    completion.

    Examples
    --------
    A total of 11 and its parts 1, 4 and 6: the 1 is hidden, and with one variable its
    hypercubes are pairs.

    >>> import numpy as np
    >>> from diskret.attack import Requirements
    >>> from diskret.system import System
    >>> from diskret.tables import Dimension, Table
    >>> from diskret.hierarchy import Hierarchy
    >>> sizes = Hierarchy(("Total", "S", "M", "L"), np.array([-1, 0, 0, 0]))
    >>> system = System.of_table(Table((Dimension("size", sizes),), np.array([11, 1, 4, 6])))
    >>> one = np.array([1])
    >>> problem = Problem(
    ...     system=system,
    ...     requirements=Requirements(cell=one, lower=one, upper=one, sliding=0 * one),
    ...     cost=system.value.astype(float),
    ...     frozen=system.value == 0,
    ...     lower=np.zeros(4),
    ...     upper=np.full(4, np.inf),
    ...     integer=True,
    ... )
    >>> hypercube(problem).suppressed.tolist()
    [False, True, True, False]
    """
    table = _table(problem)
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    certified = certify(cells, cells.primary)
    corners = covered(problem, cells, table)
    hidden = cells.primary | cells.started
    hidden[cells.group[corners]] = True
    changes = show(cells, hidden, certified.copy(), one_by_one=False)
    hidden, complete = safe(problem, cells, hidden, certified, changes)
    return Pattern(cells.of_cells(hidden), "hypercube", complete)


def covered(problem: Problem, cells: Changeable, table: RectangularCells) -> NDArray[np.bool_]:
    """The primary cells and the corners of their hypercubes, ``(n,)``; not yet proven.

    Parameters
    ----------
    problem
        For values, the deadline and progress.
    cells
        The same problem, reduced.
    table
        The same cells with their variables.
    """
    cover = _Cover(problem, cells)
    parts = list(subtables([dimension.hierarchy for dimension in table.dimensions]))
    changed = True
    while changed:
        changed = False
        for done, subtable in enumerate(parts):
            problem.progress("suppress", done, len(parts))
            changed |= cover.protect(subtable)
    problem.progress("suppress", len(parts), len(parts))
    return cover.wanted


def _table(problem: Problem) -> RectangularCells:
    cells = problem.system.cells
    if not isinstance(cells, RectangularCells):
        raise InputError(
            f"method='hypercube' protects one table alone, but {len(cells):,} cells of several "
            "tables that are tied to each other are to be protected together; use "
            "method='sequential' or method='optimal'"
        )
    return cells


class _Cover:
    """What the cells need, and what the hypercubes so far give them in each role."""

    def __init__(self, problem: Problem, cells: Changeable):
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
        roles = 1 << len(_table(problem).dimensions)
        self.down = np.zeros((roles, len(inside)))
        self.up = np.zeros((roles, len(inside)))
        self.left = np.zeros((roles, len(inside)), dtype=bool)

    def protect(self, subtable: Subtable) -> bool:
        """Give all cells of a subtable that lack room in it a hypercube; whether any did."""
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
            self.work.step()
            one = cell[at]
            need = Need(float(self.below[one]), float(self.above[one]), float(self.width[one]))
            cube = cheapest_cube(subtable, at, need, self.room)
            if cube is None:
                self.left[role[at], one] = True
            else:
                self._use(cube, need, cell[cube.at], role[cube.at])
        return len(todo) > 0

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
