"""Why secondaries are hidden, in codes and published units, for people and files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack import Explanations, Requirements, cell_name, ends_in_units
from diskret.tables import Publication, Published
from diskret.tables.cells import check_names, in_published_units


def explanation_columns(
    publication: Publication,
    published: Published,
    found: Explanations,
    requirements: Requirements,
    original: NDArray[np.int64],
) -> pa.Table:
    """Explanations as [`Result.explain`][diskret.Result.explain] returns them. Confidential.

    published: the table among them whose secondaries are explained.
    """
    names = [d.name for d in published.dimensions]
    numbers = ("lower", "upper", "required_lower", "required_upper", "required_width")
    check_names([*names, "kind", *(f"needed_by_{name}" for name in names), *numbers])
    place = [table is published for table in publication.tables].index(True)
    start, stop = publication.starts[place : place + 2].tolist()
    needed = found.needed_by >= 0
    own = (found.needed_by >= start) & (found.needed_by < stop)
    by = np.where(needed, found.needed_by, 0)
    at = np.searchsorted(requirements.cell, by)
    protects = needed & np.isin(by, requirements.cell)
    at = np.where(protects, at, 0)
    value = original.ravel()[by]
    lower, upper, sliding = (
        np.where(protects, _picked(levels, at), 0)
        for levels in (requirements.lower, requirements.upper, requirements.sliding)
    )
    decimals = published.decimals
    low, high = ends_in_units(found.lower, found.upper, decimals)
    everything = np.ones(len(by), dtype=bool)
    return pa.table(
        {
            **_codes(published, found.secondary - start, everything, ""),
            "kind": pa.array(list(found.kind), pa.string()),
            **_codes(published, np.where(own, by - start, 0), own, "needed_by_"),
            **_elsewhere(publication, by, needed, own),
            "lower": low,
            "upper": high,
            "required_lower": _units(value - lower, protects, decimals),
            "required_upper": _units(value + upper, protects, decimals),
            "required_width": _units(np.maximum(sliding, 1), needed, decimals),
        }
    )


def _codes(
    published: Published, cell: NDArray[np.int64], known: NDArray[np.bool_], prefix: str
) -> dict[str, pa.Array]:
    at = np.unravel_index(cell, published.shape)
    return {
        prefix + dimension.name: pa.array(
            np.array(dimension.hierarchy.codes, dtype=object)[i], pa.string(), mask=~known
        )
        for dimension, i in zip(published.dimensions, at, strict=True)
    }


def _elsewhere(
    publication: Publication,
    cell: NDArray[np.int64],
    needed: NDArray[np.bool_],
    own: NDArray[np.bool_],
) -> dict[str, pa.Array]:
    """Where several tables were protected together: whose cell needs it, and which cell."""
    if len(publication.tables) == 1:
        return {}
    tables = [publication.at(at)[0].name for at in cell.tolist()]
    cells = [cell_name(publication, at) for at in cell.tolist()]
    return {
        "needed_in": pa.array(tables, pa.string(), mask=~needed),
        "needed_by": pa.array(cells, pa.string(), mask=own | ~needed),
    }


def _picked(levels: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
    return levels[at] if len(levels) else np.zeros_like(at)


def _units(scaled: NDArray[np.int64], known: NDArray[np.bool_], decimals: int) -> pa.Array:
    return pa.array(in_published_units(scaled, decimals), mask=~known)
