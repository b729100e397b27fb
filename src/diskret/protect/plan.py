"""From a judged table to the problem a suppression method solves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker, Requirements, attacker_bounds
from diskret.attack.earlier_tables import earlier_requirements, joined_requirements
from diskret.deadline import NEVER, Deadline
from diskret.errors import InputError, ProtectionError
from diskret.keys import SecretKeys
from diskret.progress import Progress
from diskret.protect.attackers import check_bounds
from diskret.protect.earlier_tables import EarlierTables, known_before, system_with_earlier
from diskret.rules import Sensitivity
from diskret.suppression import Problem, Work
from diskret.system import System
from diskret.system.equations import RectangularCells
from diskret.tables import NO_BOUND, Dimension, Earlier, MeasureSum, Published, Table
from diskret.tables.from_cells import describe, describe_some
from diskret.tables.meanings import cells_left_out
from diskret.tables.named import named_cells
from diskret.texts.numbers import Count

Cost = str | Callable[[Table], NDArray[np.float64]]

_EXAMPLES = 5
#: Surcharge among equal costs for cells that were published last period.
_NOT_HIDDEN_BEFORE = 0.5


@dataclass(frozen=True, eq=False)
class TableToProtect:
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
        return publish_whole(self.table, self.name)

    def staying(self, further: NDArray[np.bool_]) -> TableToProtect:
        """The same with more cells that must stay published."""
        if not further.any():
            return self
        return replace(self, frozen=frozen_cells(self.table, self.frozen) | further)


def plan(
    to_protect: Sequence[TableToProtect],
    *,
    sums: Sequence[MeasureSum] = (),
    keys: SecretKeys | None,
    attacker: Attacker,
    deadline: Deadline = NEVER,
    budget: int | None = None,
    progress: Progress,
    before: EarlierTables | None = None,
    combinations: bool = False,
) -> Problem:
    """What has to be hidden, what must not be, and what hiding costs.

    Several tables are one problem; their cells follow each other, and behind them come
    cells that nobody publishes, which may change freely: `combinations` of codes, too, if asked
    for. Only attacks that pairs of tables do not explain need these, and they make it harder to
    find a cheap pattern. Tables that were published before (`before`) come behind the new ones:
    their published cells are frozen, their suppressed ones are hidden at no cost.
    """
    before = before or EarlierTables()
    tables = [one.table for one in to_protect]
    parts = [_planned(one, attacker, keys) for one in to_protect]
    system = system_with_earlier(tables, sums, before, combinations, deadline)
    new = sum(part.cost.size for part in parts)
    _check_known(system, to_protect, parts, new, before)
    parts += [_planned_earlier(one, attacker) for one in before.earlier]
    starts = np.cumsum([0, *(part.cost.size for part in parts)]).tolist()
    unpublished = len(system.value) - starts[-1]
    start = np.ones(len(system.value), dtype=bool)
    start[: starts[-1]] = ~np.concatenate([part.frozen for part in parts])
    start[:new] = False

    def joined(arrays: Sequence[NDArray[Any]], rest: Any) -> NDArray[Any]:
        behind = np.broadcast_to(np.asarray(rest, dtype=arrays[0].dtype), unpublished)
        return np.concatenate([*arrays, behind])

    needs = [part.requirements for part in parts]
    decided = keys is not None or any(one.previous is not None for one in to_protect)
    return Problem(
        system=system,
        requirements=joined_requirements(needs, starts[:-1]),
        cost=joined([part.cost for part in parts], 0.0),
        frozen=joined([part.frozen for part in parts], False),
        lower=joined([part.lower for part in parts], system.lowest),
        upper=joined([part.upper for part in parts], np.inf),
        integer=tables[0].frequency,
        start=start if start.any() else None,
        deadline=deadline,
        ties=joined([part.ties for part in parts], 0.0) if decided else None,
        work=Work(budget),
        progress=progress,
    )


@dataclass(frozen=True, eq=False)
class _PlannedTable:
    """What a problem says of one table; arrays as in `Problem`."""

    requirements: Requirements
    cost: NDArray[np.float64]
    ties: NDArray[np.float64]
    frozen: NDArray[np.bool_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def _planned(one: TableToProtect, attacker: Attacker, keys: SecretKeys | None) -> _PlannedTable:
    table, sensitivity = one.table, one.sensitivity
    _check_zeros(sensitivity, attacker)
    stays = frozen_cells(table, one.frozen)
    if sensitivity.frozen is not None:
        stays = stays | sensitivity.frozen
    # an empty cell hides nothing where the filter says that nobody is there
    stays = stays | (cells_left_out(table) if sensitivity.zeros_may_hide else table.empty)
    _check_frozen(table, sensitivity, stays)
    shown = publish(table, sensitivity.unsafe, one.name)
    lower, upper = attacker_bounds(shown, attacker.about(one.name), table.measure.sum)
    needs = requirements(table, sensitivity, attacker)
    if not attacker.outsider:
        check_bounds(table, one.name, needs, lower, upper)
    hidden = np.zeros(table.shape, dtype=bool) if one.previous is None else one.previous
    price = cost_of(table, one.cost, sensitivity.cost)
    ties = np.where(hidden, 0.0, _NOT_HIDDEN_BEFORE)
    if keys is not None:
        ties = ties + (1 - _NOT_HIDDEN_BEFORE) * keyed_ties(table, keys)
    return _PlannedTable(
        needs,
        np.where(hidden.ravel(), price * (1 - one.discount / 100), price),
        ties.ravel(),
        stays.ravel(),
        lower.ravel(),
        upper.ravel(),
    )


def _planned_earlier(earlier: Earlier, attacker: Attacker) -> _PlannedTable:
    """A table that was published before: nothing about it can be changed any more."""
    seen, size = earlier.published, earlier.published.value.size
    hidden = seen.suppressed.ravel()
    low = np.full(size, 0.0 if seen.nonnegative or seen.frequency else -np.inf)
    high = np.full(size, np.inf)
    for side, bound in seen.intervals.items():
        known = hidden & (np.abs(bound) != NO_BOUND)
        own, closer = (low, np.maximum) if side == "lower" else (high, np.minimum)
        own[known] = closer(own, bound)[known]
    nothing = np.zeros(size)
    return _PlannedTable(
        earlier_requirements(earlier, attacker), nothing, nothing, ~hidden, low, high
    )


def _check_known(
    system: System,
    to_protect: Sequence[TableToProtect],
    parts: Sequence[_PlannedTable],
    new: int,
    before: EarlierTables,
) -> None:
    """Refuse to hide what was published before."""
    if not before.earlier:
        return
    starts = np.cumsum([0, *(part.cost.size for part in parts)])
    needs = joined_requirements([part.requirements for part in parts], starts[:-1].tolist())
    known, where = known_before(system, new, before)
    late = np.isin(known, needs.cell)
    known, where = known[late], where[late]
    if not len(known):
        return
    ends = new + np.cumsum([table.measure.sum.size for table in before.tables])
    shown: list[str] = []
    for cell, seen in zip(known[:_EXAMPLES].tolist(), where[:_EXAMPLES].tolist(), strict=True):
        i = int(np.searchsorted(starts, cell, side="right")) - 1
        release = before.earlier[int(np.searchsorted(ends, seen, side="right"))]
        codes = describe(to_protect[i].table.dimensions, cell - int(starts[i]))
        shown.append(
            f"{to_protect[i].name}: {codes} (release {release.release!r}, "
            f"table {release.published.name!r})"
        )
    number = Count(len(known))
    raise ProtectionError(
        f"{number} unsafe {number:cell was|cells were} published before: {'; '.join(shown)}. "
        f"Hiding {number:it|them} now protects nobody. Set {number:it|them} to safe with "
        f"dk.rules.Apriori, with the reason that {number:it is|they are} public"
    )


def publish_whole(table: Table, name: str) -> Published:
    """What the world would see if nothing were suppressed."""
    return publish(table, np.zeros(table.shape, dtype=bool), name)


def publish(table: Table, suppressed: NDArray[np.bool_], name: str) -> Published:
    """What the world sees when these cells are suppressed; half a unit is rounded up."""
    measure, unit = table.measure, table.rounding
    suppressed = suppressed.reshape(table.shape)
    shown = table.shown
    if shown is None:
        shown = measure.sum if unit == 1 else (measure.sum + unit // 2) // unit * unit
    return Published(
        name=name,
        dimensions=table.dimensions,
        measure=measure.name,
        frequency=table.frequency,
        decimals=measure.decimals,
        value=np.where(suppressed, 0, shown),
        suppressed=suppressed,
        empty=table.empty & ~suppressed,
        nonnegative=table.nonnegative,
        vintage=table.vintage,
        where=table.where,
        recorded=table.recorded,
        rounding=unit,
    )


def requirements(table: Table, sensitivity: Sensitivity, attacker: Attacker) -> Requirements:
    """The levels of the unsafe cells.

    An attacker who knows that hidden counts are at least 1 cannot be made to believe in a
    0: there the lower level of a count gives way to "no exact value".
    """
    cell = np.flatnonzero(sensitivity.unsafe)
    lower = sensitivity.lower.ravel()[cell]
    if attacker.zeros_known and table.frequency:
        lower = np.minimum(lower, table.measure.sum.ravel()[cell] - 1)
    return Requirements(
        cell=cell,
        lower=lower,
        upper=sensitivity.upper.ravel()[cell],
        sliding=sensitivity.sliding.ravel()[cell],
    )


def cost_of(
    table: Table, cost: Cost, by_hand: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The price of suppressing each cell, ``(cells,)``, at least 10⁻⁶ of the mean price.

    Prices set by hand (NaN: none) take the place of the others.
    """
    price = given_prices(table, cost) if callable(cost) else _named_cost(table, cost).ravel()
    if by_hand is not None:
        price = np.where(np.isnan(by_hand), price.reshape(table.shape), by_hand).ravel()
    check_prices(price)
    mean = float(price.mean()) if price.size else 0.0
    return np.maximum(price, mean * 1e-6 or 1.0)


