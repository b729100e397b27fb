"""Boundaries that change: which old area became which new one, and how much of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from diskret.spatial.cuts import parts_of
from diskret.spatial.pieces import REST, pieces_of

_KINDS = ("unchanged", "renamed", "split", "merged", "changed")


def correspondence(records: Any, old: str, new: str, *, count: str | None = None) -> pa.Table:
    """Show which old areas became which new ones, from records that know both.

    Confidential: it tells how many records lie in each piece.

    Parameters
    ----------
    records
        Any frame that [`tabulate`][diskret.tabulate] takes into memory, or the path of a file:
        single records, or what was counted by old and new areas at once.
    old, new
        Columns of areas within the old and the new boundaries. Nothing stands there where a record
        lies in no area.
    count
        Column with numbers of records that were counted before.

    Returns
    -------
    table
        A row for each pair of areas with common records: `old`, `new` (null: no area), `records`,
        `of_old` and `of_new`, the shares of the areas' records, and `kind`: ``unchanged``,
        ``renamed`` (other code, same records), ``split`` (one old area into several new ones),
        ``merged`` (several old areas into one), or ``changed`` (boundaries cut through each other).
        Only where areas are ``changed`` can totals of old and new areas tell more than those of one
        of them; [`differences`][diskret.spatial.differences] says what.

    Raises
    ------
    InputError
        A column is not there or cannot be read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> moved = pa.table(
    ...     {"1990": ["A", "A", "B", "C"], "2020": ["A", "B", "B", "D"], "persons": [97, 3, 50, 9]}
    ... )
    >>> table = correspondence(moved, "1990", "2020", count="persons")
    >>> for row in table.to_pylist():
    ...     print(row["old"], row["new"], row["records"], row["of_old"], row["kind"])
    A A 97 0.97 changed
    A B 3 0.03 changed
    B B 50 1.0 changed
    C D 9 1.0 renamed
    """
    pieces = pieces_of(records, (old, new), count=count)
    before, after = pieces.place.T
    label = parts_of(pieces)[before]
    number = int(label.max(initial=0)) + 1
    sizes = [np.bincount(place, pieces.count) for place in (before, after)]
    olds, news = (
        np.bincount(label[np.unique(place, return_index=True)[1]], minlength=number)
        for place in (before, after)
    )
    codes = [
        [None if codes[at] == REST else codes[at] for at in place.tolist()]
        for codes, place in zip(pieces.codes, (before, after), strict=True)
    ]
    same = np.array([one == other for one, other in zip(*codes, strict=True)], bool)
    one, other = olds[label] == 1, news[label] == 1
    kind = np.select([one & other & same, one & other, one, other], [0, 1, 2, 3], 4)
    return pa.table(
        {
            "old": pa.array(codes[0], pa.string()),
            "new": pa.array(codes[1], pa.string()),
            "records": pieces.count,
            "of_old": pieces.count / sizes[0][before],
            "of_new": pieces.count / sizes[1][after],
            "kind": pa.array([_KINDS[at] for at in kind.tolist()], pa.string()),
        }
    )
