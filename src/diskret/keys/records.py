"""Record keys: a secret number for each counted unit, from which all its noise follows."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import hashlib
import secrets
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.keys.numbers import keyed_numbers
from diskret.keys.secret import SecretKeys
from diskret.texts.numbers import Count

#: Modulus of record keys where nothing else is said.
MODULUS = 2**32

#: 64-bit fingerprints are reduced by the modulus.
_LARGEST = 2**63

_MOST_DIGITS = 18
_EXAMPLES = 5


def draw_record_keys(
    n: int, keys: SecretKeys | None = None, purpose: str = "", modulus: int = MODULUS
) -> NDArray[np.uint64]:
    """Draw record keys for units that have no stable id; keep them with the records.

    Parameters
    ----------
    n
        Number of units.
    keys
        The office's keys: the same `purpose` draws the same keys again, unit by unit in their
        order. None: from fresh randomness of the operating system, never again the same.
    purpose
        Name of the file or survey; other purposes give other keys.
    modulus
        Keys are whole numbers in ``[0, modulus)``, all equally likely; at most 2**63.

    Returns
    -------
    numpy.ndarray
        Shape ``(n,)``, uint64.

    Examples
    --------
    >>> keys = SecretKeys(bytes(range(32)))
    >>> drawn = draw_record_keys(1000, keys, "census 2022", modulus=256)
    >>> bool((drawn == draw_record_keys(1000, keys, "census 2022", modulus=256)).all())
    True
    """
    _check_modulus(modulus)
    keys = keys or SecretKeys(secrets.token_bytes(32))
    numbers = np.arange(n, dtype=np.uint64)
    return keyed_numbers(keys, f"drawn record keys: {purpose}", numbers) % np.uint64(modulus)


def derive_record_keys(
    ids: Any, keys: SecretKeys, purpose: str = "", modulus: int = MODULUS
) -> NDArray[np.uint64]:
    """Record keys that follow from a stable id: equal ids have equal keys, always and everywhere.

    Parameters
    ----------
    ids
        Whole numbers or texts (an Arrow or numpy array or a list); the number 7 and the text
        ``"7"`` are the same id, and so is ``" 7"``.
    keys
        The office's keys; who does not have them can neither compute nor invert record keys.
    purpose
        Other purposes give other keys; the same one where tables are to be consistent.
    modulus
        Keys are whole numbers in ``[0, modulus)``; at most 2**63.

    Returns
    -------
    numpy.ndarray
        Shape of `ids`, uint64.

    Raises
    ------
    InputError
        Ids are missing, or floating point numbers.

    Notes
    -----
    The first 8 bytes of the keyed BLAKE2b (RFC 7693) of the id's text in UTF-8, little-endian, as
    a remainder. 64 bits make the remainder uniform to 1 part in 2**32 for 32-bit keys or better.

    Examples
    --------
    >>> derived = derive_record_keys(["07", "7", 7], SecretKeys(bytes(range(32))))
    >>> bool(derived[0] != derived[1]), bool(derived[1] == derived[2])
    (True, True)
    """
    _check_modulus(modulus)
    encoded = pc.dictionary_encode(_texts(ids))
    start = hashlib.blake2b(key=keys.subkey(f"record keys: {purpose}"), digest_size=8)
    digests: list[bytes] = []
    for text in encoded.dictionary.to_pylist():
        digest = start.copy()
        digest.update(text.encode())
        digests.append(digest.digest())
    derived = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    return (derived % np.uint64(modulus))[encoded.indices.to_numpy(zero_copy_only=False)]


def scaled_keys(decimals: Any, digits: int = 8) -> NDArray[np.uint64]:
    """Record keys that are decimals in [0, 1), read exactly as whole numbers below 10**digits.

    Sums of floating point numbers depend on their order, and at the edge of an interval the noise
    would, too; sums of whole numbers do not. The modulus of such keys is ``10**digits``.

    Parameters
    ----------
    decimals
        Texts, decimals or floating point numbers (an Arrow or numpy array or a list). A
        floating point number means the shortest decimal that is read as this number.
    digits
        Most digits behind the point, from 1 to 18.

    Raises
    ------
    InputError
        Keys are missing, negative, not below 1, no numbers, or have more digits; says how
        many, and in which rows.

    Examples
    --------
    >>> scaled_keys(["0.611853", "0.45607"], digits=6).tolist()
    [611853, 456070]
    >>> scaled_keys([0.1, 0.25], digits=2).tolist()
    [10, 25]
    """
    if not 1 <= digits <= _MOST_DIGITS:
        raise InputError(f"digits must be from 1 to {_MOST_DIGITS}, not {digits}")
    values = _array(decimals)
    if values.null_count:
        raise _no_keys(values, digits)
    try:
        text = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        exact = text.cast(pa.decimal128(38, digits))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _no_keys(values, digits) from None
    if not len(exact):
        return np.empty(0, dtype=np.uint64)
    words = np.frombuffer(exact.buffers()[1], dtype="<u8").reshape(-1, 2)
    low, high = words[exact.offset : exact.offset + len(exact)].T
    # Arrow reads some numbers with tiny exponents as 0
    positive = pc.match_substring_regex(text, r"^[^eE]*[1-9]").to_numpy(zero_copy_only=False)
    if high.any() or (low >= np.uint64(10**digits)).any() or (positive & (low == 0)).any():
        raise _no_keys(values, digits)
    return low.astype(np.uint64)


def members_keys(
    member_key: NDArray[np.uint64], parent: Any, modulus: int = MODULUS
) -> NDArray[np.uint64]:
    """Keys of units that consist of others: the sum of their members' keys.

    A building with one person then has that person's key, and tables of buildings and of
    persons move together.

    Parameters
    ----------
    member_key
        Keys of the members, each member once; shape ``(n,)``, uint64.
    parent
        What each member belongs to: whole numbers or texts, shape ``(n,)``.
    modulus
        Of all keys.

    Returns
    -------
    numpy.ndarray
        The key of each member's parent, shape ``(n,)``, uint64.

    Raises
    ------
    InputError
        There are not as many parents as members, some are missing, or keys are not below the
        modulus.

    Examples
    --------
    >>> members_keys(np.array([3, 9, 5], dtype=np.uint64), ["a", "a", "b"], modulus=10).tolist()
    [2, 2, 5]
    """
    _check_modulus(modulus)
    encoded = pc.dictionary_encode(_texts(parent))
    place = encoded.indices.to_numpy(zero_copy_only=False)
    if len(place) != len(member_key):
        raise InputError(f"{len(member_key):,} members have {len(place):,} parents; give one each")
    strange = int((member_key >= np.uint64(modulus)).sum())
    if strange:
        number = Count(strange)
        raise InputError(
            f"{number} record {number:key is|keys are} not below {modulus:,}, "
            f"{number:its|their} modulus"
        )
    most = int(np.bincount(place).max(initial=0))
    # sums that leave 64 bits are rare and slow, never wrong
    wide = np.dtype(object) if most * (modulus - 1) >= 2**64 else np.dtype(np.uint64)
    total = np.zeros(len(encoded.dictionary), dtype=wide)
    np.add.at(total, place, member_key.astype(wide))
    return (total % modulus).astype(np.uint64)[place]


def modulus_with(digits: int | None, modulus: int = MODULUS) -> int:
    """The modulus of record keys that are decimals in [0, 1) with so many digits, if they are."""
    if digits is None:
        return modulus
    if type(digits) is not int or not 1 <= digits <= _MOST_DIGITS:
        raise InputError(f"key_digits= is from 1 to {_MOST_DIGITS}, not {digits!r}")
    if modulus not in (MODULUS, 10**digits):
        raise InputError(
            f"record keys with {digits} digits have the modulus 10^{digits}, and key_modulus= says "
            f"{modulus:,}; leave one of the two out"
        )
    return 10**digits


def _check_modulus(modulus: int) -> None:
    if not 1 <= modulus <= _LARGEST:
        raise InputError(f"the modulus of record keys is {modulus}; it must be from 1 to 2^63")


def _array(values: Any) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    if isinstance(values, pa.Array):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers and texts side by side
        return pa.array([None if value is None else str(value) for value in values])


def _texts(ids: Any) -> pa.Array:
    """Ids as texts without padding."""
    values = _array(ids)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_floating(values.type) and len(values):
        raise InputError(
            "ids are floating point numbers, which have no unique spelling; turn them into text or "
            "whole numbers first"
        )
    text = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    missing = pc.fill_null(pc.equal(text, ""), True).to_numpy(zero_copy_only=False)
    if missing.any():
        rows = ", ".join(str(row + 1) for row in np.flatnonzero(missing)[:_EXAMPLES])
        number = Count(missing.sum())
        raise InputError(
            f"{number} {number:id is|ids are} missing (in row {rows}); record keys that are to "
            "stay need an id for every unit"
        )
    return text


def _no_keys(values: pa.Array, digits: int) -> InputError:
    wrong = [row for row, value in enumerate(values.to_pylist(), 1) if not _is_key(value, digits)]
    shown = ", ".join(str(row) for row in wrong[:_EXAMPLES])  # not the keys: they are secret
    number = Count(len(wrong))
    return InputError(
        f"{number} record {number:key is no decimal|keys are no decimals} of at least 0 and below "
        f"1 with at most {digits} digits (in row {shown}); write 0.25, not 0,25, and state digits="
    )


def _is_key(value: Any, digits: int) -> bool:
    try:
        number = Decimal(repr(value) if isinstance(value, float) else str(value).strip())
        return 0 <= number < 1 and number == round(number, digits)
    except InvalidOperation:
        return False
