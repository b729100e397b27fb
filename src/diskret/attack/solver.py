"""The linear solver as the attack starts it; apart from the one that protection uses, on purpose.

A fault in how programmes are put together would otherwise stand on both sides.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.deadline import Deadline
from diskret.errors import ProofError


class Status(Enum):
    """How a search ended, by the names of HiGHS."""

    kOptimal = auto()
    kInfeasible = auto()
    kUnbounded = auto()
    kUnboundedOrInfeasible = auto()
    kTimeLimit = auto()
    kIterationLimit = auto()
    #: Anything else.
    kUnknown = auto()


#: Seconds by which clocks may differ.
_GRACE = 0.05
#: Steps for one answer, which take about five seconds: so many pivots in a small programme, half as
#: many in one of so many columns; and in whole numbers turns of the search times columns, and turns
#: at least, as fewer only prepare it.
_PIVOTS, _WIDE = 200_000, 50_000
_TURNS, _FEWEST_TURNS = 500_000, 20


class OutOfWork(ProofError):
    """One answer took all the work that it is allowed; this says nothing of what there is.

    Work is counted in steps, so it ends at the same place on every computer.
    """


def doubt(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the last digits of a computed value may be wrong by; computers differ in them.

    >>> doubt(np.array([0.0, -1e9])).round(9).tolist()
    [1e-06, 0.001001]
    """
    return 1e-6 + 1e-12 * np.abs(value)


@cache
def _quiet() -> Any:
    """A solver that says nothing from the start; release 1.16 greets before it is told not to."""
    import highspy

    class Quiet(highspy.Highs):
        def enableCallbacks(self) -> None:  # noqa: N802 — called as a solver is made
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Quiet


def solver_of(matrix: sparse.csr_array | sparse.csc_array, price: float, **options: Any) -> Any:
    """A solver that has ``matrix @ x = 0`` with all x at 0 yet, each at a price; options of HiGHS.

    The option `threads` stays unset: threads belong to the process, and a programme that wants
    another number of them than the first one fails. `parallel` keeps the work on one.
    """
    import highspy

    m, n = matrix.shape
    rowwise = isinstance(matrix, sparse.csr_array)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n, m
    model.col_cost_ = np.full(n, price)
    model.col_lower_ = model.col_upper_ = np.zeros(n)
    model.row_lower_ = model.row_upper_ = np.zeros(m)
    own = model.a_matrix_
    own.format_ = highspy.MatrixFormat.kRowwise if rowwise else highspy.MatrixFormat.kColwise
    own.num_col_, own.num_row_ = n, m
    own.start_ = matrix.indptr.astype(np.int32)
    own.index_ = matrix.indices.astype(np.int32)
    own.value_ = matrix.data.astype(np.float64)
    found = _quiet()()
    for option, value in {"output_flag": False, "parallel": "off", **options}.items():
        found.setOptionValue(option, value)
    found.passModel(model)
    return found


def run_in_time(
    solver: Any, deadline: Deadline, *, bounded: bool = False, whole: bool = False
) -> Status:
    """Search until the deadline.

    bounded: whether an answer in fractions may take a counted amount of work only.
    whole: whether some unknowns are whole numbers: work is bounded, and what was found counts.

    Raises `OutOfTime` if there is no answer by the deadline, `OutOfWork` if work runs out.
    """
    import highspy

    if deadline.limited:
        deadline.check()
        left = max(deadline.seconds(), 0.0) + _GRACE
        solver.setOptionValue("time_limit", solver.getRunTime() + left)
    if whole:
        _run_whole(solver)
    else:
        pivots = int(_PIVOTS / (1 + solver.getNumCol() / _WIDE)) if bounded else highspy.kHighsIInf
        solver.setOptionValue("simplex_iteration_limit", pivots)
        solver.run()
    status = Status.__members__.get(solver.getModelStatus().name, Status.kUnknown)
    if status == Status.kTimeLimit:
        raise deadline.error()
    if status == Status.kIterationLimit:
        raise OutOfWork("a linear programme took all the work that it is allowed")
    return status


def _run_whole(solver: Any) -> None:
    """Search in whole numbers; interrupted where it asks for one turn too many."""
    left = max(_TURNS // max(solver.getNumCol(), 1), _FEWEST_TURNS)

    def another(event: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            event.interrupt()

    asked = solver.cbMipInterrupt
    asked.subscribe(another)
    try:
        solver.run()
    finally:
        asked.unsubscribe(another)
