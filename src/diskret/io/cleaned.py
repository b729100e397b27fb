"""A frame of the caller's kind that keeps no trace of values that are no longer there."""

# pyarrow has no type information for its classes; pandas and Polars are optional.
# pyright: reportUnknownParameterType=false, reportMissingImports=false

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from diskret.io.frames import FrameKind, from_arrow


def cleaned(table: pa.Table, kind: FrameKind, like: Any, new: Collection[str] = ()) -> Any:
    """Turn columns into the caller's kind of frame, with the types of another one.

    Lists of categories hold the values that occur and no others, there is no metadata, and the
    index of pandas counts from 0: nothing tells of values that were suppressed, or of records
    that were somewhere else.

    Parameters
    ----------
    table
        The columns.
    kind
        Kind of frame.
    like
        A frame of this kind; columns that it has, too, get the type they have there.
    new
        Columns that have nothing but their name in common with those of `like`.
    """
    if kind == "pandas":
        return _pandas(table, like, new)
    if kind == "polars":
        return _polars(table, like, new)
    if kind == "pyarrow" and isinstance(like, pa.Table):
        return _arrow(table, like, new)
    return from_arrow(table, kind)


def _pandas(table: pa.Table, like: Any, new: Collection[str]) -> Any:
    import pandas as pd

    made: dict[str, Any] = {}
    for name in table.column_names:
        values = table.column(name)
        before: Any = like[name].dtype if name in like.columns and name not in new else None
        if isinstance(before, pd.CategoricalDtype):
            there = set(pc.unique(values).to_pylist())
            known = [category for category in before.categories if category in there]
            dtype = pd.CategoricalDtype(known, ordered=before.ordered)
            made[name] = pd.Series(pd.Categorical(values.to_pylist(), dtype=dtype))
        else:
            nullable = pd.api.types.is_extension_array_dtype(before)
            series = values.to_pandas(types_mapper=_exact(pd) if nullable else None)
            made[name] = series if before is None else series.astype(before)
    return pd.DataFrame(made)


def _exact(pd: Any) -> Any:
    """Whole numbers with gaps as such: floating point numbers would round large ones."""
    return {
        **{getattr(pa, f"int{b}")(): getattr(pd, f"Int{b}Dtype")() for b in (8, 16, 32, 64)},
        **{getattr(pa, f"uint{b}")(): getattr(pd, f"UInt{b}Dtype")() for b in (8, 16, 32, 64)},
        pa.bool_(): pd.BooleanDtype(),
    }.get


def _polars(table: pa.Table, like: Any, new: Collection[str]) -> Any:
    import polars as pl

    made: list[Any] = []
    for name in table.column_names:
        series = pl.Series(name, pl.from_arrow(table.column(name)))
        dtype = None if name in new else like.schema.get(name)
        if isinstance(dtype, pl.Enum):
            there = set(series.drop_nulls().unique())
            dtype = pl.Enum([category for category in dtype.categories if category in there])
        made.append(series if dtype is None else series.cast(dtype))
    return pl.DataFrame(made)


def _arrow(table: pa.Table, like: pa.Table, new: Collection[str]) -> pa.Table:
    made = table.replace_schema_metadata(None)
    for at, name in enumerate(table.column_names):
        there = like.schema.get_field_index(name)
        if name in new or there < 0:
            continue
        if pa.types.is_dictionary(like.schema.field(there).type):
            made = made.set_column(at, name, table.column(name).dictionary_encode())
    return made
