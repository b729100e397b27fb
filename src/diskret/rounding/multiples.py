"""The integer program of controlled rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.solver import Solver, Status
from diskret.system import System

_NEAR = 1e-6
#: Turns of a search times columns, about five seconds; and turns at least.
_TURNS, _FEWEST_TURNS = 2_000_000, 200


@dataclass(frozen=True, eq=False)
class Multiples:
    """Which multiples each cell may become: ``base * (floor + step)``.

    `base`, `steps`: base in scaled units, steps beyond the adjacent multiples.
    `floor`: the next lower multiple of each value, in bases, ``(n,)``, int64; 0 of unpublished
        cells.
    `rest`: what values exceed it by, ``(n,)``, int64.
    `low`, `high`: smallest and largest step, ``(n,)``, float64; infinite for unpublished cells.
    `shown`: number of published cells, the first ones.
    `equations`: of the system, column by column.
    `right`: ``equations @ step`` has to be this, ``(m,)``, int64.
    """

    base: int
    steps: int
    floor: NDArray[np.int64]
    rest: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    shown: int
    equations: sparse.csc_array
    right: NDArray[np.int64]

    @classmethod
    def of(cls, system: System, base: int, steps: int) -> Multiples:
        """For the cells of a system. Zeros stay, and what is not negative stays so."""
        value = system.value.copy()
        hidden = len(system.lowest)
        shown = len(value) - hidden
        value[shown:] = 0  # unpublished cells need be no multiples
        floor, rest = np.divmod(value, base)
        low = np.full(len(value), -steps, dtype=np.float64)
        high = np.where(rest > 0, steps + 1.0, steps)
        low = np.where(floor >= 0, np.maximum(low, -floor), low)
        high = np.where((floor < 0) & (rest == 0), np.minimum(high, -floor), high)
        low[value == 0] = high[value == 0] = 0
        low[shown:], high[shown:] = system.lowest / base, np.inf
        equations = sparse.csc_array(system.equations.astype(np.int64))
        return cls(base, steps, floor, rest, low, high, shown, equations, -(equations @ floor))

    def cost(self, step: NDArray[np.int64]) -> int:
        """Σ|rounded − original| of published cells, scaled units."""
        off = self.base * step[: self.shown] - self.rest[: self.shown]
        return int(np.abs(off).sum())


@dataclass(frozen=True, eq=False)
class Found:
    """What the solver found.

    `step`: a step for each cell that satisfies all equations exactly, or None.
    `impossible`: whether there is proven to be none.
    `least`: Σ|rounded − original| is at least this.
    """

    step: NDArray[np.int64] | None
    impossible: bool
    least: float


def chosen(
    room: Multiples,
    *,
    start: NDArray[np.int64] | None = None,
    free: NDArray[np.int64] | None = None,
    seconds: float | None = None,
    nodes: int,
    first: bool = False,
) -> Found:
    """The best steps; the best where only some cells are free to leave a known rounding.

    `room`: what cells may become. `start`, `free`: a known rounding, and the cells that may leave
    it, ascending; None: all, from scratch. `seconds`, `nodes`: limits of the search. `first`:
    whether the first rounding that is found is good enough; nothing else stands for it, so its
    search has no other limits, while the best one so far stands for the best.
    """
    cell = np.arange(len(room.floor)) if free is None else free
    inside = sparse.csr_array(room.equations[:, cell])
    right = room.right if start is None else inside @ start[cell]
    inside, right = _with_entries(inside, right)
    if inside is None:
        return Found(None, True, np.inf)
    part, lower, upper, cost, whole = _columns(room, cell)
    solver = Solver(
        mip_max_nodes=nodes, mip_rel_gap=0.0, mip_max_improving_sols=1 if first else None
    )
    matrix = sparse.csr_array(inside[:, part])
    solver.load(cost, matrix, columns=(lower, upper), rows=(right, right), whole=whole)
    if start is not None and room.steps == 0:
        solver.start(start[cell])
    turns = None if first else max(_TURNS // max(len(part), 1), _FEWEST_TURNS)
    status = solver.run(seconds, turns=turns)
    fixed = room.rest[: room.shown].sum()  # the cost of all steps at 0
    least = float(np.ceil(solver.bound - _NEAR) + fixed)
    solution = solver.x
    if not np.isfinite(solver.objective) or len(solution) < len(part):
        return Found(None, status is Status.IMPOSSIBLE, least)
    near = np.zeros(len(room.floor)) if start is None else start.astype(np.float64)
    near[cell] = np.bincount(part, solution, minlength=len(cell))
    step = np.rint(near).astype(np.int64)
    return Found(step if _holds(room, step, near) else None, False, least)


def _with_entries(
    inside: sparse.csr_array, right: NDArray[np.int64]
) -> tuple[sparse.csr_array | None, NDArray[np.int64]]:
    """Equations with a cell in them; None if another one cannot hold."""
    used = np.diff(inside.indptr) > 0
    if np.any(right[~used] != 0):
        return None, right
    return sparse.csr_array(inside[used]), right[used]


def _columns(
    room: Multiples, cell: NDArray[np.int64]
) -> tuple[
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.bool_],
]:
    """Columns of the program: position of their cell, bounds, cost of a step, whether whole.

    |z − a| bends where z passes a: between the adjacent multiples a step costs b − 2 r, beyond
    them b. So with steps a cell is the sum of three columns, of which the cheapest fill first.
    """
    low, high = room.low[cell], room.high[cell]
    published = cell < room.shown
    rest = room.rest[cell]
    base = float(room.base)
    slope = np.where(published, base - 2.0 * rest, 0.0)
    slope[published & (rest == 0)] = 0.0
    number = np.arange(len(cell))
    between = np.where(published & (room.steps > 0), np.maximum(low, 0), low)
    limit = np.where(rest > 0, 1.0, 0.0)
    adjacent = np.where(published & (room.steps > 0), np.minimum(high, limit), high)
    if room.steps == 0:
        return number, low, high, slope, published
    above = np.flatnonzero(published & (high > adjacent))
    below = np.flatnonzero(published & (low < between))
    part = np.concatenate((number, above, below))
    zero = np.zeros(len(above)), np.zeros(len(below))
    lower = np.concatenate((between, zero[0], low[below] - between[below]))
    upper = np.concatenate((adjacent, high[above] - adjacent[above], zero[1]))
    cost = np.concatenate((slope, np.full(len(above), base), np.full(len(below), -base)))
    return part, lower, upper, cost, published[part]


def _holds(room: Multiples, step: NDArray[np.int64], near: NDArray[np.float64]) -> bool:
    """Whether whole steps satisfy bounds and equations exactly."""
    shown = slice(0, room.shown)
    if np.any((step < room.low)[shown] | (step > room.high)[shown]):
        return False
    if room.shown == len(step):
        return bool(np.array_equal(room.equations @ step, room.right))
    mixed = near.copy()  # unpublished cells need not be whole
    mixed[shown] = step[shown]
    return bool(np.allclose(room.equations @ mixed, room.right, rtol=0, atol=1e-5))
