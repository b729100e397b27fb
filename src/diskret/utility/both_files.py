"""The same records before and after protection, column by column."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import FrameKind, Source, coded, source
from diskret.io.categories import Orders, ascending, declared_orders
from diskret.io.code_book import CodeBook
from diskret.io.columns import column, numbers, some
from diskret.io.frames import in_memory, spelled
from diskret.io.kinds import is_number
from diskret.texts.numbers import Count
from diskret.utility.propensity import Categories
from diskret.utility.values import category_distance


@dataclass(frozen=True, eq=False)
class BothFiles:
    """Two tables of the same records in the same order. Confidential."""

    original: pa.Table
    protected: pa.Table
    weight: str | None = None  # column with the sampling weight of both, or None
    book: CodeBook = field(default_factory=CodeBook)  # of the original: codes that mean missing

    def __post_init__(self) -> None:
        n, m = self.original.num_rows, self.protected.num_rows
        if n != m:
            raise InputError(
                f"the original file has {n:,} records and the protected one {m:,}; compare files "
                "of the same records in the same order"
            )
        if not n:
            raise InputError("there is nothing to compare: no records")

    @property
    def n(self) -> int:
        """Number of records."""
        return self.original.num_rows

    def has(self, name: str) -> bool:
        """Whether both files have a column."""
        return name in self.original.column_names and name in self.protected.column_names

    def numbers(self, names: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Numeric columns before and after, ``(n, p)``; NaN where a value is missing."""
        old, new = (
            np.column_stack([numbers(column(table, name), name) for name in names])
            if names
            else np.empty((self.n, 0))
            for table in (self.original, self.protected)
        )
        return old, new

    def weights(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """The weights of each file; a protected file is weighted as its users will do it."""
        if self.weight is None:
            return None, None
        (old,), (new,) = (given.T for given in self.numbers([self.weight]))
        for values, which in ((old, "original"), (new, "protected")):
            wrong = np.flatnonzero(~(values > 0))
            if len(wrong):
                number = Count(len(wrong))
                raise InputError(
                    f"{number} {number:weight|weights} in {self.weight!r} of the {which} records "
                    f"{number:is|are} missing or not above 0 (first in row {wrong[0] + 1})"
                )
        return old, new

    def categories(self, name: str) -> tuple[Categories, tuple[Any, ...]]:
        """A categorical column with the same codes in both files, and what they stand for.

        Where the types differ (recoded to labels) texts are compared.
        """
        old, new = column(self.original, name), column(self.protected, name)
        if old.type != new.type:
            old, new = old.cast(pa.string()), new.cast(pa.string())
        both = coded(pa.chunked_array([*old.chunks, *new.chunks], type=old.type), name)
        codes = both.codes.astype(np.int64)
        found = Categories(codes[: self.n], codes[self.n :])
        return found, tuple(both.categories.to_pylist())

    def distance(self, name: str, order: Sequence[Any] | None, on_line: bool) -> float:
        """Mean distance of a categorical variable, see `category_distance`."""
        found, values = self.categories(name)
        if not on_line:
            return category_distance(found.before, found.after)
        gone = self.book.means_missing(name, pa.array(values))
        there = [value for value, one in zip(values, gone, strict=True) if not one]
        if order is None:
            known = pa.array(there)
            ranked = tuple(there[at] for at in ascending(known, name).tolist())
        else:
            ranked = tuple(order)
        if any(isinstance(value, str) for value in values):
            ranked = tuple(map(str, ranked))
        unknown = [value for value in there if value not in ranked]
        if unknown:
            raise InputError(
                f"{some('value', unknown)} of {name!r} does not stand in the order that ordered= "
                "gives; name the values of both files, recoded ones, too"
            )
        at = {value: ranked.index(value) for value in there}
        place = np.array([*(at.get(value, -1) for value in values), -1])
        return category_distance(place[found.before], place[found.after], len(ranked))

    def rows(self, records: NDArray[np.int64]) -> BothFiles:
        """Some of the records."""
        at = pa.array(records)
        return BothFiles(self.original.take(at), self.protected.take(at), self.weight, self.book)

    def columns_of(
        self, names: Iterable[str]
    ) -> tuple[tuple[tuple[str, ...], NDArray[np.float64]], ...]:
        """Predictors of a regression for each file: terms, and a column of numbers for each.

        A column of numbers is one term; a categorical one gives a term for each category that
        occurs in the file, but for the first one of both files.
        """
        terms: list[list[str]] = [[], []]
        made: list[list[NDArray[np.float64]]] = [[], []]
        for name in names:
            if all(_is_number(column(table, name)) for table in (self.original, self.protected)):
                for file, values in enumerate(self.numbers([name])):
                    terms[file].append(name)
                    made[file].append(values[:, 0])
                continue
            found, categories = self.categories(name)
            for file, codes in enumerate((found.before, found.after)):
                for code in range(1, len(categories)):
                    if (codes == code).any():
                        terms[file].append(f"{name}={categories[code]}")
                        made[file].append(np.where(codes < 0, np.nan, codes == code))
        return tuple(
            (
                tuple(terms[file]),
                np.column_stack(made[file]) if made[file] else np.empty((self.n, 0)),
            )
            for file in (0, 1)
        )


# ── records as they are handed over ──────────────────────────────────────────────────


class HasRoles(Protocol):
    """Which columns of records are what."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Categorical variables that an attacker may know."""
        ...

    @property
    def numeric(self) -> tuple[str, ...]:
        """Numeric variables that an attacker may know."""
        ...

    @property
    def strata(self) -> tuple[str, ...]:
        """Groups that are protected apart."""
        ...

    @property
    def weight(self) -> str | None:
        """Sampling weight."""
        ...

    @property
    def orders(self) -> Orders:
        """Column → its values from the lowest to the highest."""
        ...


@runtime_checkable
class HasRecords(Protocol):
    """Records with roles: a [`Microdata`][diskret.Microdata]."""

    table: pa.Table
    kind: FrameKind

    @property
    def records(self) -> Source:
        """The records as an engine takes them."""
        ...

    @property
    def roles(self) -> HasRoles:
        """What the columns are for."""
        ...

    @property
    def history(self) -> Sequence[Any]:
        """What was done."""
        ...


def source_of(records: Any, of: Source | None = None) -> Source:
    """The records of microdata, or of any frame or file.

    `of`: other records that these were made from; what a code means in them it means here, too,
    unless these say what their codes mean.
    """
    opened = records.records if isinstance(records, HasRecords) else source(records)
    book = None if of is None else of.book
    if book is None or opened.book is not None or isinstance(records, HasRecords):
        return opened
    table = in_memory(opened)
    there = book.with_missing.intersection(table.column_names)
    without = {name: book.without_missing(name, table.column(name)) for name in there}
    return replace(opened, arrow=table, paths=(), book=book, numbers=without)


def orders_of(records: Any) -> Orders:
    """Column → its values in order, as far as they bring one along."""
    return records.roles.orders if isinstance(records, HasRecords) else declared_orders(records)


def kinds_of(opened: Source) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns of numbers, but for codes that mean missing, and all others, of records as such."""
    table = in_memory(spelled(opened, tuple(opened.numbers)))
    numeric = tuple(name for name in table.column_names if _is_number(column(table, name)))
    return numeric, tuple(name for name in table.column_names if name not in numeric)


def orders(
    ordered: str | Iterable[str] | Mapping[str, Sequence[Any]],
    categorical: Sequence[str],
    declared: Orders,
) -> dict[str, Sequence[Any] | None]:
    """Ordered variable → its values in order, or None for the order of numbers and dates."""
    named = (ordered,) if isinstance(ordered, str) else tuple(ordered)
    unknown = [name for name in named if name not in categorical]
    if unknown:
        raise InputError(
            f"ordered= names {some('column', unknown)}, which is not compared as categorical; "
            f"those are {', '.join(map(repr, categorical)) or 'none'}"
        )
    given: Mapping[str, Sequence[Any]] = ordered if isinstance(ordered, Mapping) else declared
    return {name: given.get(name) for name in named}


def _is_number(values: pa.ChunkedArray) -> bool:
    return is_number(values.type) or pa.types.is_decimal(values.type)
