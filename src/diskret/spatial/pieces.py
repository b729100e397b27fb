"""What the areas of several geographies cut each other into, and who is in each piece."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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
    """

    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    place: NDArray[np.int64]
    count: NDArray[np.int64]
    piece: NDArray[np.int64]
    unit: NDArray[np.int64]
    amount: NDArray[np.float64]

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
        distinct, which = _distinct(place)
        count = np.bincount(which, self.count, len(distinct)).astype(np.int64)
        pairs = _pairs(which[self.piece], self.unit, self.amount)
        return Pieces(names, codes, distinct, count, *pairs), which


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
    if len(names) < 2:
        raise InputError("by must name two columns of areas or more, one for each geography")
    if count is not None and (value is not None or unit is not None):
        raise InputError(
            "count= is for records counted before; leave it out where value= or unit= is given"
        )
    hidden = dict(hidden or {})
    table, _ = to_arrow(records, numbers=(count, value), told=(unit,))
    read = [_areas(table, name) for name in names]
    place, which = _distinct(np.stack([at for _, at in read], axis=1))
    number = np.ones(table.num_rows, np.int64)
    if count is not None:
        number = whole_numbers(column(table, count), count)
    counted = np.bincount(which, number, len(place)).astype(np.int64)
    piece = person = np.zeros(0, np.int64)
    amount = np.zeros(0)
    if unit is not None or value is not None:
        amount = np.ones(table.num_rows)
        person = np.arange(table.num_rows)
        if value is not None:
            amount = scaled_integers(column(table, value), value, decimals).astype(np.float64)
        if unit is not None:
            person = _numbered(code_text(column(table, unit), unit))[1]
        piece, person, amount = _pairs(which, person, amount)
    some = np.flatnonzero(counted > 0)
    renumbered = np.cumsum(counted > 0) - 1
    codes = tuple(codes for codes, _ in read)
    found = Pieces(names, codes, place[some], counted[some], renumbered[piece], person, amount)
    return found.hiding(hidden_of(found, hidden))[0] if hidden else found


def hidden_of(pieces: Pieces, hidden: Mapping[str, Collection[str]]) -> list[NDArray[np.bool_]]:
    """Which areas of each geography are named."""
    masks = [np.zeros(len(codes), bool) for codes in pieces.codes]
    for name, given in hidden.items():
        if name not in pieces.names:
            raise InputError(f"hidden= names {name!r}, which is no geography of by")
        at = pieces.names.index(name)
        place = {code: i for i, code in enumerate(pieces.codes[at][:-1])}
        for code in map(str, given):
            if code not in place:
                raise InputError(f"hidden= names {code!r}, which is no area in {name!r}")
            masks[at][place[code]] = True
    return masks


def _areas(table: pa.Table, name: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """All areas, then `REST`; which one each record is in."""
    values = column(table, name)
    missing = values.is_null().to_numpy()
    if not missing.any():
        codes, place = _numbered(code_text(values, name))
        return (*codes, REST), place
    known = np.flatnonzero(~missing)
    codes, at = _numbered(code_text(values.take(pa.array(known)), name))
    place = np.full(len(missing), len(codes))
    place[known] = at
    return (*codes, REST), place


def _numbered(values: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """Different texts in order, and which one each is."""
    encoded = pc.dictionary_encode(values).combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    codes = encoded.dictionary.to_pylist()
    order = sorted(range(len(codes)), key=codes.__getitem__)
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.arange(len(codes))
    return [codes[at] for at in order], rank[encoded.indices.to_numpy()]


def _distinct(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    pairs, which = _distinct(np.stack([piece, unit], axis=1))
    return pairs[:, 0], pairs[:, 1], np.bincount(which, amount, len(pairs)).astype(np.float64)
