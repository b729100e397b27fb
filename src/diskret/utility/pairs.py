"""A table beside what is published instead of it, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables import Published, Table
from diskret.tables.dimension import describe
from diskret.texts.numbers import Count

_EXAMPLES = 3
_TOLERANCE = 1e-6  # of the last decimal


@dataclass(frozen=True, eq=False)
class Pair:
    """An original table and the values that are published in its place. Confidential."""

    table: Table  # the original
    #: published values in scaled units of the measure, shape of the table
    protected: NDArray[np.int64]
    shown: NDArray[np.bool_]  # cells that are published with a value, the same shape

    def __repr__(self) -> str:
        return f"Pair({self.table!r}: {int(self.shown.sum()):,} shown)"

    @property
    def original(self) -> NDArray[np.int64]:
        """Original values in scaled units, shape of the table."""
        return self.table.measure.sum

    @property
    def dimension(self) -> NDArray[np.int64]:
        """Number of variables that are not at their total, for each cell."""
        return np.add.reduce([np.minimum(self.level(axis), 1) for axis in range(self.axes)])

    @property
    def finest(self) -> NDArray[np.bool_]:
        """Cells of the finest codes of all variables."""
        leaf = np.ones(self.table.shape, dtype=bool)
        for axis, dimension in enumerate(self.table.dimensions):
            leaf &= self._along(axis, dimension.hierarchy.is_leaf)
        return leaf

    @property
    def axes(self) -> int:
        """Number of variables."""
        return len(self.table.dimensions)

    def level(self, axis: int) -> NDArray[np.int64]:
        """Distance of each cell's code of one variable from its total."""
        level = self.table.dimensions[axis].hierarchy.level.astype(np.int64)
        return np.broadcast_to(self._along(axis, level), self.table.shape)

    def _along(self, axis: int, array: NDArray[Any]) -> NDArray[Any]:
        shape = np.ones(self.axes, dtype=np.int64)
        shape[axis] = -1
        return array.reshape(shape)


def pairs_of(original: Table | Sequence[Table], protected: Any) -> tuple[Pair, ...]:
    """Tables beside what is published instead of them, as `compare` takes both."""
    if isinstance(original, Table):
        return (_pair(original, protected, ""),)
    tables = list(original)
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise InputError("compare takes a dk.Table, or a list of at least one")
    if not isinstance(protected, Sequence) or len(protected) != len(tables):
        raise InputError(
            f"a list of {len(tables)} tables is compared with a list of as many results, in the "
            "same order"
        )
    found = tuple(
        _pair(table, one, f"table {number}: ")
        for number, (table, one) in enumerate(zip(tables, protected, strict=True), start=1)
    )
    kinds = {(table.measure.name, table.measure.decimals) for table in tables}
    if len(kinds) > 1:
        names = ", ".join(
            sorted(
                f"{name!r} with {decimals} {Count(decimals):decimal|decimals}"
                for name, decimals in kinds
            )
        )
        raise InputError(
            f"the tables hold different measures ({names}), whose deviations cannot be pooled; "
            "compare them one by one"
        )
    return found


def _pair(table: Table, protected: Any, where: str) -> Pair:
    published = getattr(protected, "published", protected)
    if isinstance(published, Published):
        pair = _with_published(table, published, where)
        _check_origin(table, getattr(protected, "table", table), where)
        return pair
    return _with_array(table, protected, where)


def _with_published(table: Table, published: Published, where: str) -> Pair:
    ours, theirs = _definition(table), _definition(published)
    differing = [name for name in ours if ours[name] != theirs[name]]
    if differing:
        raise InputError(
            f"{where}{published.name!r} is not a protected version of the original table: "
            f"{', '.join(differing)} differ; compare a result with the table it was made from, "
            "a recoded one with the recoded table"
        )
    shown = ~published.suppressed
    return Pair(table, np.where(shown, published.value, 0), shown)


def _check_origin(table: Table, made_from: Table, where: str) -> None:
    """Refuse a result that was made from other values of the same cells."""
    ours, theirs = table.measure.sum, made_from.measure.sum
    differing = np.flatnonzero(ours != theirs)
    if len(differing):
        examples = "; ".join(
            f"{theirs.ravel()[at]} and not {ours.ravel()[at]} at "
            f"{describe(table.dimensions, int(at))}"
            for at in differing[:_EXAMPLES]
        )
        number = Count(len(differing))
        raise InputError(
            f"{where}the result was made from other values in {number} {number:cell|cells}, e.g. "
            f"{examples}; where it counts units and not records, compare it with its own `.table`"
        )


def _definition(one: Table | Published) -> dict[str, Any]:
    """What has to be the same for cells to be the same."""
    if isinstance(one, Published):
        measure, decimals, where = one.measure, one.decimals, one.where
    else:
        measure, decimals, where = one.measure.name, one.measure.decimals, one.where
    return {
        "variables or codes": one.dimensions,
        "measures": measure,
        "decimals": decimals,
        "vintages": one.vintage,
        "filters": where,
    }


def _with_array(table: Table, values: Any, where: str) -> Pair:
    missing = np.ma.getmaskarray(np.ma.asanyarray(values))
    array = np.ma.getdata(np.ma.asanyarray(values))
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"{where}protected= is a result, a dk.Published, or an array of numbers with the "
            f"table's shape {table.shape}, not {type(values).__name__!r}"
        )
    if array.shape != table.shape:
        raise InputError(
            f"{where}the published values have the shape {array.shape}, the table has "
            f"{table.shape}: one value for each combination of codes, totals included"
        )
    decimals = table.measure.decimals
    if array.dtype.kind == "f":
        missing = missing | np.isnan(array)
    scaled = np.where(missing, 0, array) * 10**decimals
    whole = np.rint(scaled)
    wrong = np.flatnonzero(np.abs(scaled - whole) > _TOLERANCE)
    if len(wrong):
        examples = "; ".join(
            f"{array.ravel()[at]} at {describe(table.dimensions, int(at))}"
            for at in wrong[:_EXAMPLES]
        )
        number = Count(len(wrong))
        raise InputError(
            f"{where}{number} published {number:value has|values have} more than the {decimals} "
            f"decimals of {table.measure.name!r}, e.g. {examples}; round them as they are "
            "published"
        )
    return Pair(table, whole.astype(np.int64), ~missing)
