"""What a table shows otherwise than the last delivery did, from the two published tables alone."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables.cells import STATUS, check_names, codes_columns, status_codes
from diskret.tables.public_files import check_file_name, decimal_text
from diskret.tables.published import Published

#: What a difference says of a cell that one of the two tables does not have.
ABSENT = "absent"
#: Columns of values in a difference, each followed by its status.
SIDES = ("previous", "now")
#: What can become of a cell, in the order in which it is counted.
COUNTED = ("value", "suppressed", "published", "added", "removed")

_PUBLISHED, _SUPPRESSED, _ABSENT = 0, 1, len(STATUS)


@dataclass(frozen=True, eq=False)
class Difference:
    """The cells that a table shows otherwise than the last delivery. Holds nothing confidential.

    Cells are matched by their codes, whatever their order. A row stands for each cell whose value
    or status is another one, then for each that is no longer there; published intervals are not
    compared. Two pairs of tables with the same public files have the same difference.

    name: of the files.
    now, previous: the two tables, with the same variables and measure; not the same cells, that
        is of another vintage, or populations that have no record in common.
    """

    name: str
    now: Published
    previous: Published

    def __post_init__(self) -> None:
        check_file_name(self.name)
        check_comparable(self.now, self.previous)
        check_names(difference_columns(self.now))

    def __repr__(self) -> str:
        return f"Difference({self.name!r}: {self.text.num_rows:,} cells)"

    @property
    def decimals(self) -> dict[str, int]:
        """Column of values → its decimals."""
        return {"previous": self.previous.decimals, "now": self.now.decimals}

    @cached_property
    def text(self) -> pa.Table:
        """The columns of the public CSV as text; no value where suppressed, or not there."""
        now, before = self.now, transposed(self.previous, self.now)
        at = matched(now, before)
        here, there = status_codes(now), status_codes(before)
        then = np.where(at < 0, _ABSENT, there[at])
        value, earlier = now.value.ravel(), before.value.ravel()[at]
        other = ~_equal(value, now.decimals, earlier, before.decimals)
        rows = np.flatnonzero((here != then) | ((here == _PUBLISHED) & other))
        gone = np.flatnonzero(matched(before, now) < 0)
        nowhere = np.full(len(gone), _ABSENT)
        codes = pa.concat_tables(
            pa.table(codes_columns(table.dimensions)).take(pa.array(which))
            for table, which in ((now, rows), (before, gone))
        )
        nothing = np.zeros(len(gone), dtype=np.int64)
        old = np.concatenate([earlier[rows], before.value.ravel()[gone]])
        old_status = np.concatenate([then[rows], there[gone]])
        new = np.concatenate([value[rows], nothing])
        new_status = np.concatenate([here[rows], nowhere])
        shown = {
            "previous": _shown(old, old_status, before.decimals),
            "previous_status": _words(old_status),
            "now": _shown(new, new_status, now.decimals),
            "now_status": _words(new_status),
        }
        return pa.table(
            {**{name: codes[name].combine_chunks() for name in codes.column_names}, **shown}
        )

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many cells have become what, see `counted`."""
        return counted(self.text)


def difference_columns(table: Published) -> list[str]:
    """The columns of the file of a difference of this table."""
    sides = [column for side in SIDES for column in (side, f"{side}_status")]
    return [*(d.name for d in table.dimensions), *sides]


def counted(difference: pa.Table) -> dict[str, int]:
    """How many rows of a difference say what, by `COUNTED`.

    ``suppressed``: shown then and hidden now; ``published``: hidden then and shown now;
    ``added`` and ``removed``: cells of one of the tables only; ``value``: all else.
    """
    then, now = difference["previous_status"], difference["now_status"]
    found = {
        "suppressed": pc.and_(pc.equal(now, "suppressed"), pc.not_equal(then, ABSENT)),
        "published": pc.and_(pc.equal(then, "suppressed"), pc.not_equal(now, ABSENT)),
        "added": pc.equal(then, ABSENT),
        "removed": pc.equal(now, ABSENT),
    }
    counts = {what: int(pc.sum(mask).as_py() or 0) for what, mask in found.items()}
    counts["value"] = difference.num_rows - sum(counts.values())
    return {what: counts[what] for what in COUNTED}


