"""Who contributes what, one by one, from the answers of an engine."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.engines.columns import Kind
from diskret.engines.contract import LeafQuestion, Listed
from diskret.engines.contributions import find, read_integers, read_marked, read_sums


def read(
    named: pa.Table,
    alone: pa.Table | None,
    question: LeafQuestion,
    kinds: Mapping[str, Kind],
    leaves: NDArray[np.int64],
) -> Listed:
    """Read the answers of `sql.listed` and `sql.listed_records`.

    `alone`: that about records that belong to neither: each is a contributor of its own. None if
    units are known. `kinds`: ``"u"`` and ``"h"``, as far as they are known → the kind of their
    column. `leaves`: the numbers of all leaf combinations, ascending.
    """
    tables = [named] if alone is None else [named, alone]
    unit = identities(named["u"], kinds["u"], "unit") if "u" in kinds else None
    holding = identities(named["h"], kinds["h"], "holding") if "h" in kinds else None
    if unit is not None and holding is not None:
        # a null holding is that of the unit alone
        holding = np.where(named["h"].is_null().to_numpy(), unit, holding)
    leaf = np.concatenate([read_integers(table, "leaf") for table in tables])
    records = np.concatenate([read_integers(table, "records") for table in tables])
    sums = np.concatenate([read_sums(table, "sum", list(question.values)) for table in tables])
    marked = np.concatenate([read_marked(table, len(question.marks)) for table in tables])
    if alone is not None and holding is not None:
        holding = np.append(holding, np.zeros(len(alone), dtype=np.uint64))
    # engines answer in any order; records alike in everything may change places
    keys = [*marked.T, *sums.T, *(who for who in (holding, unit) if who is not None), leaf]
    order = np.lexsort(keys)
    if alone is not None and holding is not None:
        nobody = np.flatnonzero(order >= len(named))
        told = repr((list(question.by), list(question.values), question.where.conditions)).encode()
        told += b"".join(key[order].astype("<i8").tobytes() for key in (leaf, *sums.T))
        holding[order[nobody]] = nobodys(len(alone), told)
    return Listed(
        leaf=find(leaves, leaf[order]),
        unit=None if unit is None else unit[order],
        holding=None if holding is None else holding[order],
        records=records[order],
        sums={name: sums[order, i] for i, name in enumerate(question.values)},
        marked={name: marked[order, j] for j, name in enumerate(question.marks)},
    )


# ── who a unit or holding is: the same number in every table, call and engine ───────
#
# It is the BLAKE2b hash, of 64 bits and without a key, of the identifier's canonical text: whole
# numbers as decimal digits, whatever the type of the column (7, 7.0 and the text "7" are one unit,
# as they are within a column); other decimals without trailing zeros; text without padding,
# leading zeros kept, so "07" is another unit. Two of a million units have the same number with a
# probability of 3 in 100 million. Identifiers can be guessed from such numbers: they are
# confidential.


def identities(told: pa.ChunkedArray, kind: Kind, what: str) -> NDArray[np.uint64]:
    """The number of each row's unit or holding; 0 where there is none.

    Only distinct identifiers are hashed.

    `what`: ``"unit"`` or ``"holding"``: identifiers of one are not those of the other.

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

    `told`: what tells the table from others, its contents included.
    """
    return _hashed([told], b"nobody") + np.arange(number, dtype=np.uint64)


def _without_zeros(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


def _hashed(texts: Iterable[bytes], what: bytes) -> NDArray[np.uint64]:
    hashes = [blake2b(text, digest_size=8, person=what).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), dtype=">u8").astype(np.uint64)
