"""Possible values of cells that nobody publishes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.solver import Solver, Status

#: Unpublished cells are at most so many times as large as all published ones together.
_ROOM = 4


def possible_values(
    equations: sparse.csr_array, known: NDArray[np.int64], lowest: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Possible values of the unpublished cells: whole, and away from their bounds if possible.

    Which ones does not matter for what can be protected, as all possible tables can be
    reached from each of them; but they have to satisfy every equation exactly.

    `equations`: ``equations @ values`` is zero, ``(m, n)``. `known`: the values of the first cells,
    scaled integers, ``(k,)``. `lowest`: what the other ``n - k`` cannot be less than: 0 or −inf.
    """
    from scipy import optimize

    unpublished = equations.shape[1] - len(known)
    if not unpublished:
        return np.zeros(0, dtype=np.int64)
    among = sparse.csr_array(equations[:, len(known) :], dtype=np.int64)
    used = np.flatnonzero(np.diff(among.indptr))
    among = among[used]
    right = -(equations[used][:, : len(known)].astype(np.int64) @ known)
    # a cell that nothing bounds from above would otherwise be as large as numbers can be
    inner = _inner_point(among, right, lowest, _ROOM * (1.0 + np.abs(known.astype(float)).sum()))
    near = np.maximum(np.floor(inner + 1e-6), lowest).astype(np.int64)
    short = right - among @ near
    if not short.any():
        return near
    steps = optimize.milp(
        np.ones(2 * unpublished),
        constraints=optimize.LinearConstraint(
            sparse.hstack([among, -among], format="csc").astype(float), short, short
        ),
        bounds=optimize.Bounds(0, np.append(np.full(unpublished, np.inf), near - lowest)),
        integrality=np.ones(2 * unpublished),
        options={"node_limit": 1000},
    )
    if steps.x is None:
        return near
    up, down = np.split(np.rint(steps.x).astype(np.int64), 2)
    return near + up - down


def _inner_point(
    matrix: sparse.csr_array, right: NDArray[np.int64], lowest: NDArray[np.float64], most: float
) -> NDArray[np.float64]:
    """Numbers that satisfy the equations, away from their bounds where that is possible.

    None is larger than `most`.
    """
    # a corner would leave most of them no room
    solver = Solver(solver="ipm", run_crossover="off", presolve="off")
    solver.load(0, matrix, columns=(np.maximum(lowest, -most), most), rows=(right, right))
    if solver.run() is not Status.OPTIMAL:
        raise InputError(
            "the tables contradict each other: no records can have categories that overlap like "
            "these and the values of both tables; check that they come from the same records"
        )
    return solver.x
