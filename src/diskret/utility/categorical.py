"""What was lost in categorical variables of microdata: values, and tables of them."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, fsum
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import coded
from diskret.io.columns import column
from diskret.parameters import Whole, reading
from diskret.texts import number, words_in
from diskret.utility.deviations import hellinger

#: Up to so many possible cells for each record all are counted, beyond only those that occur.
_DENSE = 8
_LARGEST = 2**62
#: More tables than this are a mistake.
_MOST_TABLES = 5_000


@dataclass(frozen=True)
class TableLoss:
    """How far a contingency table of the changed records is from that of the original ones.

    Parameters
    ----------
    variables
        Of the table; a missing value is a category of its own.
    cells
        Cells that hold a record before or after.
    distance
        Σ|x' − x| over all cells.
    moved
        distance / 2n: the least share of records that are in another cell.
    hellinger
        Hellinger distance of shares, from 0 to 1.
    """

    variables: tuple[str, ...]
    cells: int
    distance: int
    moved: float
    hellinger: float


@dataclass(frozen=True)
class RecordComparison:
    """What two files of the same records have in common. Confidential.

    Parameters
    ----------
    records
        Their number n.
    variables
        Compared ones.
    changed
        Values of each variable that are another value now, or were missing before.
    suppressed
        Values of each variable that are missing now.
    size
        Largest number of variables in a table.
    tables
        Every table of one to `size` variables, fewest first.
    """

    records: int
    variables: tuple[str, ...]
    changed: tuple[int, ...]
    suppressed: tuple[int, ...]
    size: int
    tables: tuple[TableLoss, ...]

    def __repr__(self) -> str:
        return (
            f"RecordComparison({self.records:,} records; {sum(self.changed):,} values changed, "
            f"{sum(self.suppressed):,} suppressed; tables of up to {self.size}: "
            f"distance {self.distance:,})"
        )

    @property
    def distance(self) -> int:
        """CTBIL: the sum of Σ|x' − x| over all tables."""
        return sum(table.distance for table in self.tables)

    @property
    def values(self) -> pa.Table:
        """One row for each variable: ``variable``, ``changed``, ``suppressed``."""
        return pa.table(
            {
                "variable": pa.array(self.variables, pa.string()),
                "changed": pa.array(self.changed, pa.int64()),
                "suppressed": pa.array(self.suppressed, pa.int64()),
            }
        )

    @property
    def losses(self) -> pa.Table:
        """One row for each table: ``variables`` and the figures of `TableLoss`."""
        names = [" x ".join(table.variables) for table in self.tables]
        made = {"variables": pa.array(names, pa.string())}
        for figure in ("cells", "distance", "moved", "hellinger"):
            made[figure] = pa.array([getattr(table, figure) for table in self.tables])
        return pa.table(made)

    def lines(self, language: str = "en") -> list[str]:
        """The figures in sentences; `language` is ``"en"`` or ``"de"``."""
        words = words_in(language, "utility")

        def written(value: float, decimals: int = 0) -> str:
            return number(value, language, decimals)

        said = [words.said("records", records=written(self.records))]
        for name, changed, hidden in zip(
            self.variables, self.changed, self.suppressed, strict=True
        ):
            said.append(
                words.said(
                    "changed values" if changed or hidden else "unchanged values",
                    variable=name,
                    changed=written(changed),
                    changed_share=written(100 * changed / self.records, 1),
                    suppressed=written(hidden),
                    suppressed_share=written(100 * hidden / self.records, 1),
                )
            )
        worst = max(self.tables, key=lambda table: table.moved)
        several = len(self.tables)
        said.append(
            words.said(
                "moved",
                size=self.size,
                tables=written(several),
                distance=written(self.distance),
                moved=written(100 * fsum(table.moved for table in self.tables) / several, 2),
                largest=written(100 * worst.moved, 2),
                worst=" x ".join(worst.variables),
                hellinger=written(fsum(table.hellinger for table in self.tables) / several, 4),
            )
        )
        return said


