"""Risk against loss by cell size: coarser grids, quadtrees, and whatever stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import reading
from diskret.rules import Rule
from diskret.spatial.compare import compare
from diskret.spatial.map_comparison import MapComparison
from diskret.spatial.quadtree import quadtree
from diskret.spatial.raster import cell_widths, shown_values
from diskret.tables import Table
from diskret.utility import RiskUtilityMap
from diskret.utility.risk_utility import AS_IT_IS


@reading
def by_cell_size(
    table: Table,
    rule: Rule,
    dimension: str,
    *,
    beside: Mapping[str, Any] | None = None,
    land: Iterable[str] | None = None,
) -> RiskUtilityMap:
    """Try all cell sizes of a tree, and say what each costs and how much is unsafe.

    The finest cells as they are, each coarser grid of the tree, and quadtrees up to each of its
    widths; and other ways that were tried before, such as suppression or noise.

    Parameters
    ----------
    table
        From [`tabulate`][diskret.tabulate], with a tree of cells of several widths such as
        [`Grid.tree`][diskret.spatial.Grid.tree] makes.
    rule
        When a cell is unsafe.
    dimension
        Name of the dimension of the cells.
    beside
        Name → what else was made of the table: results of methods, or tables with other cells.
    land
        Ids of the cells that belong to the map, see [`compare`][diskret.spatial.compare].

    Returns
    -------
    RiskUtilityMap
        A row for each way, and a picture. Risk: ``unsafe_people`` and ``unsafe_cells``, shares of
        people (of the measure) and of the inhabited cells that are unsafe and published as they
        are. Loss: ``transport`` in widths of the finest cells (the upper bound), ``hellinger`` of
        shares, ``moran``, the change of Moran's I without its sign, ``largest``, the share of the
        largest cells that are so only before or only after. Confidential.

    Raises
    ------
    InputError
        There is no such dimension, its codes are no cells of a grid, or names come twice.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> cells = ["1kmN2684E4334"] * 2 + ["1kmN2684E4335"] * 9 + ["1kmN2690E4340"] * 8
    >>> tree = dk.spatial.Grid(1_000, spelling="short").tree(cells, [2_000, 10_000])
    >>> fine = dk.tabulate(pa.table({"cell": cells}), by={"cell": tree})
    >>> found = by_cell_size(fine, dk.rules.MinimumFrequency(3), "cell")
    >>> found.choices
    ('as it is', '2 km', '10 km', 'quadtree 2 km', 'quadtree 10 km')
    >>> found.risk["unsafe_cells"].round(2).tolist()
    [0.33, 0.0, 0.0, 0.0, 0.0]
    """
    widths = cell_widths(table, dimension)
    depth = len(widths)
    tried: dict[str, Any] = {AS_IT_IS: table}
    for level in range(depth - 1, 0, -1):
        tried[_named(widths[level - 1])] = table.recode(dimension, level=level)
    for level in range(depth - 1, 0, -1):
        merged = quadtree(table, rule, dimension, coarsest=level)
        tried[f"quadtree {_named(widths[level - 1])}"] = merged
    for name, made in (beside or {}).items():
        if name in tried:
            raise InputError(f"beside= names {name!r}, which is tried anyway; call it otherwise")
        tried[name] = made
    risk = [_unsafe(table, made, rule, dimension) for made in tried.values()]
    loss = [_lost(compare(table, made, dimension, land=land)) for made in tried.values()]
    return RiskUtilityMap(tuple(tried), _columns(risk), _columns(loss), table.frame_kind)


def _unsafe(table: Table, made: Any, rule: Rule, dimension: str) -> dict[str, float]:
    """Shares that are unsafe and published as they are."""
    true = made if isinstance(made, Table) else table
    axis = [one.name for one in true.dimensions].index(dimension)
    _, tree, values, _ = shown_values(true, dimension, "the original")
    _, _, published, shown = shown_values(made, dimension, "what is published")
    bad = np.moveaxis(rule(true).unsafe, axis, 0).reshape(len(tree), -1).any(axis=1)
    told = bad & shown & (published == values)
    leaf = tree.is_leaf & ((values != 0) | bad)
    people = np.abs(values)
    return {
        "unsafe_people": float(people[leaf & told].sum() / max(people[leaf].sum(), 1e-300)),
        "unsafe_cells": float((leaf & told).sum() / max(int(leaf.sum()), 1)),
    }


def _lost(found: MapComparison) -> dict[str, float]:
    return {
        "transport": found.transport.high,
        "hellinger": found.hellinger.scaled,
        "moran": 2 * abs(found.ilm),
        "largest": 1 - found.largest_agree,
    }


def _columns(rows: list[dict[str, float]]) -> dict[str, NDArray[np.float64]]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _named(metres: int) -> str:
    return f"{metres // 1000} km" if metres % 1000 == 0 else f"{metres} m"
