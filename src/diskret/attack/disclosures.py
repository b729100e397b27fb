"""What a published table seems to disclose at a glance, and how much of it is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables import Published, Table


@dataclass(frozen=True)
class Disclosures:
    """What somebody reads off a table that shows groups by categories. Confidential.

    Parameters
    ----------
    uniques
        Cells in which exactly one is shown.
    true_uniques
        Of these, cells in which there is exactly one.
    small
        Cells in which fewer than `below` are shown, at least one; uniques among them.
    true_small
        Of these, cells in which there are fewer than `below`, at least one.
    groups
        Groups of which everybody shown is in one category.
    true_groups
        Of these, groups of which everybody is in this category.
    original_uniques, original_small, original_groups
        The same in the original.
    below
        What counts as small.
    """

    uniques: int
    true_uniques: int
    small: int
    true_small: int
    groups: int
    true_groups: int
    original_uniques: int
    original_small: int
    original_groups: int
    below: int

    @property
    def credible_small(self) -> float:
        """Share of the small counts shown that are small; NaN if none is shown."""
        return self.true_small / self.small if self.small else float("nan")

    @property
    def credible_groups(self) -> float:
        """Share of the group disclosures shown that are true; NaN if none is shown."""
        return self.true_groups / self.groups if self.groups else float("nan")


def disclosures(
    table: Table, published: Any, category: str, *, below: int = 3, least: int = 1
) -> Disclosures:
    """Count what a published table shows of small counts and of groups, and what of it is true.

    An attacker who takes the published counts at their word is meant: who sees one person in a cell
    believes to have found this person, and who sees a whole group in one category believes to know
    it of every member. What can be concluded from sums and several tables together is for the
    attacks on each method.

    Parameters
    ----------
    table
        The original table, of counts.
    published
        What is published in its place: a [`Published`][diskret.Published], or an array of the
        table's shape with counts, masked or NaN where they are withheld. Who knows that zeros are
        shown knows that a withheld cell holds somebody, but not how many.
    category
        The variable whose finest codes are the categories. Each combination of the codes of the
        others, totals included, is a group; no other codes of `category` are looked at.
    below
        Counts below it are small.
    least
        Groups of which fewer are shown do not count (2: without those who are alone in their
        group, who are uniques already). A withheld cell counts one.

    Raises
    ------
    InputError
        The table is none of counts or has no such variable; a published table shows something
        else; published counts have another shape, or are no whole numbers from 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = {"town": ["A", "A", "B", "B"], "job": ["baker", "smith", "baker", "smith"]}
    >>> by = {"town": None, "job": None}
    >>> table = Table.from_cells(pa.table(cells | {"n": [1, 4, 0, 5]}), by=by, count="n")
    >>> shown = np.array([[10, 0, 10], [4, 0, 4], [6, 0, 6]])
    >>> found = disclosures(table, shown, "job")
    >>> found.original_uniques, found.uniques, found.groups, found.true_groups
    (2, 0, 3, 1)
    """
    names = [dimension.name for dimension in table.dimensions]
    if not table.frequency:
        raise InputError(
            f"the table holds values of {table.measure.name!r}; what counts disclose is asked of a "
            "table of counts"
        )
    if category not in names:
        raise InputError(
            f"category={category!r} is none of the variables of the table: {', '.join(names)}"
        )
    value, hidden = _counts(published, table)
    axis = names.index(category)
    leaf = table.dimensions[axis].hierarchy.is_leaf
    original, value, hidden = (
        np.moveaxis(array, axis, -1)[..., leaf] for array in (table.measure.sum, value, hidden)
    )
    group = np.repeat(np.arange(original.size // leaf.sum()), leaf.sum())
    return read_off(
        group, original.ravel(), value.ravel(), hidden=hidden.ravel(), below=below, least=least
    )


def read_off(
    group: NDArray[np.integer],
    original: NDArray[np.int64],
    published: NDArray[np.int64],
    *,
    hidden: NDArray[np.bool_] | None = None,
    below: int = 3,
    least: int = 1,
) -> Disclosures:
    """Count the same of cells that are listed, as [`disclosures`][diskret.attack.disclosures] does.

    Parameters
    ----------
    group
        For each cell the group it belongs to, whole numbers from 0, ``(c,)``: a municipality, or
        municipality by sex and age; the cells of a group are the categories of one variable.
        Cells that are empty before and after may be left out.
    original, published
        Counts, ``(c,)``, at least 0.
    hidden
        Cells that are suppressed, ``(c,)``; each is known to hold somebody, but not how many. None:
        none is.
    below
        Counts below it are small.
    least
        Groups of which fewer are shown do not count; who is alone in a group is a unique already
        (2 leaves these out). A hidden cell counts one.

    Raises
    ------
    InputError
        The arrays are not equally long, or a count is negative.

    Notes
    -----
    Group disclosure is the case with a share of 100 % of the rule of the same name. That it need
    not be true is what Höhne names as a merit of SAFE: unique categories in a row do not allow an
    information gain.

    Examples
    --------
    >>> town = np.array([0, 0, 1, 1])
    >>> found = read_off(town, np.array([1, 4, 0, 5]), np.array([0, 4, 0, 6]))
    >>> found.groups, found.true_groups, found.original_uniques, found.uniques
    (2, 1, 1, 0)
    """
    shut = np.zeros(len(group), dtype=bool) if hidden is None else np.asarray(hidden)
    if not len(group) == len(original) == len(published) == len(shut):
        raise InputError("group, original, published and hidden must be equally long")
    open_ = ~shut
    if (original < 0).any() or (published[open_] < 0).any():
        raise InputError("counts must be at least 0")
    shown = np.where(shut, 1, published)
    one = open_ & (published == 1)
    few = open_ & (published > 0) & (published < below)
    truly_few = (original > 0) & (original < below)
    seen, at = _alone(group, shown, least)
    truly, where = _alone(group, original, least)
    return Disclosures(
        uniques=int(one.sum()),
        true_uniques=int((one & (original == 1)).sum()),
        small=int(few.sum()),
        true_small=int((few & truly_few).sum()),
        groups=int(seen.sum()),
        # what is true of a group that is smaller than it looks is true all the same
        true_groups=int((seen & _alone(group, original, 1)[0] & (at == where)).sum()),
        original_uniques=int((original == 1).sum()),
        original_small=int(truly_few.sum()),
        original_groups=int(truly.sum()),
        below=below,
    )


def _counts(published: Any, table: Table) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Published counts, and where they are withheld."""
    shape = table.shape
    if isinstance(published, Published):
        if not published.frequency or _codes(published) != _codes(table):
            raise InputError(
                f"{published.name!r} is not published in place of this table: it shows no counts, "
                "or other variables, codes or another order of them"
            )
        value, hidden = published.value, published.suppressed
    else:
        array = np.ma.masked_invalid(np.ma.asanyarray(published))
        value, hidden = array.filled(0), np.ma.getmaskarray(array)
    if value.shape != shape:
        raise InputError(
            f"the published counts have the shape {value.shape}, the table has {shape}: one for "
            "each combination of codes, totals included"
        )
    whole = np.rint(value).astype(np.int64)
    if (whole != value).any():
        raise InputError(f"published counts are whole numbers; {value[whole != value][0]} is none")
    return whole, hidden


def _codes(shown: Published | Table) -> list[tuple[str, tuple[str, ...]]]:
    return [(d.name, tuple(d.hierarchy.codes)) for d in shown.dimensions]


def _alone(
    group: NDArray[np.integer], count: NDArray[np.int64], least: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Groups with one category that is not empty, and the last cell that is not, else -1."""
    number = int(group.max(initial=-1)) + 1
    there = np.flatnonzero(count)
    filled = np.bincount(group[there], minlength=number)
    size = np.bincount(group, count, minlength=number)
    at = np.full(number, -1)
    at[group[there]] = there
    return (filled == 1) & (size >= least), at
