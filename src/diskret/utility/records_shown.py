"""The figures of compared records as frames, and in sentences."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from diskret.io import coded, from_arrow
from diskret.texts import number, words_in
from diskret.utility.deviations import NAN
from diskret.utility.moments import LEVELS, eigenvalue_loss, inverse_correlation_loss
from diskret.utility.values import mean, ratio

if TYPE_CHECKING:
    from diskret.utility.records_comparison import RecordsComparison

_OF_VALUES = (
    "compared",
    "changed",
    "suppressed",
    "filled",
    "il1s",
    "relative",
    "zeros",
    "squares",
    "distance",
)


def figures(found: RecordsComparison) -> dict[str, float]:
    """Key figures by name, see `docs/reference/microdata-utility.md`."""
    return {
        "records": found.files.n,
        **_of_values(found),
        **_of_moments(found),
        **_of_categories(found),
        "lambda": mean(np.array(list(found.distances.values()))),
        **_of_propensity(found),
    }


def key_frame(found: RecordsComparison) -> Any:
    """The key figures as a frame of one row."""
    return _given(found, pa.table({name: [v] for name, v in figures(found).items()}))


def stratum_frame(found: RecordsComparison, names: Sequence[str]) -> Any:
    """The key figures for each combination of some columns of the original file."""
    original = found.files.original
    codes = [coded(original.column(name), name).codes for name in names]
    _, first, at = np.unique(np.column_stack(codes), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(at.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(at.ravel()))
    rows = [figures(found.within(part)) for part in np.split(order, ends[:-1])]
    shown = original.select(list(names)).take(pa.array(first))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    columns = {f"{name}_figure" if name in names else name: v for name, v in columns.items()}
    return _given(found, pa.table({**{name: shown.column(name) for name in names}, **columns}))


def frames(found: RecordsComparison) -> dict[str, Any]:
    """All figures as frames, see `RecordsComparison.frames`."""
    made: dict[str, pa.Table] = {}
    if found.numeric:
        made["numeric"] = _numeric(found)
        made["quantiles"] = _quantiles(found)
        made["pairs"] = _pairs(found)
    if found.categories is not None:
        values = found.categories.values
        for name, column in (("entropy", found.entropy), ("distance", found.distances)):
            values = values.append_column(name, pa.array([column[v] for v in found.categorical]))
        made["categorical"] = values
        made["tables"] = found.categories.losses
    return {name: _given(found, table) for name, table in made.items()}


# ── key figures ─────────────────────────────────────────────────────────────────────


def _of_values(found: RecordsComparison) -> dict[str, float]:
    losses = found.values.values()
    compared = sum(loss.compared for loss in losses)
    there = compared + sum(loss.suppressed for loss in losses)
    return {
        "changed_share": _share(sum(loss.changed for loss in losses), compared),
        "suppressed_share": _share(sum(loss.suppressed for loss in losses), there),
        "il1s": found.il1s,
        "il1s_sum": found.il1s_sum if found.numeric else NAN,
        "relative": found.relative,
        "squares": mean(np.array([loss.squares for loss in losses])),
    }


def _of_moments(found: RecordsComparison) -> dict[str, float]:
    names = (
        "means",
        "variances",
        "covariances",
        "correlations",
        "spearman",
        "quantiles",
        "eigenvalues",
        "eigenvalues_robust",
        "gamma",
    )
    if not found.numeric:
        return dict.fromkeys(names, NAN)
    old, new = found.before, found.after
    scale = old.deviation
    pair = np.triu_indices(len(scale), 1)
    values = (
        mean(ratio(np.abs(new.mean - old.mean), scale)),
        mean(ratio(np.abs(new.deviation**2 - scale**2), scale**2)),
        mean(ratio(np.abs(new.covariance - old.covariance), np.outer(scale, scale))[pair]),
        mean(np.abs(new.correlation - old.correlation)[pair]),
        mean(np.abs(new.spearman - old.spearman)[pair]),
        mean(ratio(np.abs(new.quantiles - old.quantiles), np.tile(scale, (len(LEVELS), 1)))),
        eigenvalue_loss(old.correlation, new.correlation),
        eigenvalue_loss(old.robust, new.robust),
        inverse_correlation_loss(old.correlation, new.correlation),
    )
    return dict(zip(names, values, strict=True))


def _of_categories(found: RecordsComparison) -> dict[str, float]:
    names = ("category_changes", "category_gaps", "ctbil", "moved", "hellinger", "ebil")
    tables = found.categories
    if tables is None:
        return dict.fromkeys(names, NAN)
    number = found.files.n * len(found.categorical)
    values = (
        sum(tables.changed) / number,
        sum(tables.suppressed) / number,
        tables.distance,
        mean(np.array([table.moved for table in tables.tables])),
        mean(np.array([table.hellinger for table in tables.tables])),
        math.fsum(found.entropy.values()) / number,
    )
    return dict(zip(names, values, strict=True))


def _of_propensity(found: RecordsComparison) -> dict[str, float]:
    told = found.propensity()
    return {"pmse": told.pmse, "pmse_ratio": told.ratio, "pmse_standardised": told.standardised}


# ── frames ──────────────────────────────────────────────────────────────────────────


def _numeric(found: RecordsComparison) -> pa.Table:
    losses = found.values.values()
    return pa.table(
        {
            "variable": pa.array(found.numeric, pa.string()),
            **{name: [getattr(loss, name) for loss in losses] for name in _OF_VALUES},
            "mean": found.before.mean,
            "mean_after": found.after.mean,
            "deviation": found.before.deviation,
            "deviation_after": found.after.deviation,
        }
    )


def _quantiles(found: RecordsComparison) -> pa.Table:
    return pa.table(
        {
            "variable": pa.array(np.repeat(found.numeric, len(LEVELS)).tolist(), pa.string()),
            "share": np.tile(LEVELS, len(found.numeric)),
            "original": found.before.quantiles.T.ravel(),
            "protected": found.after.quantiles.T.ravel(),
        }
    )


def _pairs(found: RecordsComparison) -> pa.Table:
    one, other = np.triu_indices(len(found.numeric), 1)
    made: dict[str, Any] = {
        "first": pa.array([found.numeric[at] for at in one], pa.string()),
        "second": pa.array([found.numeric[at] for at in other], pa.string()),
    }
    for name in ("covariance", "correlation", "spearman"):
        made[name] = getattr(found.before, name)[one, other]
        made[f"{name}_after"] = getattr(found.after, name)[one, other]
    return pa.table(made)


def _given(found: RecordsComparison, table: pa.Table) -> Any:
    return from_arrow(table, found.kind)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else NAN


def sentences(found: RecordsComparison, language: str) -> list[str]:
    """The key figures in sentences, see `RecordsComparison.lines`."""
    words = words_in(language, "utility")

    def written(value: float, decimals: int = 0) -> str:
        return number(value, language, decimals)

    def said() -> Iterator[str]:
        if found.categories is None:
            yield words.said("records", records=written(found.files.n))
        else:
            yield from found.categories.lines(language)
        if found.dropped:
            yield words.said("dropped", names=", ".join(found.dropped))
        for name, loss in found.values.items():
            if not (loss.changed or loss.suppressed or loss.filled):
                yield words.said("unchanged values", variable=name)
                continue
            yield words.said(
                "numeric values",
                variable=name,
                changed=written(loss.changed),
                changed_share=written(100 * loss.changed / max(loss.compared, 1), 1),
                suppressed=written(loss.suppressed),
                il1s=written(loss.il1s, 4),
                squares=written(100 * loss.squares, 2),
            )
        figures = found.figures
        if found.numeric:
            yield words.said(
                "numeric structure",
                means=written(figures["means"], 4),
                variances=written(100 * figures["variances"], 2),
            )
        if len(found.numeric) > 1:
            yield words.said(
                "correlations",
                correlations=written(figures["correlations"], 4),
                spearman=written(figures["spearman"], 4),
                eigenvalues=written(100 * figures["eigenvalues"], 2),
                gamma=written(figures["gamma"], 4),
            )
        yield words.said("lambda", value=written(figures["lambda"], 4))
        if not math.isnan(figures["pmse"]):
            told = found.propensity()
            yield words.said(
                "propensity",
                parameters=written(told.parameters),
                pmse=written(told.pmse, 6),
                ratio=written(told.ratio, 2),
            )

    return list(said())
