"""What the areas of several geographies cut each other into, and who is in each piece."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import code_text, column, once, scaled_integers, whole_numbers

#: What is left of all records without those of all areas shown, of each geography.
REST = ""
#: Area → codes of published totals and the factors that make it of them.
Made = Mapping[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, eq=False)
class Records:
    """Records as they were read. Confidential.

    table: all their columns. number: how many each row stands for, ``(rows,)``. amount: the values
    that are summed, in whole scaled units; None: counts are published. unit: whose each row is;
    None: not asked for.
    """

    table: pa.Table
    number: NDArray[np.int64]
    amount: NDArray[np.int64] | None
    unit: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Geography:
    """Areas, and which of them each record is in.

    codes: the last one is `REST`. place: shape (rows,). made: areas that are no published total
    but follow from several.
    """

    name: str
    codes: tuple[str, ...]
    place: NDArray[np.int64]
    made: Made = field(default_factory=dict[str, tuple[tuple[str, int], ...]])


@dataclass(frozen=True, eq=False)
class Pieces:
    """Records by the areas of all geographies in which they lie. Confidential.

    Parameters
    ----------
    names
        The geographies.
    codes
        The areas of each geography; the last one is `REST`, all others together, if there are any.
    place
        Shape (pieces, geographies): which area each piece lies in.
    count
        Shape (pieces,): records in it, or units if they are known and each lies in one piece, ≥ 1.
    piece, unit, amount
        Shape (pairs,): each unit once in each of its pieces, and what it contributes there. Empty
        if units are not known: each record is one, and nothing is summed.
    made
        Geography → areas that follow from several published totals, see `Geography`.
    """

    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    place: NDArray[np.int64]
    count: NDArray[np.int64]
    piece: NDArray[np.int64]
    unit: NDArray[np.int64]
    amount: NDArray[np.float64]
    made: Mapping[str, Made] = field(default_factory=dict[str, Made])

    @property
    def weight(self) -> NDArray[np.float64]:
        """Shape (pieces,): numbers of units whose sums are never above the units of a union.

        A unit counts in equal parts in all its pieces.
        """
        if not len(self.unit):
            return self.count.astype(np.float64)
        times = np.bincount(self.unit)
        shares = np.bincount(self.piece, 1.0 / times[self.unit], len(self.count))
        return shares.astype(np.float64)

    def units(self, pieces: NDArray[np.int64]) -> int:
        """How many units there are in some pieces together."""
        if not len(self.unit):
            return int(self.count[pieces].sum())
        return len(np.unique(self.unit[np.isin(self.piece, pieces)]))

    def of(self, geographies: Sequence[int]) -> Pieces:
        """What fewer geographies cut each other into."""
        codes = tuple(self.codes[at] for at in geographies)
        names = tuple(self.names[at] for at in geographies)
        return self._joined(names, codes, self.place[:, list(geographies)])[0]

    def hiding(self, hidden: Sequence[NDArray[np.bool_]]) -> tuple[Pieces, NDArray[np.int64]]:
        """The same where some areas of each geography join the rest; what becomes of each piece."""
        codes, place = list[tuple[str, ...]](), list[NDArray[np.int64]]()
        for own, at, out in zip(self.codes, self.place.T, hidden, strict=True):
            shown = ~out
            shown[-1] = False
            new = np.where(shown, np.cumsum(shown) - 1, shown.sum())
            codes.append((*(own[i] for i in np.flatnonzero(shown).tolist()), REST))
            place.append(new[at])
        return self._joined(self.names, tuple(codes), np.stack(place, axis=1))

    def _joined(
        self,
        names: tuple[str, ...],
        codes: tuple[tuple[str, ...], ...],
        place: NDArray[np.int64],
    ) -> tuple[Pieces, NDArray[np.int64]]:
        rows, which = distinct(place)
        count = np.bincount(which, self.count, len(rows)).astype(np.int64)
        pairs = _pairs(which[self.piece], self.unit, self.amount)
        return Pieces(names, codes, rows, count, *pairs, self.made), which


def pieces_of(
    records: Any,
    by: Sequence[str],
    *,
    count: str | None = None,
    value: str | None = None,
    unit: str | None = None,
    decimals: int = 0,
    hidden: Mapping[str, Collection[str]] | None = None,
) -> Pieces:
    """Read records, or what somebody counted of them, as pieces.

    Raises
    ------
    InputError
        A column is not there or cannot be read, or what is asked for does not go together.
    """
    names = once(by, "by")
    check_two(names)
    read = read_records(records, count, value, unit, decimals)
    return cut(read, [areas_of(read.table, name) for name in names], hidden)


def check_two(names: Sequence[str]) -> None:
    """Refuse less than two geographies."""
    if len(names) < 2:
        raise InputError("by must name two columns of areas or more, one for each geography")


def no_geography(parameter: str, name: str) -> InputError:
    """What is said of a name that `by` does not hold."""
    return InputError(f"{parameter} names {name!r}, which is no geography of by")


def read_records(
    records: Any, count: str | None, value: str | None, unit: str | None, decimals: int
) -> Records:
    """Any frame or file, with what is counted or summed."""
    if count is not None and (value is not None or unit is not None):
        raise InputError(
            "count= is for records counted before; leave it out where value= or unit= is given"
        )
    table, _ = to_arrow(records, numbers=(count, value), told=(unit,))
    number, amount, person = np.ones(table.num_rows, np.int64), None, None
    if count is not None:
        number = whole_numbers(column(table, count), count)
    if value is not None:
        amount = scaled_integers(column(table, value), value, decimals)
    if unit is not None:
        person = numbered(code_text(column(table, unit), unit))[1]
    return Records(table, number, amount, person)


def cut(
    records: Records,
    geographies: Sequence[Geography],
    hidden: Mapping[str, Collection[str]] | None = None,
) -> Pieces:
    """The pieces into which areas cut each other; hidden areas join the rest."""
    place, which = distinct(np.stack([own.place for own in geographies], axis=1))
    counted = np.bincount(which, records.number, len(place)).astype(np.int64)
    piece = person = np.zeros(0, np.int64)
    amount = np.zeros(0)
    if records.unit is not None or records.amount is not None:
        rows = len(which)
        person = np.arange(rows) if records.unit is None else records.unit
        amount = np.ones(rows) if records.amount is None else records.amount.astype(np.float64)
        piece, person, amount = _pairs(which, person, amount)
    some = np.flatnonzero(counted > 0)
    renumbered = np.cumsum(counted > 0) - 1
    names, codes = zip(*((own.name, own.codes) for own in geographies), strict=True)
    made = {own.name: own.made for own in geographies if own.made}
    found = Pieces(
        names, codes, place[some], counted[some], renumbered[piece], person, amount, made
    )
    return found.hiding(hidden_of(found, hidden))[0] if hidden else found


def in_period(
    records: Records, geographies: Sequence[Geography], rows: NDArray[np.bool_]
) -> Pieces:
    """The pieces of some of the records; the areas are those of all."""
    unit = records.unit
    some = Records(
        records.table,
        records.number[rows],
        None if records.amount is None else records.amount[rows],
        None if unit is None else np.unique(unit[rows], return_inverse=True)[1].astype(np.int64),
    )
    return cut(some, [replace(own, place=own.place[rows]) for own in geographies])


def hidden_of(pieces: Pieces, hidden: Mapping[str, Collection[str]]) -> list[NDArray[np.bool_]]:
    """Which areas of each geography are named."""
    masks = [np.zeros(len(codes), bool) for codes in pieces.codes]
    for name, given in hidden.items():
        if name not in pieces.names:
            raise no_geography("hidden=", name)
        at = pieces.names.index(name)
        place = {code: i for i, code in enumerate(pieces.codes[at][:-1])}
        for code in map(str, given):
            if code not in place:
                raise InputError(f"hidden= names {code!r}, which is no area in {name!r}")
            masks[at][place[code]] = True
    return masks


def areas_of(table: pa.Table, name: str) -> Geography:
    """All areas that a column names, then `REST`, where nothing stands."""
    values = column(table, name)
    missing = values.is_null().to_numpy()
    if not missing.any():
        codes, place = numbered(code_text(values, name))
        return Geography(name, (*codes, REST), place)
    known = np.flatnonzero(~missing)
    codes, at = numbered(code_text(values.take(pa.array(known)), name))
    place = np.full(len(missing), len(codes))
    place[known] = at
    return Geography(name, (*codes, REST), place)


def numbered(values: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """Different texts in order, and which one each is."""
    encoded = pc.dictionary_encode(values).combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    codes = encoded.dictionary.to_pylist()
    order = sorted(range(len(codes)), key=codes.__getitem__)
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.arange(len(codes))
    return [codes[at] for at in order], rank[encoded.indices.to_numpy()]


def distinct(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different rows in order, and which one each is."""
    order = np.lexsort(rows.T[::-1])
    begins = np.ones(len(rows), bool)
    begins[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(begins) - 1
    return rows[order[begins]], which


def _pairs(
    piece: NDArray[np.int64], unit: NDArray[np.int64], amount: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Each unit once in each piece, with all that it contributes there."""
    pairs, which = distinct(np.stack([piece, unit], axis=1))
    return pairs[:, 0], pairs[:, 1], np.bincount(which, amount, len(pairs)).astype(np.float64)
