"""Codes that mean missing, as files of SAS, SPSS and Stata have them: where verbs ask for them.

A key holds them as categories: refused, does not apply. Whatever reads values as numbers, or in an
order, finds nothing there.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Source
from diskret.io.categories import Coded, coded, in_order
from diskret.io.columns import numbers
from diskret.io.kinds import is_number, is_text
from diskret.microdata.categories import texts
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


def missing(
    md: Microdata, name: str, values: pa.Array | pa.ChunkedArray, but: Container[str] = ()
) -> NDArray[np.bool_]:
    """Which values of a column are codes that mean missing in its file, ``(n,)``, but for some.

    None of a column of numbers: there these codes are missing already, and a protected value may
    be the same number.
    """
    if name in md.reasons:
        return np.zeros(len(values), dtype=bool)
    found = md.book.means_missing(name, values)
    if but and found.any():
        at = np.flatnonzero(found)
        found[at] = [code not in but for code in _texts(values.take(pa.array(at)))]
    return found


def valued(md: Microdata, name: str, but: Container[str] = ()) -> pa.ChunkedArray:
    """A column in which codes that mean missing are missing, but for some."""
    values = md.table_column(name)
    gone = missing(md, name, values, but)
    return _where(gone, None, values) if gone.any() else values


def as_values(md: Microdata, name: str) -> pa.ChunkedArray:
    """The same, as numbers where those stood in text for ``.a`` to ``.z`` among them."""
    values = valued(md, name)
    tagged = name in md.book.tagged and is_text(values.type)
    return values.cast(pa.float64()) if tagged and _castable(values) else values


def numeric(md: Microdata, name: str) -> bool:
    """Whether a column holds numbers, and maybe codes that mean missing."""
    values = md.table_column(name)
    if name in md.book.tagged and is_text(values.type):
        return _castable(valued(md, name))
    return is_number(values.type) or pa.types.is_decimal(values.type)


def in_its_order(md: Microdata, name: str, order: Sequence[Any] | None = None) -> Coded:
    """A categorical variable in its order, or another, where codes that mean missing have no place.

    Raises
    ------
    InputError
        It has no order, or a value that does not stand in it.
    """
    declared = md.roles.orders.get(name) if order is None else order
    column = valued(md, name)
    if pa.types.is_floating(column.type):  # -0 is 0
        plain = pa.array(column.to_numpy() + 0.0, column.type, from_pandas=True)
        column = pa.chunked_array([plain])
    return in_order(coded(column, name), declared)


@dataclass(frozen=True, eq=False)
class Line:
    """Values on a line, and what lies beside it: missing ones, and codes that mean missing.

    `numbers`: of each record, ``(n,)``: 0 where it is missing, then the codes, each apart, then the
    values, ascending. `points`: the number of the lowest value.
    """

    numbers: NDArray[np.int32]
    points: int

    @property
    def beside(self) -> int:
        """How many of the numbers that occur are beside the line."""
        return int(np.count_nonzero(np.bincount(self.numbers)[: self.points]))


def on_a_line(
    md: Microdata, name: str, order: Sequence[Any] | None = None, *, decimals: bool = False
) -> Line:
    """A variable on a line, in its order or another; with `decimals` numbers that have them, too.

    Raises
    ------
    InputError
        As for `in_its_order`.
    """
    column = md.table_column(name)
    gone = missing(md, name, column)
    codes = coded(_where(gone, column.cast(pa.string()), None), name)
    points = len(codes.categories) + 1
    if decimals:
        given = numbers(valued(md, name), name)
        rank = np.full(len(given), -1, dtype=np.int32)
        there = ~np.isnan(given)
        rank[there] = np.unique(given[there], return_inverse=True)[1]
    else:
        rank = in_its_order(md, name, order).codes
    return Line(np.where(rank >= 0, rank + np.int32(points), codes.codes + np.int32(1)), points)


def with_decimals(md: Microdata, name: str) -> bool:
    """Whether a column holds numbers with decimals, and maybe codes that mean missing."""
    column = md.table_column(name)
    if not (pa.types.is_floating(column.type) or (is_text(column.type) and numeric(md, name))):
        return False
    given = numbers(valued(md, name), name)
    return bool((given != np.rint(given))[~np.isnan(given)].any())


def codes_there(md: Microdata, table: pa.Table) -> dict[str, list[str]]:
    """Columns of records that are to leave → codes in them that mean missing, as text."""
    found: dict[str, list[str]] = {}
    for name in table.column_names:
        known = pc.unique(table.column(name)).drop_null()
        codes = known.filter(pa.array(missing(md, name, known)))
        if len(codes):
            found[name] = sorted(codes.cast(pa.string()).to_pylist())
    return found


def with_codes(md: Microdata, name: str, made: pa.ChunkedArray) -> pa.ChunkedArray:
    """New values of a column, and the codes that mean missing where these have none.

    Raises
    ------
    InputError
        A new value is one of these codes, so that nobody could tell the two apart.
    """
    codes = md.table_column(name)
    gone = missing(md, name, codes)
    taken = missing(md, name, made) & ~gone
    if taken.any():
        shown = pc.unique(made.filter(pa.array(taken))).cast(pa.string()).to_pylist()
        number = Count(taken.sum())
        raise InputError(
            f"{number} {number:value|values} of {name!r} would become {', '.join(shown[:5])}, "
            "which means missing there; choose other new values"
        )
    if not gone.any():
        return made
    if made.type != codes.type:
        both = pa.float64() if is_number(made.type) and is_number(codes.type) else pa.string()
        made, codes = made.cast(both), codes.cast(both)
    return _where(gone & np.asarray(pc.is_null(made)), codes, made)


def as_numbers(md: Microdata, names: Iterable[str]) -> Microdata:
    """Columns as numbers from now on: codes that mean missing are missing, for that reason."""
    table, reasons = md.table, dict(md.reasons)
    for name in names:
        gone = missing(md, name, md.table_column(name))
        if not gone.any():
            continue
        reasons[name] = _where(~gone, None, md.table_column(name).cast(pa.string()))
        values = valued(md, name)
        if is_text(values.type) and _castable(values):
            values = values.cast(pa.float64())
        table = table.set_column(table.schema.get_field_index(name), name, values)
    return md if len(reasons) == len(md.reasons) else md.read_anew(table, reasons)


def reasons_of(opened: Source, names: Iterable[str]) -> Mapping[str, pa.ChunkedArray]:
    """Columns of numbers whose file says why a value is missing: the code, null elsewhere."""
    table = opened.arrow
    return {
        name: _where(
            np.asarray(pc.is_null(opened.numbers[name])), table.column(name).cast(pa.string()), None
        )
        for name in names
        if table is not None and name in opened.numbers
    }


def _texts(values: pa.Array | pa.ChunkedArray) -> list[str]:
    return texts(values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values)


def _where(
    at: NDArray[np.bool_], these: pa.ChunkedArray | None, others: pa.ChunkedArray | None
) -> pa.ChunkedArray:
    return pc.if_else(pa.chunked_array([pa.array(at)]), these, others)


def _castable(values: pa.ChunkedArray) -> bool:
    try:
        values.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
