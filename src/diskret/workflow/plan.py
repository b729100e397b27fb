"""From a judged table to the problem a suppression method solves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack import Attacker, Requirements, attacker_bounds
from diskret.errors import InputError, ProtectionError
from diskret.io import to_arrow
from diskret.progress import Progress
from diskret.rules import Sensitivity
from diskret.suppression import Problem
from diskret.system import System
from diskret.tables import Published, Table
from diskret.tables.from_cells import describe, locate

Cost = str | Callable[[Table], NDArray[np.float64]]

_EXAMPLES = 5


def plan(
    table: Table,
    sensitivity: Sensitivity,
    cost: Cost,
    frozen: Any,
    attacker: Attacker,
    time_limit: float | None,
    progress: Progress,
) -> Problem:
    """What has to be hidden, what must not be, and what hiding costs.

    Raises
    ------
    InputError
        An option cannot be used with this table.
    ProtectionError
        A cell that must stay published is unsafe itself.
    """
    system = System.of_table(table)
    _check_zeros(sensitivity, attacker)
    stays = frozen_cells(table, frozen)
    if not sensitivity.zeros_may_hide:
        stays = stays | table.empty
    _check_frozen(table, sensitivity, stays)
    world = publish(table, sensitivity.unsafe, "plan")
    lower, upper = attacker_bounds(world, attacker, table.measure.sum)
    return Problem(
        system=system,
        requirements=requirements(table, sensitivity, attacker),
        cost=cost_of(table, cost),
        frozen=stays.ravel(),
        lower=lower.ravel(),
        upper=upper.ravel(),
        integer=table.frequency,
        deadline=None if time_limit is None else time.monotonic() + time_limit,
        progress=progress,
    )


def publish(table: Table, suppressed: NDArray[np.bool_], name: str) -> Published:
    """What the world sees when these cells are suppressed."""
    measure = table.measure
    suppressed = suppressed.reshape(table.shape)
    return Published(
        name=name,
        dimensions=table.dimensions,
        measure=measure.name,
        frequency=table.frequency,
        decimals=measure.decimals,
        value=np.where(suppressed, 0, measure.sum),
        suppressed=suppressed,
        empty=table.empty & ~suppressed,
        nonnegative=table.nonnegative,
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


def cost_of(table: Table, cost: Cost) -> NDArray[np.float64]:
    """The price of suppressing each cell, ``(cells,)``, at least 10⁻⁶ of the mean price."""
    if callable(cost):
        price = np.asarray(cost(table), dtype=np.float64)
        if price.size != int(np.prod(table.shape)):
            raise InputError(f"cost= gave {price.size:,} prices for a table of shape {table.shape}")
    else:
        price = _named_cost(table, cost)
    price = price.ravel()
    if not np.all(np.isfinite(price)) or np.any(price < 0):
        raise InputError("costs must be finite numbers ≥ 0")
    mean = float(price.mean()) if price.size else 0.0
    return np.maximum(price, mean * 1e-6 or 1.0)


def frozen_cells(table: Table, frozen: Any) -> NDArray[np.bool_]:
    """Cells that must stay published, from a frame that names them by their codes."""
    mask = np.zeros(table.shape, dtype=bool)
    if frozen is None:
        return mask
    if isinstance(frozen, np.ndarray):
        if frozen.dtype != bool or frozen.shape != table.shape:
            raise InputError(f"frozen= must be a bool array of shape {table.shape} or a frame")
        return frozen
    named: pa.Table = to_arrow(frozen)[0]
    _, at = locate(named, {d.name: d.hierarchy for d in table.dimensions})
    mask.ravel()[at] = True
    return mask


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
        shown = "; ".join(describe(table.dimensions, int(c)) for c in clash[:_EXAMPLES])
        raise ProtectionError(
            f"{len(clash):,} unsafe cells are to stay published: {shown}. Take them out of "
            "frozen=, or have the units' consent entered in the rule"
        )
