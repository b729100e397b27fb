"""What last period's values tell about this period's, if none changed by more than so much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.attack_equations import attack_equations, known_beforehand
from diskret.attack.examination import Examination, ends_in_units
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import code_text, column, no_numbers
from diskret.io.placed import placed
from diskret.io.record_errors import RecordError
from diskret.tables import Dimension, Publication, Published, together
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.attack.attacker import Attacker

_Side = Literal["lower", "upper"]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of last period's cells, a row each.

    codes: name of each variable → its codes.
    code: name of each variable → position of the row's code among these, ``(rows,)``.
    low, high: the value lies between them, in published units, ``(rows,)``, float64; infinite where
        nothing bounds it.
    """

    codes: Mapping[str, Sequence[str]]
    code: Mapping[str, NDArray[np.int64]]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def of(self, names: Sequence[str]) -> Known:
        """The same, if these are the variables."""
        if sorted(names) != sorted(self.codes):
            raise InputError(
                f"last period's values are broken down by {', '.join(self.codes)}, the table by "
                f"{', '.join(names)}; give a table with the same variables"
            )
        return self

    def at(self, dimensions: Sequence[Dimension]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Flat position of each row among these variables, and which rows are among them."""
        positions: list[NDArray[np.int64]] = []
        for dimension in dimensions:
            known = dimension.hierarchy.position
            new = np.array([known.get(c, -1) for c in self.codes[dimension.name]], dtype=np.int64)
            positions.append(new[self.code[dimension.name]])
        both = np.all([position >= 0 for position in positions], axis=0)
        shape = tuple(len(dimension) for dimension in dimensions)
        found = np.ravel_multi_index(tuple(np.where(both, p, 0) for p in positions), shape)
        return np.asarray(found, dtype=np.int64), both


@dataclass(frozen=True, eq=False)
class Rows:
    """Last period's values in a frame; which columns are codes is known with the table.

    frame: the columns of codes and others.
    value: last period's values, NaN where there is none, ``(rows,)``.
    """

    frame: pa.Table
    value: NDArray[np.float64]

    def of(self, names: Sequence[str]) -> Known:
        """What is known of the cells of these variables; rows without a value say nothing."""
        codes: dict[str, Sequence[str]] = {}
        code: dict[str, NDArray[np.int64]] = {}
        for name in names:
            encoded = code_text(column(self.frame, name), name).combine_chunks()
            encoded = encoded.dictionary_encode()
            codes[name] = encoded.dictionary.to_pylist()
            code[name] = encoded.indices.to_numpy().astype(np.int64)
        doubled = len(self.value) - np.unique(np.array(list(code.values())), axis=1).shape[1]
        if doubled:
            number = Count(doubled)
            raise InputError(
                f"{number} {number:row|rows} of last period's values {number:names|name} a cell "
                f"of {', '.join(names)} that another row names; keep one row for each cell"
            )
        nothing = np.isnan(self.value)
        low = np.where(nothing, -np.inf, self.value)
        return Known(codes, code, low, np.where(nothing, np.inf, self.value))


@dataclass(frozen=True, eq=False)
class Within:
    """A bound for every cell that last period had: so many percent off what was known then.

    percent: by how much a value may have changed.
    """

    known: Known | Rows
    percent: float
    side: _Side

    def __repr__(self) -> str:
        return f"Within({self.percent:g} % of last period, {self.side})"

    def __call__(self, published: Published) -> NDArray[np.float64]:
        """The bounds in published units, shape of the table; NaN where nothing is known."""
        known = self.known.of([dimension.name for dimension in published.dimensions])
        at, both = known.at(published.dimensions)
        if not both.any():
            raise InputError(
                f"last period's values name no cell of table {published.name!r}: no row has codes "
                "that it has, so nothing would be known of it; give a table with the same codes"
            )
        bound = np.full(published.value.size, np.nan)
        bound[at[both]] = self._bound(known)[both]
        return bound.reshape(published.shape)

    def _bound(self, known: Known) -> NDArray[np.float64]:
        low, high, share = known.low, known.high, self.percent / 100
        sign = -1 if self.side == "lower" else 1

        def moved(value: NDArray[np.float64]) -> NDArray[np.float64]:
            factor = 1 + sign * share * np.sign(value)
            return np.where(factor == 0, 0.0, value) * factor

        # beyond 100 percent the smaller of two values may rise less, but fall farther
        farthest = np.minimum if self.side == "lower" else np.maximum
        bound = farthest(moved(low), moved(high))
        # no percentage of nothing says how much there is now
        return np.where(np.isinf(bound) | ((low == 0) & (high == 0)), np.nan, bound)


def bounds_around(
    previous: Any, percent: float, value: str | None, outsider: Attacker
) -> tuple[Any, Any]:
    """Lower and upper bounds for an attacker who knows last period's values.

    See [`Attacker.around`][diskret.Attacker.around]; `outsider` could compute what was hidden then.
    """
    if isinstance(previous, Publication):
        found = _attacked(previous, outsider).of_tables(previous)
        known = {t.name: _of_published(t, f) for t, f in zip(previous.own, found, strict=False)}
    elif isinstance(previous, Mapping):
        known = {str(name): _known(one, value, outsider) for name, one in previous.items()}
    else:
        one = _known(previous, value, outsider)
        return Within(one, percent, "lower"), Within(one, percent, "upper")
    if not known:
        raise InputError("previous= names no table, so nothing would be known; give last period's")
    return (
        {name: Within(one, percent, "lower") for name, one in known.items()},
        {name: Within(one, percent, "upper") for name, one in known.items()},
    )


def _known(previous: Any, value: str | None, outsider: Attacker) -> Known | Rows:
    """What is known of one table."""
    if isinstance(previous, Mapping | Publication):
        raise InputError(
            "previous= names several tables where one of last period belongs; give one for each "
            "name, or a Publication of all of them instead of the mapping"
        )
    certificate = getattr(previous, "certificate", previous)
    if isinstance(found := getattr(certificate, "outsider", None), Examination):
        return _of_published(certificate.published, found)
    if isinstance(previous, Published):
        return _of_published(previous, _attacked(together(previous), outsider))
    return _of_frame(previous, value)


def _attacked(publication: Publication, outsider: Attacker) -> Examination:
    known, bounds = known_beforehand(publication, outsider, None)
    return attack_equations(publication, known, bounds, None)


def _of_published(published: Published, outsider: Examination) -> Known:
    """Published values to half a unit of their rounding, hidden ones by what could be computed."""
    unit = 10.0**published.decimals
    low = (published.value.ravel() - published.half_unit) / unit
    high = (published.value.ravel() + published.half_unit) / unit
    lower, upper = ends_in_units(outsider.lower, outsider.upper, published.decimals)
    low[outsider.cell] = _numbers(lower, -np.inf)
    high[outsider.cell] = _numbers(upper, np.inf)
    empty = published.empty.ravel()
    low[empty], high[empty] = 0, 0
    at = np.unravel_index(np.arange(published.value.size), published.shape)
    names = [dimension.name for dimension in published.dimensions]
    return Known(
        {d.name: d.hierarchy.codes for d in published.dimensions},
        {name: np.asarray(i, dtype=np.int64) for name, i in zip(names, at, strict=True)},
        low,
        high,
    )


def _numbers(ends: pa.Array, unknown: float) -> NDArray[np.float64]:
    numbers = np.array(ends.to_pylist(), dtype=np.float64)  # None becomes NaN
    return np.where(np.isnan(numbers), unknown, numbers)


def _of_frame(previous: Any, value: str | None) -> Rows:
    with placed(previous):
        return _rows(to_arrow(previous, (value,))[0], value)


def _rows(rows: pa.Table, value: str | None) -> Rows:
    if value is None:
        raise InputError(
            "value= must name the column of last period's values, as previous is a frame; it has "
            f"the columns {', '.join(map(repr, rows.column_names))}"
        )
    return Rows(rows, _floats(column(rows, value), value))


def _floats(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    try:
        return np.array(values.cast(pa.float64()).to_pylist(), dtype=np.float64)
    except pa.ArrowInvalid:
        wrong = next(iter(no_numbers(values)), 0)
        raise RecordError(
            lambda place: (
                f"last period's values in {name!r} are not all numbers, the first in "
                f"{place.named(wrong)} is none; leave suppressed ones empty"
            )
        ) from None