def given_prices(table: Table, cost: Callable[[Table], Any]) -> NDArray[np.float64]:
    """What a function of the caller's says that each cell costs, ``(cells,)``."""
    price = np.asarray(cost(table), dtype=np.float64)
    if price.size != int(np.prod(table.shape)):
        raise InputError(f"cost= gave {price.size:,} prices for a table of shape {table.shape}")
    return price.ravel()


def check_prices(price: NDArray[np.float64]) -> None:
    """Refuse prices below 0, and what is no number."""
    if not np.isfinite(price).all() or (price < 0).any():
        raise InputError("costs must be finite numbers ≥ 0")


def frozen_cells(table: Table, frozen: Any) -> NDArray[np.bool_]:
    """Cells that must stay published, from a frame that names them by their codes."""
    return named_cells(table, frozen, "frozen")


def _named_cost(table: Table, cost: str) -> NDArray[np.float64]:
    if cost == "cells":
        return np.ones(table.shape)
    if cost == "value":
        return np.abs(table.measure.sum) / 10.0**table.measure.decimals
    if cost == "count" and table.count is not None:
        return table.count.astype(np.float64)
    for measure in table.measures:
        if measure.name == cost:
            return np.abs(measure.sum) / 10.0**measure.decimals
    known = ", ".join(["'value'", "'count'", "'cells'", *(repr(m.name) for m in table.measures)])
    raise InputError(f"cost={cost!r} is not known here; use {known} or a callable")


