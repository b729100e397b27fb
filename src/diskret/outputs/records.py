"""A researcher's frame, as the checks read it: categories, numbers, and whose records they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals import dependencies as known
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.columns import check_names
from diskret.outputs.given import check_index
from diskret.outputs.groups import Axis, Groups
from diskret.outputs.units import units_of


@dataclass(frozen=True, eq=False)
class Records:
    """The records that a result is made of.

    Parameters
    ----------
    frame
        The frame as it came.
    columns
        The same as narwhals reads it.
    rows
        What each record is called in the frame (the index of pandas); None: its number.
    unit
        Shape (records,), int32: the unit of each record; None: each is one.
    """

    frame: Any
    columns: nw.DataFrame[Any]
    rows: Any
    unit: NDArray[np.int32] | None

    @classmethod
    def of(cls, frame: Any, unit: Any = None) -> Records:
        """Read a frame.

        `unit`: name of a column, or one value for each record; see `units_of`.
        """
        try:
            columns = nw.from_native(frame, eager_only=True)
        except TypeError as error:
            raise InputError(
                "records must be a frame in memory: pandas, Polars, PyArrow or another that "
                f"narwhals reads, not {type(frame).__name__}; say .collect() of a lazy one"
            ) from error
        rows = None
        if known.is_pandas_dataframe(frame):
            check_names(frame.columns)
            rows = frame.index
            check_index(rows)
        if isinstance(unit, str):
            if unit not in columns.columns:
                raise InputError(f"unit={unit!r} is no column of the records")
            unit = columns[unit].to_native()
        return cls(frame, columns, rows, units_of(unit, rows, len(columns)))

    def named(self, names: Any, argument: str) -> list[str]:
        """One or several names of columns, as a list; each must be there."""
        several = list(names) if isinstance(names, list | tuple) else [names]
        for name in several:
            if not isinstance(name, str) or name not in self.columns.columns:
                raise InputError(
                    f"{argument}= must name columns of the records, not {name!r}; there are "
                    f"{', '.join(map(repr, self.columns.columns))}"
                )
        return several

    def axis(self, name: str, missing: bool = False, empty: bool = False) -> Axis:
        """The categories of a column.

        `missing`: whether records without a value are a category of their own; `empty`: whether
        categories without records count, where the column has such.
        """
        return axis_of(self.columns[name].to_native(), missing, empty)

    def groups(self, by: Sequence[str], all_name: str = "All") -> Groups:
        """The cells that some columns make."""
        return Groups(tuple(self.axis(name) for name in by), len(self.columns), all_name)

    def numbers(self, name: str) -> NDArray[np.float64] | None:
        """A column of numbers, NaN where one is missing; None: it holds something else."""
        column = self.columns[name]
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            return None
        return numbers_of(column.to_native())

    def without(self, name: str) -> NDArray[np.bool_]:
        """Shape (records,): where a column has no value."""
        column = self.columns[name]
        lost = column.is_null()
        if column.dtype.is_float():
            lost = lost | column.is_nan().fill_null(True)
        return np.asarray(lost.to_numpy(), bool)

    def like(self, columns: Mapping[str, Any]) -> Any:
        """A new frame of the kind that came."""
        return nw.from_dict(dict(columns), backend=self.columns.implementation).to_native()


def axis_of(column: Any, missing: bool = False, empty: bool = False) -> Axis:
    """The categories of a column of pandas, Polars or Arrow, in their order; see `Records.axis`."""
    if known.is_pandas_series(column):
        import pandas as pd

        if empty and isinstance(column.dtype, pd.CategoricalDtype):
            names = [(str(one),) for one in column.cat.categories]
            codes = column.cat.codes.to_numpy().astype(np.int64)
            lost = missing and bool((codes < 0).any())
            return Axis(
                np.where(codes < 0, len(names) if lost else -1, codes),
                [*names, *([("nan",)] if lost else [])],
            )
        codes, categories = pd.factorize(column, sort=True, use_na_sentinel=not missing)
        return Axis(codes, [(str(one),) for one in categories])
    array = nw.from_native(column, series_only=True).to_arrow()
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    coded = array.dictionary_encode(null_encoding="encode" if missing else "mask")
    labels = np.array([str(one) for one in coded.dictionary.to_pylist()], object)
    order = np.argsort(labels, kind="stable")
    rank = np.empty(len(order) + 1, np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Axis(rank[codes], [(str(labels[one]),) for one in order])


def numbers_of(column: Any) -> NDArray[np.float64]:
    """A column as floats, NaN where a value is missing.

    Raises
    ------
    InputError
        A value is no number, or infinite.
    """
    name = getattr(column, "name", "")
    try:
        if known.is_pandas_series(column):
            found = np.asarray(column.astype("float64"), np.float64)
        else:
            own = nw.from_native(column, series_only=True).cast(nw.Float64)
            found = np.asarray(own.to_numpy(), np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"values {name!r} are not all numbers: {error}") from None
    if np.isinf(found).any():
        raise InputError(f"values {name!r} hold an infinite number: no share of a sum can be told")
    return found
