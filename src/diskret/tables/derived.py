"""Figures made of published ones: means, shares, growth rates, indices.

A derived figure is a function of `Published` tables alone, so it tells nobody more than they
do: where one of its inputs is suppressed, so is the figure.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import FrameKind, from_arrow
from diskret.tables.cells import (
    STATUS,
    check_names,
    codes_columns,
    in_published_units,
    status_codes,
)
from diskret.tables.dimension import Dimension
from diskret.tables.public_files import check_file_name
from diskret.tables.published import Published
from diskret.texts.numbers import Count

#: What can be derived.
KINDS = ("mean", "share", "growth", "index")
#: The column of an index that says which period a row is about.
PERIOD = "period"
#: Most decimals of a derived figure.
MOST_DECIMALS = 12

_PERCENT = 100
_LIMIT = 2**63


@dataclass(frozen=True, eq=False)
class Derived:
    """A figure for each cell, computed from published values. Holds nothing confidential.

    Made by [`diskret.derive`][diskret.protect.derive]. With published values *x* and *y*:
    the mean is x / y, the share 100 · x / y, the growth rate 100 · (x / y - 1), the index
    100 · x / y; y is the count, the total or other measure, the earlier period, the base
    period. Computed exactly and rounded once, half a unit upwards.

    Parameters
    ----------
    name
        Of the column and of the files.
    kind
        ``"mean"``, ``"share"``, ``"growth"`` or ``"index"``.
    inputs
        The published tables it is made of: sum and count; part (and whole); now and before;
        the periods of an index.
    of
        Dimensions whose total is the whole of a share; empty if the whole is another table.
    base
        The vintage that is 100 in an index.
    decimals
        0 to 12.
    frame_kind
        The kind of frame the user brought.

    Raises
    ------
    InputError
        The inputs do not fit each other, or a name or number is not admissible.
    """

    name: str
    kind: str
    inputs: tuple[Published, ...]
    of: tuple[str, ...] = ()
    base: str = ""
    decimals: int = 1
    frame_kind: FrameKind = "pyarrow"

    def __post_init__(self) -> None:
        _check(self)

    def __repr__(self) -> str:
        made_of = ", ".join(table.name for table in self.inputs)
        hidden = int(self.suppressed.sum())
        return f"Derived({self.name!r}: {self.kind} of {made_of}; {hidden:,} suppressed)"

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The dimensions of the tables it is made of."""
        return self.inputs[0].dimensions

    @property
    def periods(self) -> tuple[str, ...]:
        """The vintages of an index, its first axis; empty for all other kinds."""
        return tuple(table.vintage for table in self.inputs) if self.kind == "index" else ()

    @cached_property
    def suppressed(self) -> NDArray[np.bool_]:
        """Whether one of its inputs is suppressed, bool, for each period and cell."""
        return self._stacked([top.hidden | bottom.hidden for top, bottom in self._pairs])

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Where it is not meaningful: a division by zero or by a negative value. Bool."""
        divided_by = self._stacked([bottom.value for _, bottom in self._pairs])
        return (divided_by <= 0) & ~self.suppressed

    @cached_property
    def value(self) -> NDArray[np.int64]:
        """Integers in units of 10**-decimals, for each period and cell; 0 where none."""
        value = self._stacked([self._divided(top, bottom) for top, bottom in self._pairs])
        if self.kind == "growth":
            value = value - _PERCENT * 10**self.decimals
        return np.where(self.suppressed | self.empty, 0, value)

    @property
    def columns(self) -> pa.Table:
        """`frame` as an Arrow table."""
        without = (self.suppressed | self.empty).ravel()
        figures = in_published_units(self.value.ravel(), self.decimals)
        return pa.table(
            {
                **self.codes,
                self.name: pa.array(figures, mask=without),
                "status": self.status,
            }
        )

    @property
    def frame(self) -> Any:
        """Codes, the figure (null if there is none) and status, in the user's kind of frame.

        `status` is published | suppressed | empty (not meaningful); an index has a first
        column ``period``. One row for each combination of codes.
        """
        return from_arrow(self.columns, self.frame_kind)

    @property
    def codes(self) -> dict[str, pa.StringArray]:
        """The code columns, for an index after the column ``period``."""
        codes = codes_columns(self.dimensions)
        if not self.periods:
            return codes
        cells = self.inputs[0].value.size
        at = pa.array(np.repeat(np.arange(len(self.periods)), cells))
        again = {
            name: pa.concat_arrays([column] * len(self.periods)) for name, column in codes.items()
        }
        return {PERIOD: pa.array(self.periods, pa.string()).take(at), **again}

    @property
    def status(self) -> pa.StringArray:
        """Published | suppressed | empty for each row."""
        return pa.array(STATUS).take(pa.array(status_codes(self)))

    def _stacked(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        """One array for all periods; the only one if there are none."""
        return np.stack(parts) if self.periods else parts[0]

    def _divided(self, top: _Term, bottom: _Term) -> NDArray[np.int64]:
        shift = bottom.decimals - top.decimals
        percent = 1 if self.kind == "mean" else _PERCENT
        times, per = percent * 10 ** (self.decimals + max(shift, 0)), 10 ** max(-shift, 0)
        return _quotient(top.value, bottom.value, times, per, self.name)

    @property
    def _pairs(self) -> list[tuple[_Term, _Term]]:
        """What is divided by what."""
        parts = [_Term(t.value, t.suppressed, t.decimals) for t in self.inputs]
        if self.kind == "index":
            base = parts[self.periods.index(self.base)]
            return [(part, base) for part in parts]
        if self.of:
            return [(parts[0], _total(self.inputs[0], self.of))]
        return [(parts[0], parts[1])]


@dataclass(frozen=True, eq=False)
class _Term:
    """Scaled values, where they are hidden, and their decimals."""

    value: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    decimals: int


def _total(table: Published, of: tuple[str, ...]) -> _Term:
    """The total along some dimensions, in the place of every cell that it is the total of."""
    at = tuple(slice(0, 1) if d.name in of else slice(None) for d in table.dimensions)
    value = np.broadcast_to(table.value[at], table.shape)
    hidden = np.broadcast_to(table.suppressed[at], table.shape)
    return _Term(value, hidden, table.decimals)


def _quotient(
    top: NDArray[np.int64], bottom: NDArray[np.int64], times: int, per: int, name: str
) -> NDArray[np.int64]:
    """``top · times / (bottom · per)`` rounded half up, 0 where `bottom` is not positive."""

    # floor(x + 1/2), for integers of any kind
    def rounded(up: NDArray[Any], down: NDArray[Any]) -> NDArray[Any]:
        return (2 * up + down) // (2 * down)

    found = np.zeros(top.shape, dtype=np.int64)
    most_up, most_down = _LIMIT // 4 // times, _LIMIT // 4 // per
    small = (top >= -most_up) & (top <= most_up) & (bottom <= most_down)
    fits, rest = (bottom > 0) & small, (bottom > 0) & ~small
    if fits.any():
        found[fits] = rounded(top[fits] * times, bottom[fits] * per)
    if rest.any():  # more than 64 bits on the way: Python's own integers
        exact = rounded(top[rest].astype(object) * times, bottom[rest].astype(object) * per)
        beyond = int((np.abs(exact) >= _LIMIT // 2).sum())
        if beyond:
            number = Count(beyond)
            raise InputError(
                f"{number} {number:value|values} of {name!r} {number:has|have} more digits than "
                "can be held; use fewer decimals="
            )
        found[rest] = exact.astype(np.int64)
    return found


# ── what fits together ──────────────────────────────────────────────────────────────


def _check(derived: Derived) -> None:
    name, inputs = derived.name, derived.inputs
    check_file_name(name)
    if derived.kind not in KINDS:
        raise InputError(
            f"{derived.kind!r} is no derived figure; made of published sums and counts are "
            f"{', '.join(KINDS)}"
        )
    wanted = {"mean": (2, 2), "share": (1, 2), "growth": (2, 2), "index": (2, len(inputs))}
    least, most = wanted[derived.kind]
    if not least <= len(inputs) <= most:
        number = f"{least}" if least == most else f"at least {least}"
        raise InputError(f"{name!r}: a {derived.kind} is made of {number} tables")
    if not 0 <= derived.decimals <= MOST_DECIMALS:
        raise InputError(
            f"{name!r}: decimals= must be 0 to {MOST_DECIMALS}, not {derived.decimals}"
        )
    _check_cells(derived)
    if derived.kind == "share":
        _check_share(derived)
    elif derived.kind == "mean":
        _check_vintage(derived)
    else:
        _check_periods(derived)
    first = [PERIOD] if derived.periods else []
    check_names([*first, *(d.name for d in derived.dimensions), name, "status"])


def _check_cells(derived: Derived) -> None:
    """All inputs must be about the same cells."""
    first = derived.inputs[0]
    for other in derived.inputs[1:]:
        both = " and ".join(repr(one.name) for one in (first, other))
        if not same_dimensions(first, other):
            raise InputError(
                f"{derived.name!r}: {both} do not have the same dimensions and codes, so there is "
                "no figure for each cell; tabulate both by= the same hierarchies"
            )
        if not _same_population(derived, first, other):
            raise InputError(
                f"{derived.name!r}: {both} are about different populations; tabulate both with "
                "the same where= (but for the column of the period, where periods are compared)"
            )


def _same_population(derived: Derived, one: Published, other: Published) -> bool:
    """The same filter; where periods are compared, one column may say which."""
    differing = {*one.where} ^ {*other.where}
    if derived.kind in ("mean", "share"):
        return not differing
    same_columns = {name for name, _ in one.where} == {name for name, _ in other.where}
    return same_columns and len({name for name, _ in differing}) <= 1


def _check_share(derived: Derived) -> None:
    names = [d.name for d in derived.dimensions]
    if len(derived.inputs) == 2:
        if derived.of:
            raise InputError(
                f"{derived.name!r}: a share is of a total along dimensions, or of another "
                "table, not of both"
            )
        _check_vintage(derived)
        return
    unknown = [name for name in derived.of if name not in names]
    if unknown or not derived.of:
        what = f"{unknown[0]!r} is no dimension" if unknown else "of= names no dimension"
        raise InputError(
            f"{derived.name!r}: {what} of {derived.inputs[0].name!r}; the total of a share must "
            f"be published: choose from {', '.join(names)}, or another table"
        )


def _check_vintage(derived: Derived) -> None:
    first, second = derived.inputs
    if first.vintage != second.vintage:
        one, other = (repr(t.vintage) if t.vintage else "no vintage" for t in derived.inputs)
        raise InputError(
            f"{derived.name!r}: {first.name!r} is of {one}, {second.name!r} of {other}; use tables "
            "of the same vintage, or growth() for a comparison of periods"
        )


def _check_periods(derived: Derived) -> None:
    measures = sorted({table.measure for table in derived.inputs})
    if len(measures) > 1:
        raise InputError(
            f"{derived.name!r}: a {derived.kind} compares one measure over time, not "
            f"{', '.join(map(repr, measures))}"
        )
    vintages = [table.vintage for table in derived.inputs]
    if "" in vintages or len(set(vintages)) < len(vintages):
        shown = ", ".join(repr(vintage) for vintage in vintages)
        raise InputError(
            f"{derived.name!r}: the periods of a {derived.kind} must have different names, but "
            f"they are {shown}; give each table its own vintage="
        )
    if derived.kind == "index" and derived.base not in vintages:
        raise InputError(
            f"{derived.name!r}: the base {derived.base!r} is none of the periods "
            f"{', '.join(map(repr, vintages))}; the base must be published too"
        )


def same_dimensions(one: Published, other: Published) -> bool:
    """Whether two tables have the same variables with the same codes and code trees."""
    return len(one.dimensions) == len(other.dimensions) and all(
        a.name == b.name
        and a.hierarchy.codes == b.hierarchy.codes
        and np.array_equal(a.hierarchy.parent, b.hierarchy.parent)
        for a, b in zip(one.dimensions, other.dimensions, strict=True)
    )