def _check_zeros(sensitivity: Sensitivity, attacker: Attacker) -> None:
    if sensitivity.zeros_may_hide and attacker.zeros_known:
        raise InputError(
            "zeros_known=True is an attacker who knows that empty cells are never suppressed, "
            f"but a rule here ({', '.join(sensitivity.reasons)}) may suppress them; leave "
            "zeros_known out, or the rule"
        )


def _check_frozen(table: Table, sensitivity: Sensitivity, stays: NDArray[np.bool_]) -> None:
    clash = np.flatnonzero(sensitivity.unsafe & stays)
    if len(clash):
        shown = describe_some(table.dimensions, clash)
        number = Count(len(clash))
        raise ProtectionError(
            f"{number} unsafe {number:cell is|cells are} to stay published: {shown}. Take "
            f"{number:it|them} out of frozen= or the a priori list, or set {number:it|them} to "
            "safe there, with the units' consent or another reason"
        )


def keyed_ties(table: Table, keys: SecretKeys) -> NDArray[np.float64]:
    """A number from 0 to below 1 for each cell, from a keyed hash of the cell's definition.

    It depends on measure, vintage, population and the texts of the records in the cell alone: not
    on values, on what categories are called, on the order of rows, codes or variables, or on the
    table in which the cell stands. Other texts get other numbers, by design.

    keys: the office's keys; who does not have them cannot tell the numbers from random ones.

    Returns float64, shape of the table.

    Each part of a definition (what is measured; each variable with the texts of a code, total of
    a variable left out) has a keyed hash of 64 bits: BLAKE2b (RFC 7693) under the subkey
    "ties". The hashes of a cell are added modulo 2⁶⁴ and scrambled by the finaliser of
    SplitMix64 (Steele, Lea and Flood, 2014, "Fast splittable pseudorandom number
    generators", OOPSLA), so that there is one hash for each code and none for each cell.

    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S"], "firms": [7, 2]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> keyed_ties(table, SecretKeys(bytes(range(32)))).round(3).tolist()
    [0.981, 0.408, 0.856]
    """
    key = keys.subkey("ties")
    cells = RectangularCells(table.measure.name, table.vintage, table.dimensions, table.where)
    total = next(iter(cells))
    whole = _hash(key, "cells", total.measure, total.vintage, str(total.where))
    for name, code in total.at:
        whole += _hash(key, "code", name, code)
    start = np.array(whole % 2**64, dtype=np.uint64)
    along = [
        np.array([0, *(_hash(key, "code", d.name, *texts) for texts in _texts(d))], np.uint64)
        for d in table.dimensions
    ]
    with np.errstate(over="ignore"):
        mixed = _scrambled(reduce(np.add.outer, along, start))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _texts(dimension: Dimension) -> list[list[str]]:
    """The texts of the records in each category below the total."""
    tree = dimension.hierarchy
    return [sorted(tree.leaves_below(i)) for i in range(1, len(tree))]


def _hash(key: bytes, *words: str) -> int:
    """64 bits; the length of each word counts, so that borders between words do."""
    digest = hashlib.blake2b(key=key, digest_size=8)
    for word in words:
        text = word.encode()
        digest.update(len(text).to_bytes(8, "big") + text)
    return int.from_bytes(digest.digest(), "big")


def _scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A one-to-one map in which each bit depends on all."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
