"""Which statistic a function makes, and the cells that it is judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.cells import Cells
from diskret.outputs.groups import Groups
from diskret.outputs.judge_cells import STATISTICS, UNKNOWN, Part, Statistic
from diskret.outputs.records import Records

#: What is known of a function is known of the function itself and never of its name.
_FUNCTIONS: dict[Any, str] = {
    np.sum: "sum",
    np.mean: "mean",
    np.median: "median",
    np.min: "min",
    np.max: "max",
    sum: "sum",
    min: "min",
    max: "max",
    len: "size",
}
#: Records are counted, those without a value too.
_ALL_RECORDS = ("size", "len")


def statistic_of(function: Any) -> str:
    """The name of the statistic that a function of pandas, numpy or Python makes."""
    if function is None:
        return "count"
    if isinstance(function, str):
        return function if function in STATISTICS else "unknown"
    try:
        return _FUNCTIONS.get(function, "unknown")
    except TypeError:  # a list of functions
        return "unknown"


def called(function: Any) -> str:
    """What pandas calls a function in the names of columns."""
    return function if isinstance(function, str) else str(getattr(function, "__name__", function))


@dataclass(frozen=True, eq=False)
class Shown:
    """The cells that statistics are shown of, each counted once.

    Parameters
    ----------
    records
        The records.
    groups
        How they lie in cells.
    totals
        Whether totals are shown as well.
    complete
        Shape (records,): which records totals are made of; None: all in cells.
    """

    records: Records
    groups: Groups
    totals: bool = False
    complete: NDArray[np.bool_] | None = None
    _made: dict[str, list[Cells]] = field(default_factory=dict[str, list[Cells]])

    def part(self, column: str, function: Any, label: tuple[str, ...] = ()) -> Part:
        """What a function shows of a column."""
        name = statistic_of(function)
        return self.of(column, STATISTICS.get(name, UNKNOWN), label, name)

    def of(
        self, column: str, statistic: Statistic, label: tuple[str, ...] = (), name: str = ""
    ) -> Part:
        """What a statistic shows of a column; of one that holds no numbers it is not known."""
        if name in _ALL_RECORDS or not column:
            cells = self._cells("", None, None)
        elif name == "count":
            cells = self._cells(f"count {column}", None, ~self.records.without(column))
        elif (numbers := self.records.numbers(column)) is not None:
            cells = self._cells(f"numbers {column}", numbers, None)
        else:
            statistic = UNKNOWN
            cells = self._cells("", None, None)
        return Part(statistic, cells, self.groups.shape, column, label)

    def _cells(
        self, key: str, numbers: NDArray[np.float64] | None, counted: NDArray[np.bool_] | None
    ) -> list[Cells]:
        if key not in self._made:
            unit = self.records.unit
            inner = self.groups.cells(numbers, unit, counted)
            whole = inner
            if self.totals and self.complete is not None:
                inside = self.complete if counted is None else self.complete & counted
                whole = self.groups.cells(numbers, unit, inside)
            totals = self.groups.totals if self.totals else ()
            self._made[key] = [inner, *(whole.together(one.names, one.into) for one in totals)]
        return self._made[key]


def listed(figures: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    """Column, function and name of each statistic, as pandas' ``agg`` has them."""
    found: list[tuple[str, Any, str]] = []
    for name, wanted in figures.items():
        if isinstance(wanted, tuple):
            column, function = wanted
            found.append((column, function, name))
        elif isinstance(wanted, list):
            found += [(name, one, f"{name}_{called(one)}") for one in wanted]
        else:
            found.append((name, wanted, name))
    return found


def labels(figures: Sequence[tuple[str, Any, str]]) -> list[tuple[str, ...]]:
    """What each statistic is called in a verdict; nothing where there is only one."""
    if len(figures) == 1:
        return [()]
    return [(f"{column} {called(function)}",) for column, function, _ in figures]
