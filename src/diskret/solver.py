"""Linear and mixed-integer programmes, solved by HiGHS: all that methods of protection ask of it.

The attack has a solver of its own, so that a fault here does not stand on both sides.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from enum import Enum, auto
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from diskret.effort import spend


class Status(Enum):
    """How a search ended."""

    OPTIMAL = auto()
    IMPOSSIBLE = auto()
    IMPOSSIBLE_OR_ENDLESS = auto()
    OUT_OF_TIME = auto()
    #: The work allowed was done; unlike time, it ends the search at the same place everywhere.
    OUT_OF_WORK = auto()
    #: Other limits, or trouble; `Solver.said` has the word for it.
    OPEN = auto()


_STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kInfeasible": Status.IMPOSSIBLE,
    "kUnboundedOrInfeasible": Status.IMPOSSIBLE_OR_ENDLESS,
    "kTimeLimit": Status.OUT_OF_TIME,
    "kIterationLimit": Status.OUT_OF_WORK,
    "kInterrupt": Status.OUT_OF_WORK,
}


#: What a programme costs beside its pivots: as many of them, and this for each, whatever its size.
_SET_UP, _ASKING = 50, 200_000
#: Pivots for one answer in fractions, which take about five seconds: so many in a small programme,
#: half as many in one of so many columns. They cost little more in large programmes than in small.
_PIVOTS, _WIDE = 200_000, 50_000
#: The same for an answer in whole numbers: turns of the search times columns; and turns at least,
#: as fewer only prepare it.
_TURNS, _FEWEST_TURNS = 500_000, 20


def pivots_for(columns: int) -> int:
    """Pivots that take about five seconds in a programme of so many columns."""
    return int(_PIVOTS / (1 + columns / _WIDE))


def turns_for(columns: int) -> int:
    """Turns of a search in whole numbers that take about five seconds."""
    return max(int(_TURNS / max(columns, 1)), _FEWEST_TURNS)


class Solver:
    """A solver with options of HiGHS, silent and on one thread; an option that is None is left.

    One line of it no option silences: after some programmes with a column that has an upper bound
    and no lower one it tells of "HighsPostsolveStack::DuplicateColumn", printed by C itself.

    Its option `threads` must stay unset: threads belong to the process, and a programme that
    wants another number of them than the first one fails.
    """

    def __init__(self, **options: bool | int | float | str | None):
        import highspy

        self._highs = _silent()()
        self._endless = int(highspy.kHighsIInf)
        self.set(output_flag=False, parallel="off", **options)

    def set(self, **options: bool | int | float | str | None) -> None:
        """Set options from now on."""
        for option, value in options.items():
            if value is not None:
                self._highs.setOptionValue(option, value)

    def load(
        self,
        cost: ArrayLike,
        matrix: sparse.csr_array | sparse.csc_array,
        *,
        columns: tuple[ArrayLike, ArrayLike],
        rows: tuple[ArrayLike, ArrayLike],
        whole: ArrayLike = False,
    ) -> None:
        """Minimise ``cost @ x`` with x between `columns` and ``matrix @ x`` between `rows`.

        `whole`: which x are whole numbers. One value stands for all columns, or all rows.
        """
        import highspy

        m, n = matrix.shape
        model: Any = highspy.HighsLp()
        model.num_row_, model.num_col_ = m, n
        model.col_cost_ = _each(cost, n)
        model.col_lower_, model.col_upper_ = (_each(bound, n) for bound in columns)
        model.row_lower_, model.row_upper_ = (_each(bound, m) for bound in rows)
        by_row = matrix.format == "csr"
        formats = highspy.MatrixFormat
        model.a_matrix_.format_ = formats.kRowwise if by_row else formats.kColwise
        model.a_matrix_.num_row_, model.a_matrix_.num_col_ = m, n
        model.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        model.a_matrix_.index_ = matrix.indices.astype(np.int32)
        model.a_matrix_.value_ = matrix.data.astype(np.float64)
        if np.any(whole):
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            model.integrality_ = [kinds[w] for w in np.broadcast_to(whole, n).tolist()]
        self._highs.passModel(model)

    def load_from(self, other: Solver) -> None:
        """Take over the programme that another solver has by now."""
        self._highs.passModel(other._highs.getLp())

    def run(
        self, seconds: float | None = None, *, pivots: int | None = None, turns: int | None = None
    ) -> Status:
        """Search, for at most so long, or with so much work, counted alike on every computer.

        `pivots`: steps of the simplex method, where all is fractions. `turns`: how often a search
        in whole numbers may ask whether to go on, which it does after each round of programmes.
        """
        limit = np.inf if seconds is None else self._highs.getRunTime() + max(seconds, 0.0)
        self._highs.setOptionValue("time_limit", limit)
        most = self._endless if pivots is None else min(pivots, self._endless)
        self._highs.setOptionValue("simplex_iteration_limit", most)
        if turns is None:
            self._highs.run()
        else:
            with self._at_most(turns):
                self._highs.run()
        spend(_ASKING + (_SET_UP + self.pivots) * self._highs.getNumCol())
        return _STATUS.get(self._highs.getModelStatus().name, Status.OPEN)

    @contextmanager
    def _at_most(self, turns: int) -> Generator[None]:
        """Interrupt the search when it asks for another turn."""
        left = turns

        def another(event: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                event.interrupt()

        asked = self._highs.cbMipInterrupt
        asked.subscribe(another)
        try:
            yield
        finally:
            asked.unsubscribe(another)

    # ── what was found ──────────────────────────────────────────────────────────────

    @property
    def x(self) -> NDArray[np.float64]:
        """The best x found; may be of length 0 if none was."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def row_duals(self) -> NDArray[np.float64]:
        """What the objective gains by each row's right-hand side."""
        return np.array(self._highs.getSolution().row_dual)

    @property
    def reduced_costs(self) -> NDArray[np.float64]:
        """What the objective gains by each column's bound."""
        return np.array(self._highs.getSolution().col_dual)

    @property
    def feasible(self) -> bool:
        """Whether the x found satisfies everything, as far as floats say."""
        return self._highs.getInfo().primal_solution_status == 2

    @property
    def objective(self) -> float:
        """``cost @ x``; infinite if nothing was found."""
        return self._highs.getInfo().objective_function_value

    @property
    def bound(self) -> float:
        """No x in whole numbers has a smaller objective."""
        return self._highs.getInfo().mip_dual_bound

    @property
    def pivots(self) -> int:
        """Steps that the simplex method took: the same on every computer."""
        return self._highs.getInfo().simplex_iteration_count

    @property
    def said(self) -> str:
        """The status in the solver's own words."""
        return self._highs.modelStatusToString(self._highs.getModelStatus())

    # ── the next question ───────────────────────────────────────────────────────────

    def start(self, x: NDArray[Any]) -> None:
        """Tell an x that is known to satisfy everything."""
        import highspy

        known: Any = highspy.HighsSolution()
        known.col_value = x.astype(np.float64).tolist()
        self._highs.setSolution(known)

    def forget(self) -> None:
        """Begin the next search from scratch."""
        self._highs.clearSolver()

    def bound_columns(self, at: NDArray[np.int64], lower: ArrayLike, upper: ArrayLike) -> None:
        """Set the bounds of some columns."""
        n = len(at)
        self._highs.changeColsBounds(n, at.astype(np.int32), _each(lower, n), _each(upper, n))

    def price_columns(self, at: NDArray[np.int64], cost: ArrayLike) -> None:
        """Set the costs of some columns."""
        self._highs.changeColsCost(len(at), at.astype(np.int32), _each(cost, len(at)))

    def all_whole(self, whole: bool) -> None:
        """Ask for whole numbers in every column, or in none."""
        n = self._highs.getNumCol()
        kinds = np.full(n, int(whole), dtype=np.uint8)
        self._highs.changeColsIntegrality(n, np.arange(n, dtype=np.int32), kinds)

    def add_rows(self, least: NDArray[np.float64], matrix: sparse.csr_array) -> None:
        """Demand ``matrix @ x ≥ least``, too."""
        self._highs.addRows(
            len(least),
            least,
            _each(np.inf, len(least)),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data.astype(np.float64),
        )


def _each(value: ArrayLike, number: int) -> NDArray[np.float64]:
    if isinstance(value, np.ndarray) and value.shape == (number,):
        return np.ascontiguousarray(value, dtype=np.float64)
    return np.full(number, value, dtype=np.float64)


@cache
def _silent() -> Any:
    """The class of solvers that are silent from the beginning: release 1.16 greets otherwise."""
    import highspy

    class Silent(highspy.Highs):
        def enableCallbacks(self) -> None:  # noqa: N802 — what the constructor calls
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Silent
