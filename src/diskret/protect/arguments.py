"""What is asked of each table: checked, and put together for tables given as a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.protect.last_period import suppressed_before
from diskret.protect.plan import Cost, frozen_cells, publish
from diskret.rules import Sensitivity
from diskret.tables import Published, Table
from diskret.tables.cells import check_reserved


@dataclass(frozen=True, eq=False)
class Order:
    """One table with all that was asked for it."""

    table: Table
    rule: Any
    sensitivity: Sensitivity
    cost: Cost
    frozen: Any
    previous: NDArray[np.bool_] | None
    discount: float
    name: str

    @property
    def shown(self) -> Published:
        """The table with nothing suppressed."""
        return publish(self.table, np.zeros(self.table.shape, dtype=bool), self.name)

    def staying(self, further: NDArray[np.bool_]) -> Order:
        """The same with more cells that must stay published."""
        if not further.any():
            return self
        return replace(self, frozen=frozen_cells(self.table, self.frozen) | further)


def orders(
    tables: Sequence[Table],
    rules: Sequence[Any],
    costs: Sequence[Cost],
    frozen: Sequence[Any],
    previous: Sequence[Any],
    discounts: Sequence[float],
    names: Sequence[str],
) -> list[Order]:
    """An order for each table."""
    if not tables:
        raise InputError("there is no table to protect")
    for rule in rules:
        _check_rule(rule)
    if any(discounts) and all(before is None for before in previous):
        raise InputError(
            "previous_discount= is for cells that were suppressed last period, but previous= does "
            "not say which; give it, or leave the discount out"
        )
    return [
        Order(
            table,
            rule,
            rule if isinstance(rule, Sensitivity) else rule(table),
            cost,
            stays,
            suppressed_before(table, before),
            _check_discount(discount),
            name,
        )
        for table, rule, cost, stays, before, discount, name in zip(
            *(tables, rules, costs, frozen, previous, discounts, names), strict=True
        )
    ]


def _check_discount(discount: Any) -> float:
    """A discount in percent."""
    if isinstance(discount, bool) or not isinstance(discount, int | float):
        raise InputError(f"previous_discount= is a number of percent, not {discount!r}")
    if not 0 <= discount < 100:
        raise InputError(f"previous_discount= is at least 0 and below 100 percent, not {discount}")
    return float(discount)


def checked_tables(given: Any, changed: bool = False) -> list[Table]:
    """A list of tables, and of nothing else; one alone is a list of one.

    `changed`: their values are to be changed, not cells suppressed.
    """
    parts: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    for part in parts:
        if not isinstance(part, Table):
            raise InputError(
                f"suppress() protects tables, not an object of type {type(part).__name__!r}; make "
                "one with tabulate() from records or with Table.from_cells() from cells"
            )
    for part in parts:
        values = [measure.name for measure in part.measures]
        check_reserved([dimension.name for dimension in part.dimensions], values, changed)
    return parts


def _check_rule(rule: Any) -> None:
    if isinstance(rule, type) or not (callable(rule) or isinstance(rule, Sensitivity)):
        raise InputError(
            f"{rule!r} is no rule; give one like dk.rules.PPercent(5), or several joined with |"
        )


def for_each(option: Any, tables: Sequence[Table], what: str) -> list[Any]:
    """An option for all tables, or a list with one for each."""
    if not isinstance(option, list | tuple):
        return [option] * len(tables)
    if len(option) != len(tables):
        raise InputError(
            f"{what}= has {len(option)} entries for {len(tables)} tables; give one for each"
        )
    return list(option)
