"""The key figures of a comparison in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from diskret.texts import number, words_in

if TYPE_CHECKING:
    from diskret.utility.comparison import Comparison

#: A text, a whole number, or a number with its decimals.
_Filling = str | int | tuple[float, int]


def sentences(comparison: Comparison, language: str) -> list[str]:
    """The key figures in sentences, see `Comparison.lines`."""
    words = words_in(language, "utility")
    return [
        words.said(key, **{name: _written(f, language) for name, f in filled.items()})
        for key, filled in (
            *_cells(comparison),
            *_deviations(comparison),
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


def _deviations(comparison: Comparison) -> _Said:
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
