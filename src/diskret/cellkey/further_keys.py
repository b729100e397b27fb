"""Further keys from one cell key: for other measures, and for further noise in the same cell."""

from __future__ import annotations

import hashlib
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.names import canonical

#: A prime; products of two numbers below it fit 64 bits, signed ones too, as databases have them.
_PRIME = 2**31 - 1
_ROUNDS = 6
#: Odd, so multiplying by it modulo a power of two loses nothing; its upper bits are those of the
#: golden ratio, which spread out neighbouring keys (Knuth, The Art of Computer Programming,
#: volume 3, section 6.4).
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def measure_keys(
    key: NDArray[np.uint64], modulus: int, source: str, draw: int = 0
) -> NDArray[np.uint64]:
    """The keys that noise of a measure is drawn with: each cell key becomes another one.

    A bijection of ``[0, modulus)`` that anybody can compute: it hides nothing, but makes the noise
    of one measure tell nothing of that of another, nor of that of the counts.

    `key`: cell keys, uint64, any shape. `modulus`: of the keys, any number from 1 to 2**63.
    `source`: what the measure is made of; proportional measures share one name. `draw`: 0 for the
    largest contribution, 1 for the next, and so on.

    A key is a pair (l, r) with key = l·b + r, b about the root of the modulus. In turn a function
    of the one is added to the other: t → ((t·A + C)² mod p) with p = 2^31 − 1 and constants
    from BLAKE2b of source and draw (Luby and Rackoff, 1988). A pair beyond the modulus, which is
    rare, goes through it again.
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


def turned(key: NDArray[np.uint64], modulus: int, times: int) -> NDArray[np.uint64]:
    """The key for the next purpose, and the one after that: each key becomes another one.

    A bijection of ``[0, modulus)``, so uniform keys stay uniform. Decimal keys (modulus
    10**digits) have their first digit moved to the end, as in other programs; binary ones
    (2**bits) are mixed: twice folded and multiplied by an odd constant.

    `key`: cell keys, uint64, any shape. `modulus`: 10**digits or 2**bits. `times`: how often; 0:
    the key itself.

    Source: Giessing and Tent (2019), "Concepts for generalising tools implementing the cell key
    method to the case of continuous variables", UNECE work session on statistical data
    confidentiality.
    """
    if times == 0:
        return key
    digits = len(str(modulus)) - 1
    if modulus == 10**digits:
        if times >= digits:
            raise InputError(
                f"cell keys of {digits} digits give {digits} different keys, {times + 1} are "
                "needed; use keys with more digits, or fewer contributions"
            )
        first = np.uint64(10 ** (digits - times))
        return key % first * np.uint64(10**times) + key // first
    if modulus & (modulus - 1):
        raise InputError(
            f"further keys are made of keys modulo a power of ten or two, not {modulus:,}; use "
            "record keys from 0 to 2^32 - 1"
        )
    bits = modulus.bit_length() - 1
    half, mask = np.uint64((bits + 1) // 2), np.uint64(modulus - 1)
    for _ in range(times):
        for _ in range(2):
            key = ((key ^ (key >> half)) * _FACTOR) & mask
        key = key ^ (key >> half)
    return key
