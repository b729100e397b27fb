"""One connected part of an attack as a linear programme that answers many questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import (
    LIMIT,
    UNKNOWN,
    Point,
    common_denominator,
    product,
    times,
)
from diskret.attack.solver import Status, run_in_time, solver_of
from diskret.deadline import NEVER, Deadline
from diskret.errors import ContradictionError, ProofError

#: Up to here float64 numbers are far above the solver's tolerance of 1e-7.
_COMFORTABLE = 2**24
_FINER = 2**20
#: Whole numbers below this are exact in float64.
_EXACT = 2.0**53
#: Nodes of a search near a vertex; most need one.
_NEAR_NODES = 50
_LINEAR: dict[str, Any] = {
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": 4,  # primal: from question to question only the objective changes
    "simplex_scale_strategy": 0,
}
_WHOLE: dict[str, Any] = {
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.5,
    "mip_detect_symmetry": False,  # this and the next cost more than they find here
    "mip_heuristic_run_feasibility_jump": False,
}


@dataclass(frozen=True, eq=False)
class Answer:
    """Where cells end up that move as far as possible in one direction.

    bounded: false if nothing ends the movement; then the vertex is where that was noticed.
    vertex: as the solver computed it, ``(n,)``, float64.
    point: the same vertex, exact and checked, or None if it could not be made exact.
    ray: unless `bounded`: whole steps that can be repeated for ever, exact and checked; None if
        they could not be made exact.
    """

    bounded: bool
    vertex: NDArray[np.float64]
    point: Point | None
    ray: NDArray[np.int64] | None = None

    @property
    def broken(self) -> NDArray[np.bool_]:
        """Cells that are no whole numbers at the vertex."""
        return np.abs(self.vertex - np.rint(self.vertex)) > 1e-6


class LinearProgramme:
    """Unknowns with ``matrix @ x = right`` and bounds, kept in the solver between questions.

    The solver sees floating point numbers near some centre and on a scale that suits it. The
    basis it ends with is then solved again in integers, so that points and rays are exact.

    centre: a solution near which to begin, where one is known, ``(n,)``, int64.
    deadline: questions that are not answered by then end with `OutOfTime`.
    bounded: whether one that takes too much work ends with `OutOfWork`, a `ProofError`. Only for
        questions that need no answer; never for exact intervals, which everybody has to find again
        whatever is known before.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        right: NDArray[np.int64],
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        centre: NDArray[np.int64] | None = None,
        deadline: Deadline = NEVER,
        bounded: bool = False,
    ):
        self.deadline, self.bounded = deadline, bounded
        self.matrix, self.right = matrix, right
        self.lower, self.upper = lower.copy(), upper.copy()
        if centre is None:
            centre = np.where(lower > -UNKNOWN, lower, np.where(upper < UNKNOWN, upper, 0))
        self._centre = centre
        size = max(
            float(np.abs(right - product(matrix, self._centre)).max(initial=1)),
            float(np.abs(upper - self._centre)[upper < UNKNOWN].max(initial=1)),
        )
        self._coarse = 2.0 ** -max(0, int(np.ceil(np.log2(size / _COMFORTABLE))))
        self._direction = np.zeros(len(lower))
        self._solver = solver_of(matrix, 0.0, **_LINEAR)
        self._place(self._centre, self._coarse)

    def farthest(self, direction: NDArray[np.float64], start: Any = None) -> Answer:
        """Move as far as possible: maximise ``direction @ x``, beginning at a basis if given."""
        changed = np.flatnonzero(direction != self._direction).astype(np.int32)
        self._solver.changeColsCost(len(changed), changed, -direction[changed])
        self._direction = direction.copy()
        if start is not None:
            self._solver.setBasis(start)
        centre, scale = self._centre, self._coarse
        if scale < 1:
            self._place(centre, scale)
        bounded, moved = self._run()
        while scale < 1:
            point = self._exact_vertex(centre, moved / scale) if bounded else None
            if point is not None:  # within all bounds: magnified, it would be the same vertex
                return Answer(True, point.numerator / point.denominator, point)
            # magnify the neighbourhood of the vertex and look again
            centre = np.clip(
                centre + np.rint(moved / scale).astype(np.int64), self.lower, self.upper
            )
            scale = min(1.0, scale * _FINER)
            self._place(centre, scale)
            bounded, moved = self._run()
        return Answer(
            bounded,
            centre + moved,
            self._exact_vertex(centre, moved),
            None if bounded else self._exact_ray(),
        )

    def begin(self) -> Answer:
        """Any vertex, found from within, which is quicker than along the edges of large bodies."""
        nowhere = np.zeros(len(self.lower))
        changed = np.flatnonzero(self._direction).astype(np.int32)
        self._solver.changeColsCost(len(changed), changed, nowhere[changed])
        self._direction = nowhere
        for option, value in {"solver": "ipm", "presolve": "on"}.items():
            self._solver.setOptionValue(option, value)
        run_in_time(self._solver, self.deadline)
        # whatever it says: the simplex method goes on from there
        for option in ("solver", "presolve"):
            self._solver.setOptionValue(option, _LINEAR[option])
        return self.farthest(nowhere)

    def basis(self) -> Any:
        """The basis of the last answer, to start from again."""
        return self._solver.getBasis()

    def face(self, point: Point) -> LinearProgramme:
        """The same programme with those unknowns fixed that lie on a bound at a point."""
        x, unit = point.numerator, point.denominator
        at_lower, at_upper = x == times(self.lower, unit), x == times(self.upper, unit)
        return LinearProgramme(
            self.matrix,
            self.right,
            np.where(at_upper, self.upper, self.lower),
            np.where(at_lower, self.lower, self.upper),
            deadline=self.deadline,
        )

    def holds(self, point: Point) -> bool:
        """Whether a point satisfies every equation and every bound exactly."""
        return point.solves(self.matrix, self.right, self.lower, self.upper)

    def farthest_whole(self, unknown: int, sign: int, nodes: int) -> Point | None:
        """Move one unknown far through whole numbers, by branch and bound.

        unknown, sign: what to move; up (1) or down (−1), or 0 if any whole numbers will do.
        nodes: size of the search tree at which to stop with the best that was found.
        """
        every, direction = np.arange(len(self.lower)), np.zeros(len(self.lower))
        direction[unknown] = sign
        status, point = self._whole_step(
            every, self._centre, self.lower, self.upper, direction, nodes
        )
        if status == Status.kInfeasible:
            raise ContradictionError("no whole numbers satisfy all equations and bounds")
        return point

    def whole_near(self, vertex: NDArray[np.float64], fixed: Mapping[int, int]) -> Point | None:
        """Whole numbers near a vertex, with given values of some unknowns, if they are found.

        Unknowns that are whole at the vertex stay, unless they share an equation with one
        that is not (or, if that does not help, with such a neighbour).
        """
        x = np.rint(vertex).astype(np.int64)
        moving = np.abs(vertex - x) > 1e-6
        pinned = list(fixed)
        moving[pinned] = True
        for slack in (1, 2):
            moving = self._with_neighbours(moving)
            among = np.flatnonzero(moving)
            low = np.maximum(np.floor(vertex + 1e-6).astype(np.int64) - slack, self.lower)
            high = np.minimum(np.ceil(vertex - 1e-6).astype(np.int64) + slack, self.upper)
            low[pinned] = high[pinned] = list(fixed.values())
            _, point = self._whole_step(among, x, low, high, np.zeros(len(x)), _NEAR_NODES)
            if point is not None:
                return point
        return None

    def _with_neighbours(self, unknowns: NDArray[np.bool_]) -> NDArray[np.bool_]:
        rows = np.abs(self.matrix) @ unknowns > 0
        return unknowns | (np.abs(self.matrix).T @ rows > 0)

    def _whole_step(
        self,
        among: NDArray[np.int64],
        start: NDArray[np.int64],
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        direction: NDArray[np.float64],
        nodes: int,
    ) -> tuple[Status, Point | None]:
        """Move some unknowns by whole steps from a start to where all equations hold."""
        if self._coarse < 1:  # too wide for a search that works with tolerances
            return Status.kUnknown, None
        inside = self.matrix[:, among]
        rows = np.flatnonzero(np.diff(inside.indptr))
        rest = self.right - product(self.matrix, start)
        solver = solver_of(inside[rows], 0.0, mip_max_nodes=nodes, **_WHOLE)
        _set_bounds(solver, lower[among], upper[among], start[among], rest[rows])
        n = len(among)
        every = np.arange(n, dtype=np.int32)
        solver.changeColsCost(n, every, -direction[among])
        solver.changeColsIntegrality(n, every, np.ones(n, dtype=np.uint8))
        status = run_in_time(solver, self.deadline, whole=True)
        steps = np.array(solver.getSolution().col_value)
        if len(steps) < n or not np.all(np.isfinite(steps)):
            return status, None
        x = start.copy()
        x[among] += np.rint(steps).astype(np.int64)
        return status, Point(x, 1) if self.holds(Point(x, 1)) else None

    # ── the solver ──────────────────────────────────────────────────────────────────

    def _place(self, centre: NDArray[np.int64], scale: float) -> None:
        """Give the solver the programme in ``scale * (x - centre)``."""
        rest = self.right - product(self.matrix, centre)
        _set_bounds(self._solver, self.lower, self.upper, centre, rest, scale)

    def _run(self) -> tuple[bool, NDArray[np.float64]]:
        status = self._look()  # read before any change resets it
        if status not in (Status.kOptimal, Status.kUnbounded):
            self._solver.clearSolver()  # a second opinion, without the basis
            status = self._look()
        if status == Status.kInfeasible:
            raise ContradictionError("no values satisfy all equations and bounds")
        if status not in (Status.kOptimal, Status.kUnbounded):
            said = self._solver.modelStatusToString(self._solver.getModelStatus())
            raise ProofError(f"the linear solver ended without an answer ({said})")
        return status == Status.kOptimal, np.array(self._solver.getSolution().col_value)

    def _look(self) -> Status:
        return run_in_time(self._solver, self.deadline, bounded=self.bounded)

    # ── exact again ─────────────────────────────────────────────────────────────────

    def _exact_vertex(self, centre: NDArray[np.int64], moved: NDArray[np.float64]) -> Point | None:
        if np.abs(moved).max(initial=0) >= _EXACT:
            return None  # cells on a bound would come to lie beside it
        near = np.rint(moved)
        x = centre + near.astype(np.int64)
        if np.abs(moved - near).max(initial=0) < 1e-6 and self.holds(Point(x, 1)):
            return Point(x, 1)
        _, basic = self._solver.getBasicVariables()
        inside = basic >= 0
        cells = basic[inside]
        for _ in range(8):  # each round adds the digits that the last one could not see
            rest = (self.right - product(self.matrix, x)).astype(float)
            step = self._solver.getBasisSolve(rest)[1][inside]
            if not np.all(np.abs(step) < _EXACT):
                return None
            whole = np.where(np.abs(step) < 0.75, 0, np.rint(step))  # 0.5 must come to rest
            x[cells] += whole.astype(np.int64)
            if not whole.any():
                break
        else:
            return None
        denominator = common_denominator(step)
        if denominator is None or float(np.abs(x).max()) * denominator >= LIMIT:
            return None
        x *= denominator
        x[cells] += np.rint(step * denominator).astype(np.int64)
        point = Point(x, denominator)
        return point if self.holds(point) else None

    def _exact_ray(self) -> NDArray[np.int64] | None:
        _, known, ray = self._solver.getPrimalRay()
        if not known:
            return None
        ray = np.where(np.abs(ray) < 1e-9, 0, ray)
        ray /= np.abs(ray[ray != 0]).min(initial=np.inf)
        denominator = common_denominator(ray)
        if denominator is None:
            return None
        steps = np.rint(ray * denominator).astype(np.int64)
        leaving = (steps < 0) & (self.lower > -UNKNOWN) | (steps > 0) & (self.upper < UNKNOWN)
        return None if product(self.matrix, steps).any() or leaving.any() else steps


def _set_bounds(
    solver: Any,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    centre: NDArray[np.int64],
    rest: NDArray[np.int64],
    scale: float = 1.0,
) -> None:
    n, m = len(lower), len(rest)
    low = np.where(lower > -UNKNOWN, (lower - centre) * scale, -np.inf)
    high = np.where(upper < UNKNOWN, (upper - centre) * scale, np.inf)
    right = rest.astype(np.float64) * scale
    solver.changeColsBounds(n, np.arange(n, dtype=np.int32), low, high)
    solver.changeRowsBounds(m, np.arange(m, dtype=np.int32), right, right)
