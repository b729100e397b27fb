"""The figures of a comparison as frames of the user's own kind."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from diskret.io import from_arrow
from diskret.utility.association import Association
from diskret.utility.deviations import NAN, QUANTILES, RELATIVE_BOUNDS
from diskret.utility.groups import size_bounds

if TYPE_CHECKING:
    from diskret.utility.comparison import Comparison


def figures(comparison: Comparison) -> dict[str, float]:
    """Key figures by name; NaN where one does not exist.

    Names ending in ``_share`` are shares of 1; deviations are in the measure's own unit.
    """
    found, order = comparison.deviations, comparison.ranks
    hidden, nothing, defect = comparison.hidden, comparison.zeros, comparison.additivity
    distance = comparison.hellinger
    changes = [abs(pair.change) for pair in comparison.associations if pair.change == pair.change]
    return {
        "cells": comparison.cells,
        "withheld": hidden.cells,
        "withheld_share": hidden.share,
        "withheld_value_share": hidden.value,
        "compared": found.cells,
        "unchanged_share": found.share_unchanged,
        "mean": found.mean,
        **{_percentile(q): value for q, value in zip(QUANTILES, found.quantiles, strict=True)},
        "largest": found.largest,
        "bias": found.bias,
        "mse": found.mse,
        "rmse": found.rmse,
        "relative": found.relative,
        "relative_largest": found.relative_largest,
        "root": found.root,
        "zeros": nothing.cells,
        "false_zeros": nothing.false_zeros,
        "false_nonzeros": nothing.false_nonzeros,
        "hellinger": distance.distance,
        "hellinger_scaled": distance.scaled,
        "hellinger_utility": distance.utility,
        "rank_correlation": order.correlation,
        "other_tenth_share": order.moved,
        "broken_equations": defect.broken,
        "additivity_mean": defect.mean,
        "additivity_largest": defect.largest,
        "cramers_v_change": max(changes, default=NAN),
        "variance_ratio": comparison.variance_ratio,
    }


def key_frame(comparison: Comparison) -> Any:
    """The key figures as a frame of one row."""
    return _given(comparison, pa.table({name: [v] for name, v in figures(comparison).items()}))


def frames(comparison: Comparison) -> dict[str, Any]:
    """All figures as frames, see `Comparison.frames`."""
    made = {
        "size": _sizes(comparison),
        "dimension": pa.table(
            {
                "dimension": comparison.by_dimension.group,
                **comparison.by_dimension.columns,
            }
        ),
        "level": pa.concat_tables(
            pa.table(
                {
                    "variable": pa.array([name] * len(groups.group), pa.string()),
                    "level": groups.group,
                    **groups.columns,
                }
            )
            for name, groups in comparison.by_level.items()
        ),
        "deviations": _deviations(comparison),
        "relative": pa.table(
            {"bound": RELATIVE_BOUNDS, "share": comparison.deviations.relative_shares}
        ),
        "noise": pa.table(dict(zip(("deviation", "cells"), comparison.noise, strict=True))),
        "associations": _associations(comparison),
    }
    return {name: _given(comparison, table) for name, table in made.items()}


def _sizes(comparison: Comparison) -> pa.Table:
    groups = comparison.by_size
    low, high = size_bounds(groups.group, comparison.decimals)
    kind = pa.float64() if comparison.decimals else pa.int64()
    bounds = {"from": pa.array(low, kind), "to": pa.array(high, kind)}
    return pa.table({**bounds, **groups.columns})


def _deviations(comparison: Comparison) -> pa.Table:
    """One row for each deviation and number of variables."""
    table = comparison.deviation_table
    rows, columns = table.cells.shape
    return pa.table(
        {
            "deviation": np.repeat(table.bound, columns),
            "dimension": np.tile(table.dimension, rows),
            "cells": table.cells.ravel(),
            "share": table.shares.ravel(),
        }
    )


def _associations(comparison: Comparison) -> pa.Table:
    found = comparison.associations
    texts = ("first", "second")
    numbers = ("original", "protected", "change", "between_first", "between_second")
    return pa.table(
        {
            "table": pa.array([one.table for one in found], pa.int64()),
            **_columns(found, texts, pa.string()),
            **_columns(found, numbers, pa.float64()),
        }
    )


def _columns(
    found: Iterable[Association], names: Iterable[str], kind: pa.DataType
) -> dict[str, pa.Array]:
    return {name: pa.array([getattr(one, name) for one in found], kind) for name in names}


def _percentile(share: float) -> str:
    return "median" if share == 0.5 else f"p{round(100 * share)}"


def _given(comparison: Comparison, table: pa.Table) -> Any:
    return from_arrow(table, comparison.pairs[0].table.frame_kind)
