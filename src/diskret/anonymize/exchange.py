"""What the verbs that exchange values between records ask for alike."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.risk.keys import grouped

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


def named(names: str | Iterable[Any]) -> list[Any]:
    """A name, or several, as a list."""
    return [names] if isinstance(names, str) else list(names)


def profiles_of(similar: str | Iterable[Any]) -> list[list[str]]:
    """Lists of variables; plain names are one list."""
    listed = named(similar)
    if listed and all(isinstance(one, str) for one in listed):
        return [listed]
    return [named(one) for one in listed]


def with_followers(md: Microdata, names: Sequence[str]) -> list[str]:
    """The variables and those that tell the same in more detail."""
    further = [one for name in names for one in md.roles.followers.get(name, ())]
    return list(dict.fromkeys((*names, *further)))


def numbered(columns: Sequence[pa.ChunkedArray]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """A number for each combination of values, and the records in which none is missing."""
    codes: list[NDArray[np.int32]] = []
    sizes: list[int] = []
    for column in columns:
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        codes.append(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False))
        sizes.append(len(encoded.dictionary))
    there = np.logical_and.reduce([one >= 0 for one in codes])
    return grouped(codes, sizes)[0], there
