"""Intervals of keys in an order that tells nothing of the noise."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.lookup import Lookup, filled
from diskret.keys import SecretKeys
from diskret.keys.numbers import siphash

#: Intervals longer than this share of all keys are split first.
_LONGEST = Fraction(1, 5)


def shuffled(lookup: Lookup, seed: int | None) -> Lookup:
    """The same probabilities with split and shuffled intervals; see `Lookup.shuffled`."""
    if seed is None:
        seed = SecretKeys.load().seed("order of cell key intervals")
    # a keyed hash sorts, not a generator: the order is the same in every version of numpy
    key = hashlib.blake2b(str(seed).encode(), digest_size=16).digest()
    rows: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
    for number, (bounds, noise) in enumerate(zip(lookup.bounds, lookup.noise, strict=True)):
        width, value = _pieces(bounds, noise, lookup.modulus)
        place = np.arange(len(width), dtype=np.uint64) + np.uint64(number << 32)
        order = np.argsort(siphash(key, place), kind="stable")
        rows.append((np.cumsum(width[order], dtype=np.uint64), value[order]))
    bounds, noise = filled(rows, lookup.modulus)
    return Lookup(lookup.counts, lookup.modulus, bounds, noise, lookup.step, lookup.reuse)


def _pieces(
    bounds: NDArray[np.uint64], noise: NDArray[np.int64], modulus: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Widths and noise of a row's intervals, none of them long and none empty."""
    widths: list[int] = []
    values: list[int] = []
    for width, value in zip(np.diff(bounds, prepend=np.uint64(0)), noise, strict=True):
        parts = -(-int(width) * _LONGEST.denominator // (modulus * _LONGEST.numerator))
        for part in range(parts):
            widths.append(int(width) * (part + 1) // parts - int(width) * part // parts)
            values.append(int(value))
    return np.array(widths, dtype=np.uint64), np.array(values, dtype=np.int64)
