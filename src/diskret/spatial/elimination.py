"""Factors that others determine are put in terms of those, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: A row that was put in terms of others: it is the sum of these, so many times each.
_Replaced = tuple[int, list[tuple[int, float]]]


@dataclass(frozen=True, eq=False)
class Rows:
    """Combinations of rows that have nothing in some columns.

    Parameters
    ----------
    told
        Shape (rows left, columns), whole numbers: all of them are combinations of these.
    row
        Shape (rows left,): which row each was.
    """

    told: sparse.csr_array
    row: NDArray[np.int64]
    _number: int
    _scale: NDArray[np.float64]
    _replaced: list[_Replaced]

    def factors(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shape (all rows,): factors that make the same of all rows as `own` of those left."""
        factor = np.zeros(self._number)
        factor[self.row] = own * self._scale
        for row, others in reversed(self._replaced):
            factor[row] = sum(times * factor[other] for other, times in others)
        return factor


def without(cells: sparse.csr_array, heavy: NDArray[np.bool_]) -> Rows:
    """Combinations of rows of whole numbers that have nothing in heavy columns.

    A heavy column in which something stands says what the factor of one row is by those of the
    others. That of the shortest row is put so, and the row is added to the others as often.
    """
    bounds = cells.indptr.tolist()
    columns, much = cells.indices.tolist(), cells.data.tolist()
    rows: list[dict[int, int | Fraction]] = [
        dict(zip(columns[begin:end], much[begin:end], strict=True))
        for begin, end in zip(bounds[:-1], bounds[1:], strict=True)
    ]
    holds = {column: set[int]() for column in np.flatnonzero(heavy).tolist()}
    for at, row in enumerate(rows):
        for column in row.keys() & holds.keys():
            holds[column].add(at)
    length = {column: min(len(rows[at]) for at in own) for column, own in holds.items() if own}
    replaced, gone = list[_Replaced](), set[int]()
    for column in sorted(length, key=lambda one: (length[one], one)):
        own = holds.pop(column)
        if not own:
            continue
        pivot = min(own, key=lambda at: (len(rows[at]), at))
        source = rows[pivot]
        others = list[tuple[int, float]]()
        for at in sorted(own - {pivot}):
            times = -Fraction(rows[at][column]) / source[column]
            _add(rows[at], source, times.numerator if times.denominator == 1 else times, at, holds)
            others.append((at, float(times)))
        for one in source.keys() & holds.keys():
            holds[one].discard(pivot)
        replaced.append((pivot, others))
        gone.add(pivot)
    left = [at for at in range(len(rows)) if at not in gone and rows[at]]
    scale = [lcm(*(Fraction(value).denominator for value in rows[at].values())) for at in left]
    entries = [
        (i, column, int(value * scale[i]))
        for i, at in enumerate(left)
        for column, value in sorted(rows[at].items())
    ]
    at, column, value = np.array(entries, np.int64).reshape(-1, 3).T
    told = sparse.csr_array((value, (at, column)), shape=(len(left), cells.shape[1]))
    return Rows(told, np.array(left, np.int64), len(rows), np.array(scale, float), replaced)


def _add(
    row: dict[int, int | Fraction],
    source: dict[int, int | Fraction],
    times: int | Fraction,
    at: int,
    holds: dict[int, set[int]],
) -> None:
    """Add a row so often, and keep the rows that hold something in heavy columns."""
    for column, value in source.items():
        total = row.get(column, 0) + times * value
        if total:
            row[column] = total
            if column in holds:
                holds[column].add(at)
        elif row.pop(column, None) is not None and column in holds:
            holds[column].discard(at)
