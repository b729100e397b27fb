"""One draw for each cell, the same wherever the cell stands."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.keys import SecretKeys
from diskret.keys.numbers import siphash
from diskret.tables import Table


def cell_draws(table: Table, keys: SecretKeys) -> NDArray[np.uint64]:
    """Keyed numbers of 64 bits, equal for equal cells of all tables, runs and computers.

    Where the table has record keys, cells are equal that have the same contributors, whatever
    they are called: their key sums and counts are hashed. Else cells are equal that are defined
    alike, by measure, vintage, codes and filter; a total with a single part is that part.

    Parameters
    ----------
    table
        The measure to round is the chosen one.
    keys
        The office's keys.

    Returns
    -------
    numpy.ndarray
        uint64, shape of the table.
    """
    what = table.measure.name, table.vintage
    if table.key_sum is not None and table.count is not None:
        key = keys.subkey(f"random rounding by record keys: {what!r}")[:16]
        return siphash(key, siphash(key, table.key_sum) ^ table.count.astype(np.uint64))
    names = {dimension.name for dimension in table.dimensions}
    fixed: list[tuple[str, str]] = []
    further: list[object] = []
    for name, wanted in table.where:
        if isinstance(wanted, tuple) and len(wanted) == 1 and name not in names:
            fixed.append((name, wanted[0]))
        else:
            further.append((name, wanted))
    key = keys.subkey(f"random rounding by definition: {(*what, further)!r}")
    sums = np.zeros((1,) * len(table.dimensions), dtype=np.uint64)
    for name, code in fixed:
        sums = sums + _number(key, name, code)
    for axis, dimension in enumerate(table.dimensions):
        own = _numbers(key, dimension.name, dimension.hierarchy)
        sums = sums + own.reshape([-1 if axis == d else 1 for d in range(sums.ndim)])
    return siphash(key[:16], np.broadcast_to(sums, table.shape))


def _numbers(key: bytes, name: str, tree: Hierarchy) -> NDArray[np.uint64]:
    """A number for each code; 0 for the total, that of its parent for an only child."""
    number = np.zeros(len(tree), dtype=np.uint64)
    for code, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            alone = len(tree.children[parent]) == 1
            number[code] = number[parent] if alone else _number(key, name, tree.codes[code])
    return number


def _number(key: bytes, name: str, code: str) -> np.uint64:
    digest = blake2b(repr((name, code)).encode(), key=key, digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))