def transposed(table: Published, like: Published) -> Published:
    """A table with the order of variables that another one has."""
    names = [d.name for d in table.dimensions]
    order = [names.index(d.name) for d in like.dimensions]
    turned = {
        part: getattr(table, part).transpose(order) for part in ("value", "suppressed", "empty")
    }
    dimensions = tuple(table.dimensions[i] for i in order)
    return replace(table, dimensions=dimensions, lower=None, upper=None, **turned)


def matched(table: Published, other: Published) -> NDArray[np.int64]:
    """For each cell of a table the position of that of the same codes in another; -1: none.

    Both have their variables in the same order. Flat, in C order.
    """
    found = np.zeros(table.shape, dtype=np.int64)
    there = np.ones(table.shape, dtype=bool)
    step = 1
    for axis in reversed(range(len(table.dimensions))):
        known: Mapping[str, int] = other.dimensions[axis].hierarchy.position
        codes = table.dimensions[axis].hierarchy.codes
        at = np.array([known.get(code, -1) for code in codes], dtype=np.int64)
        shape = [1] * len(table.dimensions)
        shape[axis] = len(at)
        found += at.reshape(shape) * step
        there &= (at >= 0).reshape(shape)
        step *= len(known)
    return np.where(there, found, -1).ravel()


def other_surroundings(tree: Hierarchy, before: Hierarchy) -> NDArray[np.bool_]:
    """For each code of a tree whether its parent, siblings or children are others than before."""
    new, old = tree.above, before.above
    families, earlier = _families(new), _families(old)
    differ = {parent: families.get(parent) != earlier.get(parent) for parent in {"", *tree.codes}}
    return np.array(
        [
            code not in old or old[code] != parent or differ[parent] or differ[code]
            for code, parent in new.items()
        ]
    )


def _families(parents: Mapping[str, str]) -> dict[str, set[str]]:
    """Parent → its children."""
    found: dict[str, set[str]] = {}
    for code, parent in parents.items():
        found.setdefault(parent, set()).add(code)
    return found


def check_comparable(now: Published, previous: Published) -> None:
    """Refuse tables of other variables or measures, and such as are about the same cells."""
    names, before = ([d.name for d in table.dimensions] for table in (now, previous))
    if sorted(names) != sorted(before):
        raise InputError(
            f"table {now.name!r} of the last delivery is broken down by {', '.join(before)}, this "
            f"one by {', '.join(names)}; compare tables with the same variables, or give this one "
            "another name"
        )
    if now.measure != previous.measure:
        raise InputError(
            f"table {now.name!r} of the last delivery shows {previous.measure!r}, this one "
            f"{now.measure!r}; compare tables of the same measure, or give this one another name"
        )
    if now.about.shares_cells(previous.about):
        raise InputError(
            f"table {now.name!r} has the vintage {now.vintage!r}, as that of the last delivery "
            "has, so both would be about the same cells; give another period, or a revision "
            "of the same one, a vintage of its own, e.g. '2026' or '2025 revised'"
        )


def _equal(
    one: NDArray[np.int64], decimals: int, other: NDArray[np.int64], others: int
) -> NDArray[np.bool_]:
    """Whether values are equal that may be scaled otherwise; exact, no product can overflow."""
    if decimals > others:
        one, decimals, other, others = other, others, one, decimals
    unit = 10 ** (others - decimals)
    return (other % unit == 0) & (other // unit == one)


def _words(status: NDArray[np.int64]) -> pa.StringArray:
    return pa.array([*STATUS, ABSENT]).take(pa.array(status))


def _shown(value: NDArray[np.int64], status: NDArray[np.int64], decimals: int) -> pa.StringArray:
    blank = (status == _SUPPRESSED) | (status == _ABSENT)
    exact = decimal_text(np.where(status == _PUBLISHED, value, 0), decimals)
    return pc.if_else(pa.array(blank), "", exact)
