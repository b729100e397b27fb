"""The keys of a measure: a public permutation of the cell keys that its source columns choose."""

from __future__ import annotations

import hashlib
import unicodedata
from math import isqrt

import numpy as np
from numpy.typing import NDArray

#: A prime; products of two numbers below it fit 64 bits, signed ones too, as databases have them.
_PRIME = 2**31 - 1
_ROUNDS = 6


def canonical(name: str) -> str:
    """How a source column is called whatever the case and the blanks around it.

    Examples
    --------
    >>> canonical(" Turnover") == canonical("TURNOVER")
    True
    """
    return unicodedata.normalize("NFKC", name).strip().casefold()


def measure_keys(
    key: NDArray[np.uint64], modulus: int, source: str, draw: int = 0
) -> NDArray[np.uint64]:
    """The keys that noise of a measure is drawn with: each cell key becomes another one.

    A bijection of ``[0, modulus)`` that anybody can compute: it hides nothing, but makes the noise
    of one measure tell nothing of that of another, nor of that of the counts.

    Parameters
    ----------
    key
        Cell keys, uint64, any shape.
    modulus
        Of the keys, any number from 1 to 2**63.
    source
        What the measure is made of; proportional measures share one name.
    draw
        0 for the largest contribution, 1 for the next, and so on.

    Notes
    -----
    A key is a pair (l, r) with key = l·b + r, b about the root of the modulus. In turn a function
    of the one is added to the other: t → ((t·A + C)² mod p) with p = 2^31 − 1 and constants
    from BLAKE2b of source and draw (Luby and Rackoff, 1988). A pair beyond the modulus, which is
    rare, goes through it again.

    Examples
    --------
    >>> keys = np.arange(750, dtype=np.uint64)
    >>> np.array_equal(np.sort(measure_keys(keys, 750, "wages")), keys)
    True
    """
    right = isqrt(modulus - 1) + 1
    left = -(-modulus // right)
    constants = _constants(canonical(source), draw)
    found = _once(key, left, right, constants)
    while (beyond := found >= np.uint64(modulus)).any():
        found[beyond] = _once(found[beyond], left, right, constants)
    return found


def _once(
    key: NDArray[np.uint64], left: int, right: int, constants: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    sizes = np.uint64(left), np.uint64(right)
    halves = list(np.divmod(key, sizes[1]))
    for i, (factor, summand) in enumerate(constants):
        one = i % 2
        mixed = (halves[1 - one] % np.uint64(_PRIME) * factor + summand) % np.uint64(_PRIME)
        halves[one] = (halves[one] + mixed * mixed % np.uint64(_PRIME)) % sizes[one]
    return halves[0] * sizes[1] + halves[1]


def _constants(source: str, draw: int) -> NDArray[np.uint64]:
    """A factor and a summand for each round, from 1 to below the prime."""
    digest = hashlib.blake2b(
        f"{draw} {source}".encode(), digest_size=8 * _ROUNDS, person=b"diskret measure"
    ).digest()
    words = np.frombuffer(digest, dtype="<u4").astype(np.uint64).reshape(_ROUNDS, 2)
    return 1 + words % np.uint64(_PRIME - 1)
