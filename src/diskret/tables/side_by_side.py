"""Several published tables of the same cells as one: a column and a status for each."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.tables.cells import STATUS, check_names, codes_columns, status_codes
from diskret.tables.derived import Derived, same_dimensions
from diskret.tables.difference import Difference
from diskret.tables.public_files import check_file_name, decimal_text
from diskret.tables.published import Published


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Published tables and derived figures with the same dimensions, in one file.

    parts: what stands side by side, each under its own name and followed by its status,
        ``<name>_status``.
    """

    name: str
    parts: tuple[Published | Derived, ...]

    def __post_init__(self) -> None:
        check_file_name(self.name)
        if not self.parts:
            raise InputError(f"{self.name!r} has no tables to show side by side")
        first = self.parts[0]
        for part in self.parts:
            if isinstance(part, Derived) and part.periods:
                raise InputError(
                    f"{self.name!r}: the index {part.name!r} has a row for each period, so it "
                    "cannot stand beside tables; it has a file of its own"
                )
            if not same_dimensions(_about(first), _about(part)):
                raise InputError(
                    f"{self.name!r}: {first.name!r} and {part.name!r} do not have the same "
                    "dimensions and codes; name the tables that do, e.g. "
                    f"combined={{{self.name!r}: [{first.name!r}, ...]}}"
                )
        names = [d.name for d in first.dimensions]
        check_names([*names, *(c for part in self.parts for c in (part.name, _status(part)))])

    def __repr__(self) -> str:
        return f"SideBySide({self.name!r}: {', '.join(part.name for part in self.parts)})"


def derived_text(derived: Derived) -> pa.Table:
    """The columns of the public CSV of a derived figure as text, empty where it has none."""
    columns = {derived.name: _text(derived), "status": derived.status}
    return pa.table({**derived.codes, **columns})


def side_by_side_text(combined: SideBySide) -> pa.Table:
    """The columns of the public CSV of several tables as text, empty where suppressed.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> none = np.zeros(2, dtype=bool)
    >>> region = (Dimension("region", Hierarchy.flat(["N"])),)
    >>> firms = Published("firms", region, "count", True, 0, np.array([5, 5]), none, none)
    >>> side_by_side_text(SideBySide("all", (firms,))).to_pylist()[0]
    {'region': 'Total', 'firms': '5', 'firms_status': 'published'}
    """
    columns = codes_columns(combined.parts[0].dimensions)
    for part in combined.parts:
        columns |= {part.name: _text(part), _status(part): _shown(part)}
    return pa.table(columns)


def columns_text(shown: Derived | SideBySide | Difference) -> pa.Table:
    """The columns of the public CSV of anything that is made of published tables, as text."""
    if isinstance(shown, Difference):
        return shown.text
    return derived_text(shown) if isinstance(shown, Derived) else side_by_side_text(shown)


def exact_columns(text: pa.Table, decimals: dict[str, int]) -> pa.Table:
    """The same with some columns as integers, or exact decimals; null where empty."""
    for name, places in decimals.items():
        kind = pa.int64() if places == 0 else pa.decimal128(38, places)
        value = pc.if_else(pc.equal(text[name], ""), None, text[name]).cast(kind)
        text = text.set_column(text.column_names.index(name), name, value)
    return text


def decimals_of(shown: Derived | SideBySide | Difference) -> dict[str, int]:
    """Column of figures → its decimals."""
    if isinstance(shown, Difference):
        return shown.decimals
    parts = (shown,) if isinstance(shown, Derived) else shown.parts
    return {part.name: part.decimals for part in parts}


def _about(part: Published | Derived) -> Published:
    return part if isinstance(part, Published) else part.inputs[0]


def _status(part: Published | Derived) -> str:
    return f"{part.name}_status"


def _shown(part: Published | Derived) -> pa.StringArray:
    return pa.array(STATUS).take(pa.array(status_codes(part)))


def _text(part: Published | Derived) -> pa.StringArray:
    """Exact decimals; empty text where suppressed, and where a figure is not meaningful."""
    without = part.suppressed | part.empty if isinstance(part, Derived) else part.suppressed
    scaled = np.where(part.suppressed | part.empty, 0, part.value).ravel()
    return pc.if_else(pa.array(without.ravel()), "", decimal_text(scaled, part.decimals))
