"""One linear programme for a world: every box of records is a row, every atom a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

Floats = NDArray[np.float64]
_OPTIMAL = highspy.HighsModelStatus.kOptimal
_ENDLESS = (
    highspy.HighsModelStatus.kUnbounded,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)
_TINY = 1e-6


@dataclass(frozen=True)
class End:
    """One end of what is possible, and a world that reaches it (None: there is no end)."""

    value: float
    world: Floats | None
    price: Floats | None  # of each row


class Programme:
    """The worlds x with ``lower ≤ rows @ x ≤ upper`` and ``x ≥ floor``."""

    def __init__(self, rows: Floats, lower: Floats, upper: Floats, floor: Floats) -> None:
        self.rows, self.lower, self.upper, self.floor = rows, lower, upper, floor
        self._solver = highspy.Highs()
        for option, setting in (
            ("output_flag", False),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("simplex_strategy", 4),
            ("parallel", "off"),
        ):
            self._solver.setOptionValue(option, setting)
        number, width = rows.shape
        by_column = [np.flatnonzero(column) for column in rows.T]
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = width, number
        model.col_cost_ = np.zeros(width)
        model.col_lower_, model.col_upper_ = floor, np.full(width, np.inf)
        model.row_lower_, model.row_upper_ = lower, upper
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.cumsum([0, *map(len, by_column)])
        model.a_matrix_.index_ = np.concatenate([np.zeros(0, int), *by_column])
        model.a_matrix_.value_ = np.ones(sum(map(len, by_column)))
        self._solver.passModel(model)
        self._columns = np.arange(width, dtype=np.int32)
        self._row_numbers = np.arange(number, dtype=np.int32)

    def within(self, lower: Floats, upper: Floats, floor: Floats) -> None:
        """Other bounds for the same rows and columns."""
        self.lower, self.upper, self.floor = lower, upper, floor
        number, width = self.rows.shape
        change = self._solver.changeRowsBounds  # pyright: ignore[reportAttributeAccessIssue]
        change(number, self._row_numbers, lower, upper)
        self._solver.changeColsBounds(width, self._columns, floor, np.full(width, np.inf))

    def smallest_whole(self, goal: Floats) -> End:
        """The least that ``goal @ x`` can be in whole numbers."""
        end = self.smallest(goal)
        if end.world is None or (np.abs(end.world - np.round(end.world)) < _TINY).all():
            return end
        answer = milp(
            goal,
            constraints=LinearConstraint(self.rows, self.lower, self.upper),
            bounds=Bounds(self.floor, np.inf),
            integrality=np.ones(len(goal)),
        )
        if not answer.success:
            raise AssertionError(f"the whole-numbered programme of a true world: {answer.message}")
        world = np.round(answer.x)
        return End(float(goal @ world), world, None)

    def smallest(self, goal: Floats) -> End:
        """The least that ``goal @ x`` can be."""
        self._solver.changeColsCost(len(goal), self._columns, goal)
        self._solver.run()
        status = self._solver.getModelStatus()
        if status in _ENDLESS:
            return End(-np.inf, None, None)
        if status != _OPTIMAL:
            raise AssertionError(f"the linear programme of a true world is {status}")
        solution = self._solver.getSolution()
        world = np.array(solution.col_value)
        return End(float(goal @ world), world, np.array(solution.row_dual))

    def proven(self, goal: Floats, price: Floats, above: Fraction) -> bool:
        """Whether these prices prove exactly that ``goal @ x`` is larger than `above`."""
        for digits in (12, 1000, 10**6):
            price_of = [Fraction(p).limit_denominator(digits) for p in price.tolist()]
            left = [Fraction(g).limit_denominator(10**6) for g in goal.tolist()]
            bound = Fraction(0)
            for row, own in enumerate(price_of):
                if not own:
                    continue
                end = self.lower[row] if own > 0 else self.upper[row]
                if not np.isfinite(end):
                    break
                bound += own * Fraction(float(end))
                for column in np.flatnonzero(self.rows[row]):
                    left[column] -= own
            else:
                rest = [(own, end) for own, end in zip(left, self.floor, strict=True) if own]
                if any(own < 0 or not np.isfinite(end) for own, end in rest):
                    continue
                if bound + sum(own * Fraction(float(end)) for own, end in rest) > above:
                    return True
        return False
