"""Frames of the caller's kind: the own one with columns replaced, other records, clean ones."""

# pyarrow has no type information for its classes; pandas and Polars are optional.
# pyright: reportUnknownParameterType=false, reportMissingImports=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.io.frames import from_arrow
from diskret.io.sources import FrameKind


def returned(frame: Any, kind: FrameKind, table: pa.Table, changed: Collection[str]) -> Any:
    """The kind of frame that came in, with its types, row order and index.

    Columns that did not change are the caller's own. A whole-number or logical column of
    pandas that has gaps now is a nullable one (``Int64``, ``boolean``). Categories stay categories,
    with new ones where values are new; pandas categories that lost all their values are gone, those
    that never had any stay.
    """
    if kind == "pandas":
        return _pandas(frame, table, changed)
    if kind == "polars":
        return _polars(frame, table, changed)
    if kind == "pyarrow" and isinstance(frame, pa.Table):
        return _arrow(frame, table, changed)
    return from_arrow(table, kind)


def rows_of_frame(frame: Any, kind: FrameKind, keep: NDArray[np.bool_]) -> Any:
    """Some rows of the caller's frame, with their index; others than frames are left as they are.

    >>> rows_of_frame(pa.table({"town": ["A", "B"]}), "pyarrow", np.array([False, True]))["town"]
    <pyarrow.lib.ChunkedArray object at ...>
    [
      [
        "B"
      ]
    ]
    """
    if kind == "pandas":
        return frame[keep]
    if kind == "polars":
        return frame.lazy().collect().filter(keep)
    if kind == "pyarrow" and isinstance(frame, pa.Table):
        return frame.filter(pa.array(keep))
    return frame


def with_column(frame: Any, table: pa.Table, kind: FrameKind, name: str, values: pa.Array) -> Any:
    """The caller's own frame, its index included, with one more column at its end.

    `table`: the records as they were read, for files, lazy frames and relations.

    >>> with_column(pa.table({"x": [1]}), pa.table({"x": [1]}), "pyarrow", "y", pa.array(["a"]))[1]
    <pyarrow.lib.ChunkedArray object at ...>
    [
      [
        "a"
      ]
    ]
    """
    import narwhals as nw

    try:
        own = nw.from_native(frame, eager_only=True)
    except TypeError:
        return from_arrow(table.append_column(name, values), kind)
    added = nw.from_arrow(pa.table({name: values}), backend=own.implementation)[name]
    return own.with_columns(added).to_native()


def renewed(frame: Any, kind: FrameKind, table: pa.Table) -> Any:
    """Other records than the caller's, as the kind of frame that came in, with its types.

    As from `returned`; nullable types of pandas stay nullable, and the index is new.

    >>> frame = pa.table({"town": pa.array(["A", "B"]).dictionary_encode()})
    >>> renewed(frame, "pyarrow", pa.table({"town": ["B", "B", "B"]})).schema.field("town").type
    DictionaryType(dictionary<values=string, indices=int32, ordered=0>)
    """
    if kind == "pandas":
        import pandas as pd

        index = pd.RangeIndex(table.num_rows)
        columns = {
            name: _series(pd, frame, name, table.column(name), index) for name in table.column_names
        }
        for name, series in columns.items():
            before = frame[name].dtype if name in frame.columns else None
            if pd.api.types.is_extension_array_dtype(before) and series.dtype != before:
                categories = isinstance(before, pd.CategoricalDtype)
                columns[name] = series if categories else series.astype(before)
        return pd.DataFrame(columns, index=index)
    if kind == "polars":
        import polars as pl

        schema = frame.collect_schema()
        return pl.DataFrame(
            [_polars_series(pl, schema, name, table.column(name)) for name in table.column_names]
        )
    if kind == "pyarrow" and isinstance(frame, pa.Table):
        for at, name in enumerate(table.column_names):
            table = table.set_column(at, name, _arrow_values(frame, name, table.column(name)))
        return table
    return from_arrow(table, kind)


def _pandas(frame: Any, table: pa.Table, changed: Collection[str]) -> Any:
    import pandas as pd

    made = frame[[n for n in frame.columns if n in table.column_names]].copy(deep=False)
    for name in sorted(changed):
        made[name] = _series(pd, frame, name, table.column(name), frame.index)
    return made


