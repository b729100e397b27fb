"""Controlled tabular adjustment: judge, move, certify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from diskret.adjustment import Adjusted, Adjustment, adjusted
from diskret.attack import Attacker, Requirements
from diskret.attack.certify_changed import certify_adjustment
from diskret.deadline import Deadline
from diskret.errors import InputError
from diskret.parallel import meanwhile
from diskret.parameters import AnyPercentage, Positive, reading
from diskret.progress import Progress, silent
from diskret.protect.arguments import checked_tables, for_each, rules_for
from diskret.protect.linked import default_names, linked, of_each
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.plan import check_prices, frozen_cells, given_prices, requirements
from diskret.rules import Rule, Sensitivity
from diskret.rules.percentages import percent_of
from diskret.system import System, joint_system
from diskret.tables import Noise, Table
from diskret.tables.from_cells import describe_some
from diskret.tables.perturbed import published_with
from diskret.texts.numbers import Count

#: ``"value"``, ``"relative"``, or the price of moving each cell by one unit.
MovingCost = Literal["value", "relative"] | Callable[[Table], NDArray[np.float64]]


@overload
def adjust(
    table: Table,
    rule: Rule | Sensitivity,
    *,
    cost: MovingCost = ...,
    largest_change: float = ...,
    frozen: Any = ...,
    time_limit: float | None = ...,
    name: str | None = ...,
    progress: Progress = ...,
) -> PerturbedResult: ...


@overload
def adjust(
    table: Sequence[Table],
    rule: Rule | Sequence[Rule | Sensitivity],
    *,
    cost: MovingCost = ...,
    largest_change: float = ...,
    frozen: Sequence[Any] | None = ...,
    time_limit: float | None = ...,
    name: Sequence[str] | None = ...,
    progress: Progress = ...,
) -> list[PerturbedResult]: ...


@reading
def adjust(
    table: Table | Sequence[Table],
    rule: Any,
    *,
    cost: MovingCost = "value",
    largest_change: Annotated[float, AnyPercentage()] = 20,
    frozen: Any = None,
    time_limit: Positive | None = None,
    name: Any = None,
    progress: Progress = silent,
) -> PerturbedResult | list[PerturbedResult]:
    """Move every sensitive value by at least its level and the others least; all totals hold.

    A sensitive value a becomes a − L or less, or a + U or more, with its protection levels L and
    U. Empty cells stay 0, and no value becomes negative where none can be. Every cell is shown,
    and nothing tells which were changed.

    Parameters
    ----------
    table
        One table, or several that are adjusted together: cells with the same definition get the
        same value.
    rule
        Which cells are sensitive; for several tables one for all, or a list with one for each.
    cost
        What is to be least: ``"value"``: the sum of all changes; ``"relative"``: the sum of
        changes relative to the values; or a function that gives the price of moving each cell of
        a table by one unit.
    largest_change
        Percent of its value by which a cell that is not sensitive may change at most, above 0; one
        unit of the last decimal is always possible. Sensitive cells may go so much beyond
        their level.
    frozen
        Cells that must keep their values, as in [`suppress`][diskret.suppress].
    time_limit
        Seconds after which the search for smaller changes stops; five seconds later at most if
        there is no table yet that satisfies everything, and then the tables are refused.
    name
        Name of the published table and its files, as in [`suppress`][diskret.suppress].
    progress
        Called with ``("adjust", done, total)``, at least every few seconds.

    Returns
    -------
    PerturbedResult or list of PerturbedResult
        The adjusted tables. Nothing about true values can be relied on (`known` is None).

    Raises
    ------
    InputError
        An option cannot be used, a rule finds empty cells sensitive, a table is shown rounded, or
        tables contradict each other.
    ProtectionError
        No additive table satisfies everything within `largest_change`.
    ProofError
        A claim does not hold.

    Notes
    -----
    Attackers are not asked: what an adjusted table claims is not an interval but the distance of
    sensitive values from what is shown.

    References
    ----------
    See [`adjusted`][diskret.adjustment.adjusted].

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.rules import MinimumFrequency
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [70, 2, 50]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> adjust(table, MinimumFrequency(3)).certificate.figures["total_change"]
    2.0
    """
    tables = checked_tables(table, "adjust")
    names = default_names(tables, [name] if isinstance(table, Table) else name)
    rules = rules_for(rule, tables)
    stays = for_each([frozen] if isinstance(table, Table) else frozen, tables, "frozen")
    parts = [
        _movable(own, judge, fixed, cost, largest_change)
        for own, judge, fixed in zip(tables, rules, stays, strict=True)
    ]
    results: dict[int, PerturbedResult] = {}
    deadline, together = Deadline.after(time_limit), linked(tables)
    for place, group in enumerate(together):
        ours = [tables[i] for i in group]
        found = meanwhile(
            partial(
                _together,
                ours,
                [parts[i] for i in group],
                deadline.share(1 / (len(together) - place)),
            ),
            partial(progress, "adjust", place, len(together)),
        )
        change = of_each(found.change, ours)
        shown = [
            published_with(
                own, Noise.of(own.measure.sum + moved), name=names[i], changed="adjustment"
            )
            for i, own, moved in zip(group, ours, change, strict=True)
        ]
        certificates = certify_adjustment(shown, ours, [parts[i].needs for i in group])
        settings = {
            "method": "adjustment",
            "cost": cost if isinstance(cost, str) else "given",
            "largest_change": largest_change,
            "price": found.cost,
            "at_least": found.bound,
            "rounds": found.rounds,
        }
        for i, own, certificate in zip(group, ours, certificates, strict=True):
            results[i] = PerturbedResult(own, certificate, settings, None)
    done = [results[i] for i in range(len(tables))]
    return done[0] if isinstance(table, Table) else done


@dataclass(frozen=True, eq=False)
class _MovableTable:
    """What an adjustment has to know of one table; arrays by cell."""

    needs: Requirements
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    cost: NDArray[np.float64]


def _movable(
    table: Table, rule: Any, frozen: Any, cost: MovingCost, largest_change: float
) -> _MovableTable:
    if table.rounding > 1 or table.shown is not None:
        raise InputError(
            "an adjusted table shows its values with all decimals; adjust the table before it is "
            "rounded"
        )
    found = rule if isinstance(rule, Sensitivity) else rule(table)
    value = table.measure.sum.ravel()
    stays = frozen_cells(table, frozen).ravel()
    if found.frozen is not None:
        stays = stays | found.frozen.ravel()
    fixed = stays | table.empty.ravel()
    if table.nonnegative:
        fixed = fixed | (value == 0)
    clash = np.flatnonzero(found.unsafe.ravel() & fixed)
    if len(clash):
        examples = describe_some(table.dimensions, clash)
        number = Count(len(clash))
        raise InputError(
            f"{number} sensitive {number:cell is|cells are} empty or "
            f"{number:has to keep its value|have to keep their values}: {examples}. "
            f"Adjustment cannot move {number:it: release it|them: release them}, or suppress cells "
            "instead"
        )
    needs = requirements(table, found, Attacker())
    # rounded down: what is allowed is not exceeded, but for the one unit that always is
    room = np.maximum(-percent_of(-np.abs(value), largest_change, "largest_change"), 1)
    room[needs.cell] += np.maximum(np.maximum(needs.lower, needs.upper), 1)
    room[fixed] = 0
    down = np.minimum(room, value) if table.nonnegative else room
    return _MovableTable(needs, down, room, _price(table, cost))


def _price(table: Table, cost: MovingCost) -> NDArray[np.float64]:
    value = np.abs(table.measure.sum)
    if callable(cost):
        price = given_prices(table, cost)
        check_prices(price)
        return price
    if cost == "value":
        return np.ones(value.size)
    return value[value > 0].mean() / np.maximum(value, 1).ravel() if value.any() else value


def _together(
    tables: Sequence[Table], parts: Sequence[_MovableTable], deadline: Deadline
) -> Adjusted:
    """The least change of tables that equations tie together."""
    if len(tables) == 1:
        system = System.of_table(tables[0])
    else:
        system = joint_system(tables, deadline=deadline)
    starts = np.cumsum([0, *(part.cost.size for part in parts)])
    known = int(starts[-1])
    lower = np.concatenate([part.needs.lower for part in parts])
    upper = np.concatenate([part.needs.upper for part in parts])
    either = (lower == 0) & (upper == 0)
    down = np.concatenate([part.down for part in parts])
    cell = np.concatenate(
        [part.needs.cell + start for part, start in zip(parts, starts, strict=False)]
    )
    lower = np.where(either, np.minimum(1, down[cell]), lower)
    # unpublished cells only have to stay possible
    rest = system.value[known:]
    widest = int(np.abs(system.value).max(initial=1))
    below = np.where(np.isinf(system.lowest), widest, rest)
    return adjusted(
        Adjustment(
            equations=system.equations,
            cell=cell,
            lower=lower,
            upper=np.where(either, 1, upper),
            down=np.concatenate([down, below]),
            up=np.concatenate([*(part.up for part in parts), np.full(len(rest), widest)]),
            cost=np.concatenate([*(part.cost for part in parts), np.zeros(len(rest))]),
        ),
        deadline.seconds() if deadline.limited else None,
    )
