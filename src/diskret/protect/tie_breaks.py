"""Secret numbers that decide between cells of equal cost."""

from __future__ import annotations

import hashlib
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from diskret.keys import SecretKeys
from diskret.system.equations import RectangularCells
from diskret.tables import Dimension, Table


def keyed_ties(table: Table, keys: SecretKeys) -> NDArray[np.float64]:
    """A number from 0 to below 1 for each cell, from a keyed hash of the cell's definition.

    It depends on measure, vintage, population and the texts of the records in the cell alone: not
    on values, on what categories are called, on the order of rows, codes or variables, or on the
    table in which the cell stands. Other texts get other numbers, by design.

    Parameters
    ----------
    table
        The table.
    keys
        The office's keys; who does not have them cannot tell the numbers from random ones.

    Returns
    -------
    numpy.ndarray
        float64, shape of the table.

    Notes
    -----
    Each part of a definition (what is measured; each variable with the texts of a code, total of
    a variable left out) has a keyed hash of 64 bits: BLAKE2b (RFC 7693) under the subkey
    "ties". The hashes of a cell are added modulo 2⁶⁴ and scrambled by the finaliser of
    SplitMix64 (Steele, Lea and Flood, 2014, "Fast splittable pseudorandom number
    generators", OOPSLA), so that there is one hash for each code and none for each cell.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S"], "firms": [7, 2]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> keyed_ties(table, SecretKeys(bytes(range(32)))).round(3).tolist()
    [0.981, 0.408, 0.856]
    """
    key = keys.subkey("ties")
    cells = RectangularCells(table.measure.name, table.vintage, table.dimensions, table.where)
    total = next(iter(cells))
    whole = _hash(key, "cells", total.measure, total.vintage, str(total.where))
    for name, code in total.at:
        whole += _hash(key, "code", name, code)
    start = np.array(whole % 2**64, dtype=np.uint64)
    along = [
        np.array([0, *(_hash(key, "code", d.name, *texts) for texts in _texts(d))], np.uint64)
        for d in table.dimensions
    ]
    with np.errstate(over="ignore"):
        mixed = _scrambled(reduce(np.add.outer, along, start))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _texts(dimension: Dimension) -> list[list[str]]:
    """The texts of the records in each category below the total."""
    tree = dimension.hierarchy
    return [sorted(tree.leaves_below(i)) for i in range(1, len(tree))]


def _hash(key: bytes, *words: str) -> int:
    """64 bits; the length of each word counts, so that borders between words do."""
    digest = hashlib.blake2b(key=key, digest_size=8)
    for word in words:
        text = word.encode()
        digest.update(len(text).to_bytes(8, "big") + text)
    return int.from_bytes(digest.digest(), "big")


def _scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A one-to-one map in which each bit depends on all."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
