"""The figures of a comparison as frames of the user's own kind, and in sentences."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diskret.io import from_arrow
from diskret.texts import number, words_in
from diskret.utility.deviations import NAN, QUANTILES, RELATIVE_BOUNDS
from diskret.utility.groups import cells_by_deviation, size_table
from diskret.utility.structure import Association

if TYPE_CHECKING:
    from diskret.utility.comparison import Comparison

#: A text, a whole number, or a number with its decimals.
_Filling = str | int | tuple[float, int]


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
        "size": size_table(comparison.by_size, comparison.decimals),
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
        "deviations": cells_by_deviation(comparison.deviation_table),
        "relative": pa.table(
            {"bound": RELATIVE_BOUNDS, "share": comparison.deviations.relative_shares}
        ),
        "noise": pa.table(dict(zip(("deviation", "cells"), comparison.noise, strict=True))),
        "associations": _associations(comparison),
    }
    return {name: _given(comparison, table) for name, table in made.items()}


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


def sentences(comparison: Comparison, language: str) -> list[str]:
    """The key figures in sentences, see `Comparison.lines`."""
    words = words_in(language, "utility")
    return [
        words.said(key, **{name: _written(f, language) for name, f in filled.items()})
        for key, filled in (
            *_cells(comparison),
            *_deviation_lines(comparison),
            *_zeros(comparison),
            *_distances(comparison),
            *_structure(comparison, language),
        )
    ]


def _written(filling: _Filling, language: str) -> str:
    if isinstance(filling, str):
        return filling
    value, decimals = filling if isinstance(filling, tuple) else (filling, 0)
    return number(value, language, decimals)


_Said = Iterator[tuple[str, dict[str, _Filling]]]


def _cells(comparison: Comparison) -> _Said:
    hidden, tables = comparison.hidden, len(comparison.pairs)
    yield (
        "cells of tables" if tables > 1 else "cells",
        {"cells": comparison.cells, "tables": tables},
    )
    if hidden.cells:
        yield (
            "hidden",
            {
                "cells": hidden.cells,
                "share": (100 * hidden.share, 1),
                "value": (100 * hidden.value, 1),
            },
        )


def _deviation_lines(comparison: Comparison) -> _Said:
    found, own = comparison.deviations, comparison.decimals
    if not found.cells:
        return
    unchanged = (100 * found.share_unchanged, 1)
    yield "deviations", {"cells": found.cells, "unchanged": unchanged}
    yield (
        "absolute",
        {
            "mean": (found.mean, own + 2),
            "half": (found.quantiles[0], own),
            "most": (found.quantiles[2], own),
            "largest": (found.largest, own),
            "bias": (found.bias, own + 3),
            "mse": (found.mse, 2),
        },
    )
    yield (
        "relative",
        {"mean": (100 * found.relative, 2), "largest": (100 * found.relative_largest, 1)},
    )


def _zeros(comparison: Comparison) -> _Said:
    zeros = comparison.zeros
    yield (
        "zeros",
        {
            "cells": zeros.cells,
            "false_zeros": zeros.false_zeros,
            "false_nonzeros": zeros.false_nonzeros,
        },
    )


def _distances(comparison: Comparison) -> _Said:
    distance, order = comparison.hellinger, comparison.ranks
    if not math.isnan(distance.distance):
        yield (
            "hellinger",
            {
                "distance": (distance.distance, 2),
                "scaled": (distance.scaled, 4),
                "utility": (distance.utility, 4),
            },
        )
    if not math.isnan(order.correlation):
        yield "ranks", {"correlation": (order.correlation, 4), "moved": (100 * order.moved, 1)}


def _structure(comparison: Comparison, language: str) -> _Said:
    defect, own = comparison.additivity, comparison.decimals
    if defect.equations:
        yield (
            "not additive" if defect.broken else "additive",
            {
                "equations": defect.equations,
                "broken": defect.broken,
                "largest": (defect.largest, own),
                "mean": (defect.mean, own + 2),
            },
        )
    for pair in comparison.associations:
        if not math.isnan(pair.change):
            change = round(100 * pair.change, 1) + 0.0  # no -0.0
            sign = "+" if change > 0 else ""
            yield (
                "association",
                {
                    "first": pair.first,
                    "second": pair.second,
                    "original": (pair.original, 3),
                    "protected": (pair.protected, 3),
                    "change": f"{sign}{number(change, language, 1)}",
                },
            )
    if not math.isnan(comparison.variance_ratio):
        yield "variance", {"ratio": (comparison.variance_ratio, 3)}
