"""Further keys from one cell key, for further noise in the same cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

#: Odd, so multiplying by it modulo a power of two loses nothing; its upper bits are those of the
#: golden ratio, which spread out neighbouring keys (Knuth, The Art of Computer Programming,
#: volume 3, section 6.4).
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def turned(key: NDArray[np.uint64], modulus: int, times: int) -> NDArray[np.uint64]:
    """The key for the next purpose, and the one after that: each key becomes another one.

    A bijection of ``[0, modulus)``, so uniform keys stay uniform. Decimal keys (modulus
    10**digits) have their first digit moved to the end, as in other programs; binary ones
    (2**bits) are mixed: twice folded and multiplied by an odd constant.

    Parameters
    ----------
    key
        Cell keys, uint64, any shape.
    modulus
        10**digits or 2**bits.
    times
        How often; 0: the key itself.

    Raises
    ------
    InputError
        The modulus is no power of ten or two, or there are not so many different keys: decimal
        ones are back where they were after as many turns as they have digits.

    References
    ----------
    Giessing and Tent (2019), "Concepts for generalising tools implementing the cell key method
    to the case of continuous variables", UNECE work session on statistical data confidentiality.

    Examples
    --------
    >>> turned(np.array([12345678], dtype=np.uint64), 10**8, 2).tolist()
    [34567812]
    >>> len(set(turned(np.arange(256, dtype=np.uint64), 256, 1).tolist()))
    256
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
