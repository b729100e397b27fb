"""Categorical variables of records: as small integers and back, and in their order.

The order of a column is the one that was declared, that of its numbers or dates, or none.
"""

# pyarrow has no type information for its classes and compute functions; others are optional.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io.columns import some
from diskret.io.files import parquet_reader
from diskret.io.kinds import is_text
from diskret.texts.numbers import Count

#: Larger whole numbers are not exact as floating point numbers.
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Coded:
    """One categorical variable, a small integer for each record.

    `name`: its column. `categories`: the distinct values in the type of the column, ascending (text
    by code points), without null; not all of them need to occur. `codes`: for each record the
    position in `categories`, or -1 if missing, ``(n,)``, int32.
    """

    name: str
    categories: pa.Array
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def without(self, hidden: NDArray[np.bool_]) -> Coded:
        """The same with the values of some records missing; `hidden` has shape ``(n,)``."""
        return replace(self, codes=np.where(hidden, np.int32(-1), self.codes))

    def column(self) -> pa.ChunkedArray:
        """The values again, in the type of the column, null where they are missing."""
        at = pa.array(self.codes, mask=self.codes < 0)
        return pa.chunked_array([self.categories.take(at)], type=self.categories.type)


def coded(column: pa.ChunkedArray, name: str) -> Coded:
    """Number the distinct values of a column in ascending order; null and NaN are missing.

    The numbers depend on the values alone, not on the order of the records.

    >>> made = coded(pa.chunked_array([["b", None, "a", "b"]]), "region")
    >>> made.codes.tolist(), made.categories.to_pylist()
    ([1, -1, 0, 1], ['a', 'b'])
    """
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    found = encoded.dictionary
    if pa.types.is_floating(found.type):
        _refuse_decimals(found, name)
    order = pc.sort_indices(found).to_numpy()
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = -1
    codes = pc.fill_null(encoded.indices, len(order)).to_numpy(zero_copy_only=False)
    return Coded(name, found.take(pa.array(order)), rank[codes])


def _refuse_decimals(found: pa.Array, name: str) -> None:
    values = found.to_numpy(zero_copy_only=False)
    odd = values[(values != np.rint(values)) | (np.abs(values) > _EXACT)]
    if len(odd):
        shown = ", ".join(str(value) for value in odd[:5])
        number = Count(len(odd))
        raise InputError(
            f"{number} distinct {number:value|values} of {name!r} "
            f"{number:is a number|are numbers} with decimals ({shown}), which "
            f"{number:is no category|are no categories}; recode {number:it|them} into classes "
            "first, or name the variable in numeric="
        )


# ── order ───────────────────────────────────────────────────────────────────────────────

#: Column → its values, the lowest first.
Orders = Mapping[str, tuple[Any, ...]]

#: What text may stand for and still have an order of its own.
_READ_AS = (pa.float64(), pa.date32(), pa.timestamp("us"), pa.bool_())


def declared_orders(frame: Any) -> dict[str, tuple[Any, ...]]:
    """The orders that a frame declares itself.

    Those of ordered categoricals (pandas), of Enum columns (Polars, DuckDB), and of ordered
    dictionaries (Arrow, also in a Parquet file that has one list of values throughout).

    >>> level = pa.DictionaryArray.from_arrays([1, 0], ["low", "high"], ordered=True)
    >>> declared_orders(pa.table({"level": level, "town": ["B", "A"]}))
    {'level': ('low', 'high')}
    """
    if isinstance(frame, pa.RecordBatch):
        return _of_arrow(pa.Table.from_batches([frame]))
    if isinstance(frame, pa.Table):
        return _of_arrow(frame)
    if isinstance(frame, (str, PathLike)):
        return _of_file(Path(frame))
    return _of_frame(frame)


def order_given(name: str, values: Any) -> tuple[Any, ...]:
    """An order as somebody wrote it down: a list of values, or a code tree from top to bottom."""
    if isinstance(values, Hierarchy):
        return values.codes
    if isinstance(values, (str, Mapping)) or not isinstance(values, Sequence):
        raise InputError(
            f"orders= gives {values!r} for {name!r}; list its values from the lowest to the "
            "highest, or give a code tree"
        )
    listed = tuple(values)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    twice = [value for at, value in enumerate(listed) if value in listed[:at]]
    if twice:
        raise InputError(f"orders= names {some('value', twice)} of {name!r} twice")
    return listed


def ascending(
    values: pa.Array, name: str, declared: Sequence[Any] | None = None
) -> NDArray[np.intp]:
    """Positions of distinct values from the lowest to the highest.

    Parameters
    ----------
    values
        Distinct values without null.
    name
        Of their column.
    declared
        All values in their order; others may be among them. None: numbers, dates and logical
        values ascend, also where they are written as text; other text has no order.

    Raises
    ------
    InputError
        A value is not in the declared order; or none is declared, and the values have none.

    Examples
    --------
    >>> ascending(pa.array(["10", "9"]), "age").tolist()
    [1, 0]
    >>> ascending(pa.array(["high", "low", "mid"]), "level", ["low", "mid", "high"]).tolist()
    [1, 2, 0]
    >>> ascending(pa.array(["high", "low", "mid"]), "level")
    Traceback (most recent call last):
    ...
    diskret.errors.InputError: the values of 'level' are text ('high', 'low', 'mid'), which has \
no order of its own; say what comes after what: orders={'level': [...]} for the microdata, or an \
ordered categorical
    """
    if declared is not None:
        return np.argsort(places(values.to_pylist(), name, declared), kind="stable")
    if not is_text(values.type):
        return pc.sort_indices(values).to_numpy()
    for type_ in () if _are_codes(values) else _READ_AS:
        try:
            return pc.sort_indices(values.cast(type_)).to_numpy()
        except pa.ArrowInvalid:
            continue
    shown = ", ".join(map(repr, sorted(values.to_pylist())[:3]))
    raise InputError(
        f"the values of {name!r} are text ({shown}), which has no order of its own; say what "
        f"comes after what: orders={{{name!r}: [...]}} for the microdata, or an ordered categorical"
    )


