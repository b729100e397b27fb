"""Lookup tables of other offices: a noise value for each count and each small key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskret.cellkey.lookup import Lookup, filled
from diskret.cellkey.matrices import check_not_below_zero
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import column, scaled_integers, whole_numbers


def lookup_of_ons(table: Any, reuse: int, modulus: int | None) -> Lookup:
    """The lookup of a table with the columns ``pcv``, ``ckey`` and ``pvalue``.

    Raises
    ------
    InputError
        Columns are missing, a combination of ``pcv`` and ``ckey`` is missing or there twice, or a
        count could fall below 0.
    """
    records, _ = to_arrow(table)
    count = whole_numbers(column(records, "pcv"), "pcv")
    key = whole_numbers(column(records, "ckey"), "ckey")
    value = scaled_integers(column(records, "pvalue"), "pvalue", 0)
    if not len(count):
        raise InputError("the table holds no rows")
    keys = modulus or int(key.max()) + 1
    rows = int(count.max())
    place = (count - 1) * keys + key
    right = (count > 0) & (key < keys)
    times = np.bincount(place[right], minlength=rows * keys)
    wrong = np.flatnonzero(times != 1)
    if len(wrong) or not right.all():
        shown = ", ".join(f"pcv {w // keys + 1} with ckey {w % keys}" for w in wrong[:5])
        raise InputError(
            f"every pcv from 1 to {rows:,} needs every ckey from 0 to {keys - 1:,} once; "
            f"{len(wrong):,} combinations are missing or there twice ({shown}), and "
            f"{int((~right).sum()):,} rows lie outside"
        )
    noise = np.empty(rows * keys, dtype=np.int64)
    noise[place] = value
    return _lookup_of_slots(noise.reshape(rows, keys), keys, reuse)


def lookup_of_abs(matrix: ArrayLike, modulus: int, reuse: int) -> Lookup:
    """The lookup of a matrix with a row for each value of the key's leading bits.

    Raises
    ------
    InputError
        The matrix holds no whole numbers, its rows do not divide the modulus, or a count could
        fall below 0.
    """
    given = np.asarray(matrix)
    if given.ndim != 2 or not given.size or not np.issubdtype(given.dtype, np.number):
        raise InputError(
            "the matrix needs a row for each value of the key's leading bits (256) and a column "
            f"for each of the counts 1, 2, …; it is of shape {given.shape}"
        )
    noise = given.astype(np.int64)
    if (noise != given).any():
        raise InputError(f"{int((noise != given).sum()):,} entries are no whole numbers")
    if modulus % len(noise):
        raise InputError(
            f"{len(noise)} rows do not divide the modulus of the cell keys, {modulus:,}; 256 rows "
            "go with 32-bit keys"
        )
    return _lookup_of_slots(np.ascontiguousarray(noise.T), modulus, reuse)


def _lookup_of_slots(noise: NDArray[np.int64], modulus: int, reuse: int) -> Lookup:
    """Neighbouring keys with the same noise make an interval; `noise` has a row for each count."""
    slots = noise.shape[1]
    ends = (np.arange(1, slots + 1) * (modulus // slots)).astype(np.uint64)
    found = [(ends[-1:], np.zeros(1, dtype=np.int64))]
    for count, row in enumerate(noise, start=1):
        check_not_below_zero(count, row)
        last = np.append(np.flatnonzero(np.diff(row)), slots - 1)
        found.append((ends[last], row[last]))
    bounds, values = filled(found, modulus)
    return Lookup(np.arange(len(found)), modulus, bounds, values, reuse=reuse)
