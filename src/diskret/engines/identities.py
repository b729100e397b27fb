"""Who a unit or holding is: a number that is the same in every table, call and engine.

It is the BLAKE2b hash, of 64 bits and without a key, of the identifier's canonical text: whole
numbers as decimal digits, whatever the type of the column (7, 7.0 and the text "7" are one unit,
as they are within a column); other decimals without trailing zeros; text without padding, leading
zeros kept, so "07" is another unit. Two of a million units have the same number with a probability
of 3 in 100 million. Identifiers can be guessed from such numbers: they are confidential.
"""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines.columns import Kind


def identities(told: pa.ChunkedArray, kind: Kind, what: str) -> NDArray[np.uint64]:
    """The number of each row's unit or holding; 0 where there is none.

    Only distinct identifiers are hashed.

    Parameters
    ----------
    told
        Identifiers as text.
    kind
        Of the column they come from.
    what
        ``"unit"`` or ``"holding"``: identifiers of one are not those of the other.

    Examples
    --------
    >>> one = identities(pa.chunked_array([["7", None, "7"]]), "integer", "unit")
    >>> other = identities(pa.chunked_array([["7.00"]]), "decimal", "unit")
    >>> one[1], one[0] == one[2] == other[0]
    (np.uint64(0), np.True_)
    """
    encoded = told.combine_chunks().dictionary_encode()
    distinct: list[str] = encoded.dictionary.to_pylist()
    if kind == "decimal":
        distinct = [_without_zeros(text) for text in distinct]
    numbers = np.append(_hashed([text.encode() for text in distinct], what.encode()), np.uint64(0))
    return numbers[encoded.indices.fill_null(len(distinct)).to_numpy()]


def nobodys(number: int, told: bytes) -> NDArray[np.uint64]:
    """Numbers for contributors that nothing identifies, different in different tables.

    Parameters
    ----------
    number
        How many.
    told
        What tells the table from others, its contents included.
    """
    return _hashed([told], b"nobody") + np.arange(number, dtype=np.uint64)


def _without_zeros(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


def _hashed(texts: Iterable[bytes], what: bytes) -> NDArray[np.uint64]:
    hashes = [blake2b(text, digest_size=8, person=what).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), dtype=">u8").astype(np.uint64)
