"""Numbers that name somebody, as keyed 64-bit fingerprints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.keys.secret import SecretKeys

#: Rounds for the message and at the end, as in SipHash-2-4.
_ROUNDS, _LAST_ROUNDS = 2, 4


def keyed_numbers(
    keys: SecretKeys, purpose: str, numbers: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Keyed fingerprints of 64-bit numbers: equal numbers stay equal, nothing else is told.

    `numbers`: uint64, any shape. Gives uint64, the same shape.

    SipHash-2-4 (Aumasson and Bernstein, 2012, "SipHash: a fast short-input PRF", INDOCRYPT) of
    the 8 bytes of each number, little-endian, under 16 bytes of the subkey of the purpose.

    >>> found = keyed_numbers(SecretKeys(bytes(range(32))), "units", np.array([7, 8, 7], np.uint64))
    >>> found[0] == found[2] != found[1]
    np.True_
    """
    return siphash(keys.subkey(f"numbers: {purpose}")[:16], numbers)


def siphash(key: bytes, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SipHash-2-4 of each number, taken as 8 bytes, little-endian; `key` has 16 bytes."""
    low, high = (np.uint64(part) for part in np.frombuffer(key, dtype="<u8"))
    flat = np.ascontiguousarray(numbers, dtype=np.uint64).ravel()
    starts = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v = [
        np.full(flat.shape, np.uint64(start) ^ part, dtype=np.uint64)
        for start, part in zip(starts, (low, high, low, high), strict=True)
    ]
    length = np.uint64(8 << 56)
    for word in (flat, length):
        v[3] ^= word
        _mix(v, _ROUNDS)
        v[0] ^= word
    v[2] ^= np.uint64(0xFF)
    _mix(v, _LAST_ROUNDS)
    return (v[0] ^ v[1] ^ v[2] ^ v[3]).reshape(np.shape(numbers))


def _mix(v: list[NDArray[np.uint64]], rounds: int) -> None:
    """SipRounds, in place; sums wrap around."""
    for _ in range(rounds):
        for a, b, turn, half in ((0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), (2, 1, 17, 32)):
            v[a] += v[b]
            v[b] = _turned(v[b], turn) ^ v[a]
            if half:
                v[a] = _turned(v[a], half)


def _turned(words: NDArray[np.uint64], by: int) -> NDArray[np.uint64]:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))