def in_order(column: Coded, declared: Sequence[Any] | None = None) -> Coded:
    """The column with its categories in their order, see `ascending`."""
    at = ascending(column.categories, column.name, declared)
    rank = np.empty(len(at) + 1, dtype=np.int32)
    rank[at] = np.arange(len(at), dtype=np.int32)
    rank[-1] = -1
    return replace(
        column, categories=column.categories.take(pa.array(at)), codes=rank[column.codes]
    )


def has_order(values: pa.Array, name: str, declared: Sequence[Any] | None = None) -> bool:
    """Whether distinct values have an order, see `ascending`."""
    try:
        ascending(values, name, declared)
    except InputError:
        return False
    return True


def keeps_order(values: pa.ChunkedArray, order: Sequence[Any]) -> bool:
    """Whether all values of a column stand in an order."""
    there = {_plain(value) for value in order}
    return all(_plain(v) in there for v in pc.unique(values.drop_null()).to_pylist())


def recoded_order(
    before: pa.ChunkedArray,
    after: pa.ChunkedArray,
    name: str,
    declared: Sequence[Any] | None = None,
) -> tuple[Any, ...] | None:
    """The order of what the values of a column became, by the order they had.

    None if they had no order, or if values became one that have others between them.

    >>> age = pa.chunked_array([[83, 9, 31, 90]])
    >>> recoded_order(age, pa.chunked_array([["≥ 80", "9", "31", "≥ 80"]]), "age")
    ('9', '31', '≥ 80')
    """
    if pa.types.is_floating(before.type):
        before = pc.if_else(pc.is_nan(before), None, before)
    both = pa.table({"old": before, "new": after}).group_by(["old", "new"]).aggregate([])
    both = both.filter(pc.is_valid(both["old"]))
    old, new = both["old"].combine_chunks(), both["new"].to_pylist()
    if not has_order(old, name, declared):
        return None
    made = [new[at] for at in ascending(old, name, declared).tolist()]
    kept = [value for at, value in enumerate(made) if at == 0 or value != made[at - 1]]
    return tuple(kept) if len(set(kept)) == len(kept) and None not in kept else None


def places(values: Sequence[Any], name: str, order: Sequence[Any]) -> list[int]:
    """Where values stand in an order."""
    place = {_plain(value): at for at, value in enumerate(order)}
    unknown = [value for value in values if _plain(value) not in place]
    if unknown:
        raise InputError(
            f"{some('value', unknown)} of {name!r} does not stand in its order "
            f"({', '.join(map(str, order[:8]))}{', …' if len(order) > 8 else ''}); name all of "
            "its values"
        )
    return [place[_plain(value)] for value in values]


def _plain(value: Any) -> str:
    """Values are compared as they are written: 3 and "3" are one, as a CSV file has them."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _of_file(path: Path) -> dict[str, tuple[Any, ...]]:
    if path.suffix.lower() != ".parquet":
        return {}
    reader = parquet_reader()
    there = [field.name for field in reader.read_schema(path) if _is_ordered(field.type)]
    return _of_arrow(reader.read_table(path, columns=there)) if there else {}


def _of_arrow(table: pa.Table) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for field in table.schema:
        if not _is_ordered(field.type):
            continue
        lists = [chunk.dictionary for chunk in table.column(field.name).chunks]
        if lists and all(one.equals(lists[0]) for one in lists):
            found[field.name] = tuple(lists[0].to_pylist())
    return found


def _of_frame(frame: Any) -> dict[str, tuple[Any, ...]]:
    import narwhals as nw
    from narwhals import dependencies as known

    if known.is_pandas_dataframe(frame):
        return {
            str(name): tuple(values.cat.categories)
            for name, values in frame.items()
            if isinstance(values.dtype, known.get_pandas().CategoricalDtype) and values.cat.ordered
        }
    if known.is_polars_dataframe(frame) or known.is_polars_lazyframe(frame):
        schema = nw.from_native(frame).collect_schema()
        return {n: tuple(t.categories) for n, t in schema.items() if isinstance(t, nw.Enum)}
    if known.is_duckdb_relation(frame):
        pairs = zip(frame.columns, frame.types, strict=True)
        return {
            name: tuple(cast(list[str], t.children[0][1])) for name, t in pairs if t.id == "enum"
        }
    return {}


def _is_ordered(type_: pa.DataType) -> bool:
    return pa.types.is_dictionary(type_) and type_.ordered


def _are_codes(values: pa.Array) -> bool:
    """Whether text has leading zeros that numbers lack: 011 stands below 01, not above 02."""
    zeros = pc.any(pc.match_substring_regex(values, r"^\s*0\d")).as_py()
    return bool(zeros) and len(pc.unique(pc.utf8_length(values))) > 1
