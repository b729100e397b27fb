"""Each cell for itself: to the nearest multiple, or at random by a key."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from diskret.keys import SecretKeys
from diskret.keys.numbers import siphash
from diskret.population import Bounds, Condition, pieces
from diskret.tables import Dimension, Table


def deterministic(value: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    """The nearest multiple of the base, half a base upwards, also below zero.

    `value`: scaled integers, any shape. `base`: in the same units, at least 1.

    "Upwards" is towards larger numbers: with base 10 both −5 and 4 become 0, and 5 becomes 10. So
    a published r stands for r − b/2 to below r + b/2, whatever its sign.
    """
    return (value + base // 2) // base * base


def random(value: NDArray[np.int64], base: int, draw: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A multiple of the base next to each value: upwards with probability r/b, else downwards.

    `value`: scaled integers, any shape. `base`: in the same units, at least 1 and below 2**32.
    `draw`: uniform on all numbers of 64 bits, the same shape; equal cells have equal draws.

    r is what a value b·k + r exceeds the next lower multiple by. The mean is the value itself (up
    to 2**−31), the variance r (b − r). Multiples stay (Hundepool et al., 2012, "Statistical
    Disclosure Control", section 5.4.2).
    """
    rest = value % base
    up = (draw >> np.uint64(32)) * np.uint64(base) < rest.astype(np.uint64) << np.uint64(32)
    return value - rest + np.where(up, base, 0)


def cell_draws(table: Table, keys: SecretKeys) -> NDArray[np.uint64]:
    """Keyed numbers of 64 bits, equal for equal cells of all tables, runs and computers.

    Where the table has record keys, cells are equal that have the same contributors, whatever
    they are called: their key sums and counts are hashed. Else cells are equal that are defined
    alike, by measure, vintage and the texts of the records in them; a total with a single part is
    that part. A filter for one code selects as the code does.

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
    key = keys.subkey(f"random rounding by definition: {(*what, [])!r}")
    asked = dict(table.where.asked)
    sums = np.zeros((1,) * len(table.dimensions), dtype=np.uint64)
    for axis, dimension in enumerate(table.dimensions):
        own = _numbers(key, dimension, asked.pop(dimension.name, None))
        sums = sums + own.reshape([-1 if axis == d else 1 for d in range(sums.ndim)])
    for name, condition in asked.items():
        texts = [str(condition)] if isinstance(condition, Bounds) else condition
        sums = sums + _number(key, name, texts)
    return siphash(key[:16], np.broadcast_to(sums, table.shape))


def _numbers(key: bytes, dimension: Dimension, asked: Condition | None) -> NDArray[np.uint64]:
    """A number for each code; 0 for everything, that of its parent for an only child."""
    tree = dimension.hierarchy
    number = np.zeros(len(tree), dtype=np.uint64)
    every = tree.leaves_below(0)
    let = frozenset(every) if asked is None else pieces([asked], every)[0]
    for code, parent in enumerate(tree.parent.tolist()):
        if parent >= 0 and len(tree.children[parent]) == 1:
            number[code] = number[parent]
        elif parent >= 0 or asked is not None:
            texts = let if parent < 0 else let.intersection(tree.leaves_below(code))
            number[code] = _number(key, dimension.name, sorted(texts))
    return number


def _number(key: bytes, name: str, texts: Sequence[str]) -> np.uint64:
    said = (name, texts[0] if len(texts) == 1 else tuple(texts))
    digest = blake2b(repr(said).encode(), key=key, digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))
