"""What the page is told of a table: all cells in short, and one cell in full. Confidential."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables import Table
from diskret.workbench.releases import Released
from diskret.workbench.tables import LARGEST, Judged

#: Whole numbers that a browser holds exactly.
_EXACT = 2**53
PRIMARY, SECONDARY, EMPTY, FROZEN, SHOWN = "P", "S", "E", "F", "."
HIDDEN = (PRIMARY, SECONDARY)


def table_told(judged: Judged, language: str, released: Released | None = None) -> dict[str, Any]:
    """A table with all its cells; a letter for the state of each, the last code varies first.

    released: what the last run made of it; None: the state is that of the rules alone.
    """
    table = judged.table
    measure = table.measure
    shown = None if released is None else released.published
    return {
        "changed": None if shown is None else _differing(shown, measure),
        "name": judged.wanted.name,
        "measure": measure.name,
        "decimals": measure.decimals,
        "dimensions": [_dimension(one, language) for one in table.dimensions],
        "value": _numbers(measure.sum) if shown is None else _shown(shown, measure.decimals),
        "states": "".join(states(judged, released).ravel().tolist()),
        "protected": released is not None,
    }


def states(judged: Judged, released: Released | None = None) -> NDArray[np.str_]:
    """The letter of each cell, shape of the table."""
    table = judged.table
    found = np.full(table.shape, SHOWN)
    found[table.empty] = EMPTY
    for at in _frozen(judged):
        found[at] = FROZEN
    if judged.sensitivity is not None:
        found[judged.sensitivity.unsafe] = PRIMARY
    if released is not None:
        for word, letter in (("primary", PRIMARY), ("secondary", SECONDARY)):
            found[released.status.reshape(table.shape) == word] = letter
    return found


def cell_told(
    judged: Judged, at: int, language: str, released: Released | None = None
) -> dict[str, Any]:
    """All that is known of one cell: who contributes what, and why it is hidden.

    at: its place, the last dimension varies first.

    Raises
    ------
    InputError
        There is no such cell.
    """
    table = judged.table
    if not 0 <= at < int(np.prod(table.shape)):
        raise InputError(f"the table has no cell {at}")
    place = np.unravel_index(at, table.shape)
    measure = table.measure
    unit = 10**measure.decimals
    told: dict[str, Any] = {
        "at": at,
        "codes": [
            {
                "name": one.name,
                "code": one.hierarchy.codes[int(i)],
                "label": one.hierarchy.label(one.hierarchy.codes[int(i)], language),
            }
            for one, i in zip(table.dimensions, place, strict=True)
        ],
        "state": str(states(judged, released)[place]),
        "value": int(measure.sum[place]) / unit if measure.decimals else int(measure.sum[place]),
        "counts": _counts(table, place),
        "contributions": _contributions(table, place),
    }
    found = judged.sensitivity
    if found is not None and found.unsafe[place]:
        told["rule"] = found.reasons[int(found.reason[place])]
        levels = (("lower", found.lower), ("upper", found.upper), ("sliding", found.sliding))
        told["levels"] = {name: int(one[place]) / unit for name, one in levels}
    if released is not None and released.published is not None:
        number = float(released.published[at])
        told["published"] = None if np.isnan(number) else number
    if released is not None:
        told |= released.told([one["code"] for one in told["codes"]])
    return told


def _dimension(one: Any, language: str) -> dict[str, Any]:
    tree = one.hierarchy
    return {
        "name": one.name,
        "codes": list(tree.codes),
        "labels": [tree.label(code, language) for code in tree.codes],
        "levels": tree.level.tolist(),
        "parents": tree.parent.tolist(),
    }


def _numbers(values: NDArray[np.int64]) -> list[int] | list[str]:
    """Scaled integers; as texts where a browser would not hold them exactly."""
    flat = values.ravel()
    if flat.size and int(np.abs(flat).max()) >= _EXACT:
        return [str(one) for one in flat.tolist()]
    return flat.tolist()


def _shown(published: NDArray[np.float64], decimals: int) -> list[int | None]:
    """Published values as scaled integers; None: withheld."""
    scaled = np.round(published * 10**decimals)
    return [None if np.isnan(one) else int(one) for one in scaled.tolist()]


def _differing(published: NDArray[np.float64], measure: Any) -> int:
    return int((published != measure.sum.ravel() / 10**measure.decimals).sum())


def _frozen(judged: Judged) -> list[tuple[int, ...]]:
    dimensions = judged.table.dimensions
    return [
        tuple(one.hierarchy.position[cell[one.name]] for one in dimensions)
        for cell in judged.wanted.frozen
        if all(cell[one.name] in one.hierarchy.position for one in dimensions)
    ]


def _counts(table: Table, place: Any) -> dict[str, int]:
    known = {"count": table.count, "units": table.units, "holdings": table.holdings}
    return {name: int(one[place]) for name, one in known.items() if one is not None}


def _contributions(table: Table, place: Any) -> list[dict[str, float]]:
    """The largest contributions, and the share of each in all of them."""
    measure = table.measure
    total, unit = int(measure.magnitude[place]), 10**measure.decimals
    largest = [int(one) for one in measure.largest[place].tolist()[:LARGEST] if one]
    return [{"value": one / unit, "share": one / total if total else 0.0} for one in largest]
