"""Categorical variables of records as small integers, and back."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError

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
        raise InputError(
            f"{len(odd):,} distinct values of {name!r} are numbers with decimals ({shown}), which "
            "are no categories; recode them into classes first, or name the variable in numeric="
        )