@reading
def compare_records(
    original: pa.Table,
    changed: pa.Table,
    variables: Sequence[str],
    size: Annotated[int, Whole(1)] = 2,
) -> RecordComparison:
    """Compare categorical variables of the same records before and after protection.

    Parameters
    ----------
    original, changed
        The same records in the same order.
    variables
        Categorical columns of both. Where their types differ (recoded to labels) the texts of
        their values are compared.
    size
        Tables of up to so many variables are compared.

    Raises
    ------
    InputError
        The numbers of records differ, a column is missing or holds numbers with decimals, or
        there would be more than 5,000 tables.

    Notes
    -----
    The sum of Σ|x' − x| over all tables of up to K variables is the contingency-table-based
    information loss (CTBIL) of Domingo-Ferrer and Torra (2001), "Disclosure control methods and
    information loss for microdata", in *Confidentiality, Disclosure, and Data Access*.

    Examples
    --------
    >>> before = pa.table({"job": ["a", "a", "b"], "sex": ["f", "m", "m"]})
    >>> after = pa.table({"job": ["a", "b", None], "sex": ["f", "m", "m"]})
    >>> found = compare_records(before, after, ["job", "sex"])
    >>> found
    RecordComparison(3 records; 1 values changed, 1 suppressed; tables of up to 2: distance 4)
    >>> found.losses.column("distance").to_pylist()
    [2, 0, 2]
    """
    names = tuple(variables)
    n = original.num_rows
    if changed.num_rows != n:
        raise InputError(
            f"the original file has {n:,} records and the changed one {changed.num_rows:,}; "
            "compare files of the same records in the same order"
        )
    if not n or not names:
        raise InputError("there is nothing to compare: no records or no variables")
    size = min(size, len(names))
    many = sum(comb(len(names), k) for k in range(1, size + 1))
    if many > _MOST_TABLES:
        raise InputError(
            f"{len(names)} variables make {many:,} tables of up to {size} variables; compare fewer "
            f"variables or a smaller size= (up to {_MOST_TABLES:,} tables)"
        )
    codes = {name: _codes(original, changed, name) for name in names}
    return RecordComparison(
        n,
        names,
        tuple(_count(pair, lambda old, new: (old != new) & (new > 0)) for pair in codes.values()),
        tuple(_count(pair, lambda old, new: (old > 0) & (new == 0)) for pair in codes.values()),
        size,
        tuple(
            _loss(chosen, [codes[name] for name in chosen], n)
            for width in range(1, size + 1)
            for chosen in combinations(names, width)
        ),
    )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Codes of one variable before and after, from 1, 0 where missing, and one more than all."""

    old: NDArray[np.int64]
    new: NDArray[np.int64]
    width: int


def _codes(original: pa.Table, changed: pa.Table, name: str) -> _Pair:
    old, new = column(original, name), column(changed, name)
    if old.type != new.type:
        old, new = old.cast(pa.string()), new.cast(pa.string())
    both = coded(pa.chunked_array([*old.chunks, *new.chunks], type=old.type), name)
    at = both.codes.astype(np.int64) + 1
    return _Pair(at[: len(old)], at[len(old) :], len(both.categories) + 1)


def _count(
    pair: _Pair, which: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
) -> int:
    return int(np.count_nonzero(which(pair.old, pair.new)))


def _loss(names: tuple[str, ...], pairs: Sequence[_Pair], n: int) -> TableLoss:
    old, new, span = pairs[0].old, pairs[0].new, pairs[0].width
    for pair in pairs[1:]:
        if span * pair.width > _LARGEST:
            old, new, span = _numbered(old, new)
        old, new = old * pair.width + pair.old, new * pair.width + pair.new
        span *= pair.width
    if span > _DENSE * n + 2**16:
        old, new, span = _numbered(old, new)
    before, after = np.bincount(old, minlength=span), np.bincount(new, minlength=span)
    held = (before > 0) | (after > 0)
    before, after = before[held].astype(np.int64), after[held].astype(np.int64)
    distance = int(np.abs(after - before).sum())
    return TableLoss(
        names, len(before), distance, distance / (2 * n), hellinger(before, after).scaled
    )


def _numbered(
    old: NDArray[np.int64], new: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The same with numbers that occur only."""
    found, at = np.unique(np.concatenate([old, new]), return_inverse=True)
    return at[: len(old)].astype(np.int64), at[len(old) :].astype(np.int64), len(found)
