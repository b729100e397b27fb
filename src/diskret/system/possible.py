"""Possible values of cells that nobody publishes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.deadline import NEVER, Deadline
from diskret.errors import InputError, ProtectionError
from diskret.solver import Solver, Status

#: Unpublished cells are at most so many times as large as all published ones together.
_ROOM = 4
#: Steps of the interior-point method, of which some dozens are usual, pivots of the simplex method,
#: and turns of a search in whole numbers.
_STEPS, _PIVOTS, _TURNS = 300, 200_000, 2_000


def possible_values(
    equations: sparse.csr_array,
    known: NDArray[np.int64],
    lowest: NDArray[np.float64],
    deadline: Deadline = NEVER,
) -> NDArray[np.int64]:
    """Possible values of the unpublished cells: whole, and away from their bounds if possible.

    Which ones does not matter for what can be protected, as all possible tables can be
    reached from each of them; but they have to satisfy every equation exactly.

    `equations`: ``equations @ values`` is zero, ``(m, n)``. `known`: the values of the first cells,
    scaled integers, ``(k,)``. `lowest`: what the other ``n - k`` cannot be less than: 0 or −inf.

    Raises InputError: there are none. OutOfTime: the deadline came first. ProtectionError: none
    were found with the work that is allowed.
    """
    unpublished = equations.shape[1] - len(known)
    if not unpublished:
        return np.zeros(0, dtype=np.int64)
    among = sparse.csr_array(equations[:, len(known) :], dtype=np.int64)
    used = np.flatnonzero(np.diff(among.indptr))
    among = among[used]
    right = -(equations[used][:, : len(known)].astype(np.int64) @ known)
    # a cell that nothing bounds from above would otherwise be as large as numbers can be
    most = _ROOM * (1.0 + np.abs(known.astype(float)).sum())
    inner = _inner_point(among, right, np.maximum(lowest, -most), most, deadline)
    near = np.maximum(np.floor(inner + 1e-6), lowest).astype(np.int64)
    short = right - among @ near
    if not short.any():
        return near
    solver = Solver(mip_max_nodes=1000)
    solver.load(
        1,
        sparse.csc_array(sparse.hstack([among, -among], format="csc"), dtype=np.float64),
        columns=(0, np.append(np.full(unpublished, np.inf), near - lowest)),
        rows=(short, short),
        whole=True,
    )
    if solver.run(_left(deadline), turns=_TURNS) is Status.OUT_OF_TIME and not solver.feasible:
        raise deadline.error()
    if not solver.feasible:
        return near
    up, down = np.split(np.rint(solver.x).astype(np.int64), 2)
    return near + up - down


def _inner_point(
    matrix: sparse.csr_array,
    right: NDArray[np.int64],
    least: NDArray[np.float64],
    most: float,
    deadline: Deadline,
) -> NDArray[np.float64]:
    """Numbers that satisfy the equations, away from their bounds where that is possible.

    None is larger than `most`.
    """
    # a corner would leave most of them no room, so it is only for where nothing else is found
    inner = Solver(solver="ipm", run_crossover="off", presolve="off", ipm_iteration_limit=_STEPS)
    corner = Solver(presolve="off", solver="simplex")
    for solver in (inner, corner):
        solver.load(0, matrix, columns=(least, most), rows=(right, right))
        status = solver.run(_left(deadline), pivots=_PIVOTS)
        if status is Status.OPTIMAL:
            return solver.x
        if status is Status.OUT_OF_TIME:
            raise deadline.error()
        if status in (Status.IMPOSSIBLE, Status.IMPOSSIBLE_OR_ENDLESS):
            raise InputError(
                "the tables contradict each other: no records can have categories that overlap "
                "like these and the values of both tables; check that they come from the same "
                "records"
            )
    raise ProtectionError(
        "which values the cells have that tie the tables together, and that nobody publishes, was "
        "not found within the work that is allowed; protect fewer tables together, or publish "
        "fewer decimals"
    )


def _left(deadline: Deadline) -> float | None:
    return deadline.seconds() if deadline.limited else None