def _series(pd: Any, frame: Any, name: str, values: pa.ChunkedArray, index: Any) -> Any:
    before = frame[name].dtype if name in frame.columns else None
    series = values.to_pandas(types_mapper=_nullable(pd) if values.null_count else None)
    series = pd.Series(series.array, index=index, name=name)
    if isinstance(before, pd.CategoricalDtype):
        return series.astype(_categories(pd, frame[name], series))
    if getattr(before, "kind", "") == "O":  # text, in whatever way pandas keeps it
        return series.astype(before)
    return series


def _nullable(pd: Any) -> Any:
    return {
        **{getattr(pa, f"int{b}")(): getattr(pd, f"Int{b}Dtype")() for b in (8, 16, 32, 64)},
        **{getattr(pa, f"uint{b}")(): getattr(pd, f"UInt{b}Dtype")() for b in (8, 16, 32, 64)},
        pa.bool_(): pd.BooleanDtype(),
    }.get


def _categories(pd: Any, before: Any, series: Any) -> Any:
    now = set(series.dropna().unique())
    gone = set(before.dropna().unique()) - now  # a list of values that are hidden would tell them
    kept = [value for value in before.cat.categories if value not in gone]
    new = sorted(now - set(kept), key=str)
    return pd.CategoricalDtype([*kept, *new], ordered=before.cat.ordered and not new)


def _polars(frame: Any, table: pa.Table, changed: Collection[str]) -> Any:
    import polars as pl

    made = frame.lazy().collect()
    made = made.select([n for n in made.columns if n in table.column_names])
    for name in sorted(changed):
        made = made.with_columns(_polars_series(pl, made.schema, name, table.column(name)))
    return made


def _polars_series(pl: Any, schema: Any, name: str, values: pa.ChunkedArray) -> Any:
    series = pl.Series(name, pl.from_arrow(values))
    before = schema.get(name)
    if before is None or not isinstance(before, (pl.Categorical, pl.Enum)):
        return series
    fits = not isinstance(before, pl.Enum) or set(series.drop_nulls().unique()) <= set(
        before.categories
    )
    return series.cast(before if fits else pl.Categorical())


def _arrow(frame: pa.Table, table: pa.Table, changed: Collection[str]) -> pa.Table:
    made = frame.select([n for n in frame.column_names if n in table.column_names])
    for name in sorted(changed):
        at, values = made.schema.get_field_index(name), table.column(name)
        if at < 0:
            made = made.append_column(name, values)
        else:
            made = made.set_column(at, name, _arrow_values(frame, name, values))
    return made


def _arrow_values(frame: pa.Table, name: str, values: pa.ChunkedArray) -> pa.ChunkedArray:
    at = frame.schema.get_field_index(name)
    before = frame.schema.field(at).type if at >= 0 else None
    if before is not None and pa.types.is_dictionary(before):
        if pa.types.is_large_string(values.type) and pa.types.is_string(before.value_type):
            values = values.cast(before.value_type)  # reading made it large
        return values.dictionary_encode()
    return values


# ── frames that keep no trace of values that are no longer there ────────────────────


def cleaned(table: pa.Table, kind: FrameKind, like: Any, new: Collection[str] = ()) -> Any:
    """Turn columns into the caller's kind of frame, with the types of another one.

    Lists of categories hold the values that occur and no others, there is no metadata, and the
    index of pandas counts from 0: nothing tells of values that were suppressed, or of records
    that were somewhere else.
    """
    if kind == "pandas":
        return _cleaned_pandas(table, like, new)
    if kind == "polars":
        return _cleaned_polars(table, like, new)
    if kind == "pyarrow" and isinstance(like, pa.Table):
        return _cleaned_arrow(table, like, new)
    return from_arrow(table, kind)


def _cleaned_pandas(table: pa.Table, like: Any, new: Collection[str]) -> Any:
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
            series = values.to_pandas(types_mapper=_nullable(pd) if nullable else None)
            made[name] = series if before is None else series.astype(before)
    return pd.DataFrame(made)


def _cleaned_polars(table: pa.Table, like: Any, new: Collection[str]) -> Any:
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


def _cleaned_arrow(table: pa.Table, like: pa.Table, new: Collection[str]) -> pa.Table:
    made = table.replace_schema_metadata(None)
    for at, name in enumerate(table.column_names):
        there = like.schema.get_field_index(name)
        if name in new or there < 0:
            continue
        if pa.types.is_dictionary(like.schema.field(there).type):
            made = made.set_column(at, name, table.column(name).dictionary_encode())
    return made
