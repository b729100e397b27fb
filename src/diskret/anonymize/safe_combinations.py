"""The distinct combinations of values in microdata, and how many records have each."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import missing
from diskret.errors import InputError
from diskret.io import coded
from diskret.io.columns import whole_numbers
from diskret.io.frames import arrow_types, blocks
from diskret.tables.counted import numbered

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

_BLOCK = 1 << 19
#: What is counted in a record stays below it: the numbers are codes.
_COUNTED = 2**20


@dataclass(frozen=True, eq=False)
class Combinations:
    """What occurs in a file, J combinations of V variables. Confidential."""

    names: tuple[str, ...]  # the variables
    #: for each variable what its codes mean, in the type of its column; null: missing
    values: tuple[pa.Array, ...]
    #: V arrays (J,), codes from 0 on, in small types
    codes: tuple[NDArray[np.signedinteger[Any]], ...]
    count: NDArray[np.int64]  # number of records, (J,)

    def seed(self, given: int) -> int:
        """The seed of all draws: it follows from the values as well as from the one that is given.

        Else two editions of a file would share their draws, and where they differ by a person,
        their safe files would hardly differ by more; see `diskret.anonymize.variables.chance`.
        """
        mark = blake2b(repr((given, self.names, self.sizes)).encode(), digest_size=8)
        for values in self.values:
            mark.update(repr(values.cast(pa.string()).to_pylist()).encode())
        for codes in self.codes:  # their type follows from the kind of frame
            mark.update(np.ascontiguousarray(codes, dtype=np.int32).data)
        mark.update(self.count.data)
        return int(mark.hexdigest(), 16)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes of each variable."""
        return tuple(len(values) for values in self.values)

    def shown(self, row: int, names: Sequence[str]) -> str:
        """Values of a combination, for messages."""
        at = [self.names.index(name) for name in names]
        told = [self.values[v][int(self.codes[v][row])].as_py() for v in at]
        return ", ".join(f"{name} = {value!r}" for name, value in zip(names, told, strict=True))


def combinations(md: Microdata, names: Sequence[str], counters: Sequence[str] = ()) -> Combinations:
    """Count the records of each combination; Parquet files are read block by block.

    Codes of `counters` are their values: whole numbers from 0, none missing. Combinations ascend; a
    missing value is a category of its own, before all others.
    """
    types = arrow_types(md.records)
    columns = [_Column(name, pa.array([], types[name])) for name in names]
    for block in blocks(md.records, names, _BLOCK):
        for column, values in zip(columns, block.columns, strict=True):
            column.add(values)
    values: list[pa.Array] = []
    codes: list[NDArray[Any]] = []
    for column in columns:
        counted = column.name in counters
        if counted:  # codes that mean missing are numbers of nothing
            column.refuse_missing(bool(missing(md, column.name, column.known).any()))
        there, numbered = column.finished(counted)
        values.append(there.cast(types[column.name]))
        codes.append(numbered)
    rows, count = distinct(codes, [len(one) for one in values])
    for v in range(len(codes)):  # one after another: there are many records and columns
        codes[v] = codes[v][rows]
    return Combinations(tuple(names), tuple(values), tuple(codes), count)


def distinct(
    codes: Sequence[NDArray[Any]], sizes: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Distinct rows of some columns, ascending: where each is first, and how often it is there.

    >>> distinct([np.array([1, 0, 1]), np.array([0, 2, 0])], [2, 3])
    (array([1, 0]), array([1, 2]))
    """
    number = numbered(codes, sizes, len(codes[0]))
    order = np.argsort(number, kind="stable")
    number = number[order]
    starts = np.ones(len(number), dtype=np.bool_)
    np.not_equal(number[1:], number[:-1], out=starts[1:])
    del number
    start = np.flatnonzero(starts)
    return order[start], np.diff(start, append=len(order)).astype(np.int64)


@dataclass
class _Column:
    """Numbers the values of a column as they come; they are put in order at the end."""

    name: str
    known: pa.Array
    codes: list[NDArray[Any]] = field(default_factory=list[NDArray[Any]])

    def add(self, values: pa.Array) -> None:
        here = coded(pa.chunked_array([values]), self.name)
        found = here.categories.cast(self.known.type)  # files may differ in it
        new = found.filter(pc.index_in(found, value_set=self.known).is_null())
        self.known = pa.concat_arrays([self.known, new])
        at = pc.index_in(found, value_set=self.known).to_numpy(zero_copy_only=False)
        self.codes.append(np.append(at, -1).astype(_narrow(len(self.known)))[here.codes])

    def finished(self, counted: bool) -> tuple[pa.Array, NDArray[Any]]:
        """What the codes mean, ascending, and the code of each record."""
        known = self.known
        codes = np.concatenate([np.zeros(0, dtype=np.int8), *self.codes])
        self.codes.clear()
        gone = bool((codes < 0).any())
        if counted:
            self.refuse_missing(gone)
            return self._counted(known, codes)
        there = np.zeros(len(known) + 1, dtype=np.bool_)
        there[codes] = True
        order = pc.sort_indices(known).to_numpy()
        order = order[there[order]]
        rank = np.zeros(len(known) + 1, dtype=_narrow(len(known) + 1))
        rank[order] = np.arange(len(order)) + gone
        rank[-1] = 0
        values = known.take(pa.array(order))
        if gone:
            values = pa.concat_arrays([pa.nulls(1, values.type), values])
        return values, rank[codes]

    def refuse_missing(self, gone: bool) -> None:
        """Refuse a column that is to be counted if values are missing."""
        if gone:
            raise InputError(
                f"values of {self.name!r}, which is to be counted, are missing; fill in 0 where "
                "nothing is to be counted"
            )

    def _counted(self, known: pa.Array, codes: NDArray[Any]) -> tuple[pa.Array, NDArray[Any]]:
        number = whole_numbers(pa.chunked_array([known]), self.name)
        largest = int(number.max(initial=0))
        if largest >= _COUNTED:
            raise InputError(
                f"{self.name!r} is to be counted, but has {largest:,} in a record; numbers below "
                f"{_COUNTED:,} can be"
            )
        return pa.array(np.arange(largest + 1)), number.astype(_narrow(largest + 1))[codes]


def _narrow(size: int) -> type[np.signedinteger[Any]]:
    """The smallest type for codes below `size`, and -1."""
    return np.int8 if size < 2**7 else np.int16 if size < 2**15 else np.int32
