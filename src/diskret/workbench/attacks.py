"""What somebody with chosen knowledge can tell of a table, before or after it is protected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Attacker, intervals
from diskret.errors import InputError
from diskret.protect.plan import publish
from diskret.tables import Table
from diskret.workbench.releases import Released
from diskret.workbench.tables import Judged

Bounds = Mapping[tuple[str, ...], tuple[float | None, float | None]]

#: Cells of a table that is attacked while the page waits; larger ones are attacked by a run.
MOST = 20_000


def attacker_of(asked: Mapping[str, Any]) -> Attacker:
    """Who attacks: what a job says of it that tells something of intervals.

    asked: ``relative`` in percent, ``zeros_known``; what is left out is not known.
    """
    known = {key: asked[key] for key in ("relative", "zeros_known") if asked.get(key)}
    return Attacker(**known)


def attacked(judged: Judged, released: Released | None, attacker: Attacker) -> list[dict[str, Any]]:
    """Every hidden cell with what the attacker can tell of it, the closest first.

    released: what a run has hidden; None: nothing but the unsafe cells are hidden, as if the table
    were published without any protection beside its rules.

    Raises
    ------
    InputError
        The table is too large to be waited for, or nothing of it is hidden.
    """
    table, found = judged.table, judged.sensitivity
    if int(np.prod(table.shape)) > MOST:
        raise InputError(
            f"a table of more than {MOST} cells is attacked by a run only; protect it instead"
        )
    hidden = np.zeros(table.shape, bool) if found is None else found.unsafe
    if released is not None:
        hidden = np.isin(released.status, ("primary", "secondary")).reshape(table.shape)
    public = publish(table, hidden, judged.wanted.name)
    names = [one.name for one in table.dimensions]
    original = table.measure.sum if attacker.relative is not None else None
    rows = intervals(public, attacker, original=original).to_pylist()
    bounds = {tuple(row[one] for one in names): (row["lower"], row["upper"]) for row in rows}
    return closest_first(table, bounds, judged)


def closest_first(table: Table, bounds: Bounds, judged: Judged) -> list[dict[str, Any]]:
    """Hidden cells with their bounds, the closest first; and whether the rules ask for more."""
    positions = [one.hierarchy.position for one in table.dimensions]
    found = judged.sensitivity
    unsafe = np.zeros(table.shape, bool) if found is None else found.unsafe
    unit, rows = 10**table.measure.decimals, list[dict[str, Any]]()
    for codes, (low, high) in bounds.items():
        place = tuple(one[code] for one, code in zip(positions, codes, strict=True))
        value = int(table.measure.sum[place]) / unit
        below = value - low if low is not None else float("inf")
        above = high - value if high is not None else float("inf")
        near = min(below, above)
        rows.append(
            {
                "at": int(np.ravel_multi_index(place, table.shape)),
                "codes": list(codes),
                "primary": bool(unsafe[place]),
                "value": value,
                "lower": low,
                "upper": high,
                "near": near / abs(value) if value and near != float("inf") else None,
                "close": bool(unsafe[place]) and _too_close(judged, place, below, above),
            }
        )
    return sorted(rows, key=lambda row: (not row["close"], row["near"] is None, row["near"] or 0.0))


def _too_close(judged: Judged, place: tuple[int, ...], below: float, above: float) -> bool:
    """Whether the rules ask for more than the attacker is left with."""
    found, unit = judged.sensitivity, 10**judged.table.measure.decimals
    if found is None:
        return False

    def level(of: NDArray[np.int64]) -> float:
        return int(of[place]) / unit

    sides = below < level(found.lower) or above < level(found.upper)
    return sides or below + above < level(found.sliding)
