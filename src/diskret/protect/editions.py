"""An edition beside the last delivery: what is hidden or shown for the first time, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack import Explanations, cell_name
from diskret.tables import Published
from diskret.tables.cells import (
    STATUS,
    check_names,
    codes_columns,
    in_published_units,
    status_codes,
)
from diskret.tables.difference import ABSENT, matched, other_surroundings, transposed

if TYPE_CHECKING:
    from diskret.protect.result import Result

_COLUMNS = (
    *("change", "previous", "previous_status", "now", "status", "why", "rule", "needed_by"),
    *("needed_by_new", "equations_changed"),
)
_BETWEEN = "; "


@dataclass(frozen=True)
class Kept:
    """How much of the last delivery's pattern is kept, in cells. Confidential.

    `before`: hidden then, and there now; `kept`: of these hidden now. `by_rule` and
    `to_protect`: hidden now and not then, as primaries and as secondaries. `shown`: hidden then and
    not now.
    """

    before: int
    kept: int
    by_rule: int
    to_protect: int
    shown: int


def kept_since(result: Result, previous: Published) -> Kept:
    """How much of the pattern of the last delivery is kept."""
    then = _hidden_then(result.published, previous)
    hidden = result.published.suppressed.ravel()
    primary = result.sensitivity.unsafe.ravel()
    return Kept(
        before=int(then.sum()),
        kept=int((then & hidden).sum()),
        by_rule=int((hidden & ~then & primary).sum()),
        to_protect=int((hidden & ~then & ~primary).sum()),
        shown=int((then & ~hidden).sum()),
    )


def since_columns(result: Result, previous: Published, found: Explanations | None) -> pa.Table:
    """What [`Result.since`][diskret.Result.since] returns, as an Arrow table. Confidential.

    `found` are the reasons of secondaries; None: they are not looked for.
    """
    now, then = result.published, transposed(previous, result.published)
    check_names([*(d.name for d in now.dimensions), *_COLUMNS])
    at = matched(now, then)
    before = np.where(at < 0, len(STATUS), status_codes(then)[at])
    hidden, hidden_then = now.suppressed.ravel(), before == 1
    rows = np.flatnonzero(hidden != hidden_then)
    earlier = then.value.ravel()[at][rows]
    status = result.status.ravel()[rows]
    reasons = np.array([*result.sensitivity.reasons, ""], dtype=object)
    why, needed, new = _why(result, rows, hidden & ~hidden_then, found)
    codes = pa.table(codes_columns(now.dimensions)).take(pa.array(rows))
    return pa.table(
        {
            **{name: codes[name] for name in codes.column_names},
            "change": np.where(hidden[rows], "hidden", "shown").tolist(),
            "previous": pa.array(
                in_published_units(earlier, then.decimals), mask=~np.isin(before[rows], (0, 2))
            ),
            "previous_status": pa.array([*STATUS, ABSENT]).take(pa.array(before[rows])),
            "now": in_published_units(result.table.measure.sum.ravel()[rows], now.decimals),
            "status": pa.array(status, pa.string()),
            "why": pa.array(why, pa.string()),
            "rule": pa.array(reasons[result.sensitivity.reason.ravel()[rows]], pa.string()),
            "needed_by": pa.array(needed, pa.string()),
            "needed_by_new": pa.array(new, pa.bool_()),
            "equations_changed": _other_equations(now, then)[rows],
        }
    )


def _hidden_then(now: Published, previous: Published) -> NDArray[np.bool_]:
    """Which cells of a table the last delivery hid, flat."""
    then = transposed(previous, now)
    at = matched(now, then)
    return (at >= 0) & then.suppressed.ravel()[at]


def _why(
    result: Result, rows: NDArray[np.int64], new: NDArray[np.bool_], found: Explanations | None
) -> tuple[list[str], list[str | None], list[bool | None]]:
    """For some cells the reason, which cells need them, and whether one of these is newly hidden.

    `new`: which cells of the table are newly hidden, flat.
    """
    publication = result.proof.publication
    start = int(publication.starts[result.proof.place_of(result.published)])
    kinds: dict[int, str] = {}
    needing: dict[int, list[int]] = {}
    if found is not None:
        triples = zip(found.secondary.tolist(), found.kind, found.needed_by.tolist(), strict=True)
        for cell, kind, by in triples:
            kinds.setdefault(cell - start, kind)
            needing.setdefault(cell - start, []).extend([by] if by >= 0 else [])
    why: list[str] = []
    names: list[str | None] = []
    among: list[bool | None] = []
    for cell, status in zip(rows.tolist(), result.status.ravel()[rows].tolist(), strict=True):
        by = needing.get(cell, []) if status == "secondary" else []
        otherwise = {"primary": "rule", "secondary": kinds.get(cell, "not examined")}
        why.append(otherwise.get(status, "not needed"))
        names.append(_BETWEEN.join(cell_name(publication, one) for one in by) or None)
        own = [one - start for one in by if 0 <= one - start < len(new)]
        among.append(bool(new[own].any()) if own else None)
    return why, names, among


def _other_equations(now: Published, then: Published) -> NDArray[np.bool_]:
    """Whether a cell adds up with other cells than then, because a code tree is another one."""
    found = np.zeros(now.shape, dtype=bool)
    for axis, (dimension, before) in enumerate(zip(now.dimensions, then.dimensions, strict=True)):
        shape = [1] * len(now.dimensions)
        shape[axis] = len(dimension)
        found |= other_surroundings(dimension.hierarchy, before.hierarchy).reshape(shape)
    return found.ravel()
