"""Records put together where they agree, and tables counted from them, two files side by side."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.categories import coded
from diskret.io.columns import column
from diskret.tables.lists import TableLists, each

#: Numbers of combinations stay below it.
_LARGEST = 2**62
#: Tables with up to so many possible cells are counted in one array.
_DENSE = 2**23

Codes = NDArray[np.integer[Any]]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Combined:
    """Distinct combinations of some variables, and how many records show each.

    Parameters
    ----------
    categories
        Variable → its values as text, without missing ones.
    codes
        Variable → for each combination 1 + position among `categories`, 0 if missing, ``(J,)``.
    count
        Number of records, ``(J,)``, int64.
    """

    categories: Mapping[str, pa.Array]
    codes: Mapping[str, Codes]
    count: Counts
    _amounts: dict[str, Counts] = field(default_factory=dict[str, Counts], repr=False)

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.count.sum())

    def amount(self, counter: str) -> Counts:
        """What each combination counts in tables of a counting variable, ``(J,)``.

        Raises
        ------
        InputError
            Its values are not whole numbers from 0.
        """
        if not counter:
            return self.count
        if counter not in self._amounts:
            values = self.categories[counter]
            if (self.codes[counter] == 0).any():
                raise InputError(f"the counting variable {counter!r} is missing in some records")
            try:
                number = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
            except pa.ArrowInvalid:
                number = np.array([-1])
            if len(number) and number.min() < 0:
                raise InputError(
                    f"the counting variable {counter!r} must hold whole numbers from 0, not "
                    f"{values[int(np.argmin(number))].as_py()!r}"
                )
            self._amounts[counter] = number[self.codes[counter].astype(np.int64) - 1] * self.count
        return self._amounts[counter]


@dataclass(frozen=True, eq=False)
class TableCounts:
    """The cells of one table that are not empty.

    counter: the counting variable; ``""``: records are counted.
    values: for each variable the value of each cell as text, a dictionary array of ``(c,)``; null
        is a missing value, a category of its own.
    count: of each cell, ``(c,)``, above 0.
    """

    columns: tuple[str, ...]
    counter: str
    values: tuple[pa.DictionaryArray, ...]
    count: Counts


@dataclass(frozen=True, eq=False)
class ComparedCounts:
    """The cells of one table in two files, those that are not empty in either.

    categories: for each variable the values as text.
    codes: for each variable 1 + position among them, 0 if missing, ``(c,)``.
    before, after: counts, ``(c,)``, int64.
    """

    columns: tuple[str, ...]
    counter: str
    categories: tuple[pa.Array, ...]
    codes: tuple[Codes, ...]
    before: Counts
    after: Counts

    def at(self, cell: Mapping[str, str | None]) -> int:
        """Position of the cell with these values of all variables; -1: it is empty in both."""
        there = np.ones(len(self.before), dtype=bool)
        for name, values, codes in zip(self.columns, self.categories, self.codes, strict=True):
            value = cell[name]
            code = 0 if value is None else 1 + pc.index(values, value).as_py()
            there &= (codes == code) & (code > 0 or value is None)
        found = np.flatnonzero(there)
        return int(found[0]) if len(found) else -1


def combined(records: pa.Table, names: Sequence[str]) -> Combined:
    """Put records together that agree in some variables.

    Raises
    ------
    InputError
        A column is missing, or holds numbers with decimals.

    Examples
    --------
    >>> persons = pa.table({"town": ["N", "S", "N"], "sex": ["f", "m", "f"]})
    >>> combined(persons, ["town", "sex"]).count.tolist()
    [2, 1]
    """
    categories: dict[str, pa.Array] = {}
    codes: dict[str, Codes] = {}
    for name in names:
        known = coded(column(records, name), name)
        categories[name] = known.categories.cast(pa.string())
        codes[name] = (known.codes + 1).astype(np.min_scalar_type(len(known.categories)))
    sizes = [len(categories[name]) + 1 for name in names]
    key = numbered([codes[name] for name in names], sizes, records.num_rows)
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    kept = {name: own[first] for name, own in codes.items()}
    return Combined(categories, kept, count.astype(np.int64))


def counted(found: Combined, columns: Sequence[str], counter: str = "") -> TableCounts:
    """Count one table.

    Examples
    --------
    >>> persons = pa.table({"town": ["N", "S", "N"], "flats": [1, 0, 4]})
    >>> counted(combined(persons, ["town", "flats"]), ["town"], "flats").count.tolist()
    [5]
    """
    categories = [found.categories[name] for name in columns]
    codes, count = _cells(
        [found.codes[name] for name in columns],
        [len(values) + 1 for values in categories],
        found.amount(counter),
    )
    values = [
        pa.DictionaryArray.from_arrays(pa.array(own.astype(np.int32) - 1, mask=own == 0), known)
        for own, known in zip(codes, categories, strict=True)
    ]
    return TableCounts(tuple(columns), counter, tuple(values), count)


def counted_all(found: Combined, lists: TableLists) -> Iterator[TableCounts]:
    """Count tables one after another."""
    for columns, counter in each(lists):
        yield counted(found, columns, counter)


def compare_counts(before: TableCounts, after: Combined) -> ComparedCounts:
    """Count one table again, in another file.

    Raises
    ------
    InputError
        The other file lacks one of its variables.

    Examples
    --------
    >>> persons = pa.table({"town": ["N", "S", "N"]})
    >>> others = combined(pa.table({"town": ["N", "N", "W"]}), ["town"])
    >>> both = compare_counts(counted(combined(persons, ["town"]), ["town"]), others)
    >>> both.before.tolist(), both.after.tolist()
    ([2, 0, 1], [2, 1, 0])
    """
    lacking = [name for name in before.columns if name not in after.codes]
    if lacking:
        raise InputError(
            f"the file has no variable {lacking[0]!r}; the table {before.columns!r} needs it"
        )
    categories: list[pa.Array] = []
    first: list[Codes] = []
    for name, values in zip(before.columns, before.values, strict=True):
        known = after.categories[name]
        at = pc.index_in(values.dictionary, value_set=known)
        new = values.dictionary.filter(pc.is_null(at))
        place = at.to_numpy(zero_copy_only=False).copy()
        place[np.isnan(place)] = len(known) + np.arange(len(new))
        own = pc.fill_null(values.indices, -1).to_numpy(zero_copy_only=False)
        first.append(np.append(place.astype(np.int64) + 1, 0)[own])
        categories.append(pa.concat_arrays([known, new]))
    sizes = [len(values) + 1 for values in categories]
    second, count = _cells(
        [after.codes[name] for name in before.columns], sizes, after.amount(before.counter)
    )
    together = [np.concatenate(pair) for pair in zip(first, second, strict=True)]
    number = len(before.count)
    key = numbered(together, sizes, number + len(count))
    _, at, place = np.unique(key, return_index=True, return_inverse=True)
    was, now = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
    was[place[:number]] = before.count
    now[place[number:]] = count
    codes = tuple(own[at] for own in together)
    return ComparedCounts(before.columns, before.counter, tuple(categories), codes, was, now)


def compare_all_counts(before: Iterable[TableCounts], after: Combined) -> Iterator[ComparedCounts]:
    """The same for tables one after another."""
    for table in before:
        yield compare_counts(table, after)


def _cells(
    codes: Sequence[Codes], sizes: Sequence[int], amount: Counts
) -> tuple[list[Codes], Counts]:
    """Codes and counts of the cells that are not empty, in ascending order."""
    key = numbered(codes, sizes, len(amount))
    if np.prod([float(size) for size in sizes]) <= _DENSE:
        # sums of whole numbers below 2**53 are exact
        count = np.bincount(key, weights=amount, minlength=1).astype(np.int64)
        cells = np.flatnonzero(count)
        return list(np.unravel_index(cells, sizes) if sizes else ()), count[cells]
    _, first, at = np.unique(key, return_index=True, return_inverse=True)
    count = np.bincount(at, weights=amount).astype(np.int64)
    cells = np.flatnonzero(count)
    return [own[first[cells]] for own in codes], count[cells]


def numbered(codes: Sequence[NDArray[Any]], sizes: Sequence[int], n: int) -> NDArray[np.int64]:
    """A number for each of n combinations of codes, the same for the same, in their order."""
    key, span = np.zeros(n, dtype=np.int64), 1
    for own, size in zip(codes, sizes, strict=True):
        if span * size > _LARGEST:
            known, key = np.unique(key, return_inverse=True)
            span = len(known)
        key *= size
        key += own
        span *= size
    return key
