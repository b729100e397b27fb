"""What is asked of each table: checked, and put together for tables given as a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.protect.last_period import suppressed_before
from diskret.protect.plan import Cost, TableToProtect, frozen_cells
from diskret.rules import Rule, Sensitivity
from diskret.rules.unions import rules_for_unions
from diskret.rules.varying import for_tables
from diskret.tables import Table
from diskret.tables.cells import check_reserved
from diskret.texts.numbers import Count


@dataclass(frozen=True, eq=False)
class Asked:
    """A table, and what is asked for it; see `suppress`."""

    table: Table
    rule: Any
    name: str
    cost: Cost = "value"
    frozen: Any = None
    previous: Any = None
    previous_discount: float = 0
    #: Safe cells that everybody knows already, so that hiding them protects nobody; bool array.
    known: NDArray[np.bool_] | None = None

    def judged(self) -> TableToProtect:
        """The table as its rule judges it."""
        rule = self.rule
        sensitivity = rule if isinstance(rule, Sensitivity) else rule(self.table)
        frozen = self.frozen
        if self.known is not None:
            frozen = frozen_cells(self.table, frozen) | (self.known & ~sensitivity.unsafe)
        return TableToProtect(
            self.table,
            rule,
            sensitivity,
            self.cost,
            frozen,
            suppressed_before(self.table, self.previous),
            _check_discount(self.previous_discount),
            self.name,
        )


def tables_to_protect(asked: Sequence[Asked]) -> list[TableToProtect]:
    """Each table as its rule judges it."""
    if not asked:
        raise InputError("there is no table to protect")
    for one in asked:
        check_rule(one.rule)
    asked = _of_one_sign(asked)
    if any(one.previous_discount for one in asked) and all(one.previous is None for one in asked):
        raise InputError(
            "previous_discount= is for cells that were suppressed last period, but previous= does "
            "not say which; give it, or leave the discount out"
        )
    return [one.judged() for one in asked]


def _of_one_sign(asked: Sequence[Asked]) -> list[Asked]:
    """The same, where a measure that is negative in one table may be so in all.

    What the world knows of a measure it knows of all its tables: a cell that two of them share
    must not be at least 0 in the one and of any sign in the other.
    """
    signed = {_kind(one.table) for one in asked if not one.table.nonnegative}
    return [
        replace(one, table=_signed(one.table)) if _kind(one.table) in signed else one
        for one in asked
    ]


def _kind(table: Table) -> tuple[str, str]:
    return table.measure.name, table.vintage


def _signed(table: Table) -> Table:
    """The table with a measure that may be negative."""
    own = table.measure
    if not table.nonnegative:
        return table
    measures = [replace(m, signed=True) if m is own else m for m in table.measures]
    return replace(table, measures=tuple(measures))


def rules_of(measure: str, to_protect: Sequence[TableToProtect]) -> tuple[Any, ...]:
    """The rules for the tables of a measure, each once."""
    found = {id(o.rule): o.rule for o in to_protect if o.table.measure.name == measure}
    return tuple(found.values())


def rules_judging_unions(measure: str, to_protect: Sequence[TableToProtect]) -> tuple[Rule, ...]:
    """The same; none if one of them cannot judge unions of cells."""
    rules = rules_of(measure, to_protect)
    judging = all(not isinstance(r, Sensitivity) and rules_for_unions(r)[0] for r in rules)
    return rules if judging else ()


def _check_discount(discount: Any) -> float:
    """A discount in percent."""
    if isinstance(discount, bool) or not isinstance(discount, int | float):
        raise InputError(f"previous_discount= is a number of percent, not {discount!r}")
    if not 0 <= discount < 100:
        raise InputError(f"previous_discount= is at least 0 and below 100 percent, not {discount}")
    return float(discount)


def checked_tables(given: Any, verb: str, changed: bool = True) -> list[Table]:
    """A list of tables, and of nothing else; one alone is a list of one.

    `verb`: who asks. `changed`: values are to be changed, not cells suppressed.
    """
    parts: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    for part in parts:
        if not isinstance(part, Table):
            raise InputError(
                f"{verb}() takes tables, not an object of type {type(part).__name__!r}; make one "
                "with tabulate() from records or with Table.from_cells() from cells"
            )
    for part in parts:
        values = [measure.name for measure in part.measures]
        check_reserved([dimension.name for dimension in part.dimensions], values, changed)
    return parts


def check_rule(rule: Any) -> None:
    """Refuse what is neither a rule nor what one found."""
    if isinstance(rule, type):
        name = rule.__name__
        raise InputError(f"{name} is a kind of rule; give its numbers, e.g. dk.rules.{name}(3)")
    if not (callable(rule) or isinstance(rule, Sensitivity)):
        raise InputError(
            f"{rule!r} is no rule; give one like dk.rules.PPercent(5), or several joined with |"
        )


def rules_for(rule: Any, tables: Sequence[Table]) -> list[Any]:
    """A rule for all tables, or a list with one for each, as they judge tables of one office."""
    return for_tables(for_each(rule, tables, "rule"), tables)


def for_each(option: Any, tables: Sequence[Table], what: str) -> list[Any]:
    """An option for all tables, or a list with one for each."""
    if not isinstance(option, list | tuple):
        return [option] * len(tables)
    if len(option) != len(tables):
        number = Count(len(option))
        raise InputError(
            f"{what}= has {number} {number:entry|entries} for {len(tables)} tables; give one "
            "for each"
        )
    return list(option)
