"""Which combinations of keys there are among the records, and how many records have each."""


# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.population import EVERYBODY, Population
from diskret.texts.numbers import Count

#: Weights are whole numbers of units of ``10**-WEIGHT_DECIMALS``.
WEIGHT_DECIMALS = 9
_LARGEST = 2**62


@dataclass(frozen=True)
class KeyQuestion:
    """Which combinations to count.

    `keys`: columns an attacker may know; at least one, none twice. `weight`: column of sampling
    weights > 0, or None. `where`: which records count; the others are not looked at, whatever they
    hold.
    """

    keys: tuple[str, ...]
    weight: str | None = None
    where: Population = EVERYBODY


@dataclass(frozen=True, eq=False)
class KeyCounts:
    """The combinations that occur, c of them, and who has them. Confidential.

    Rows ascend by the codes of the first key, then of the second …, missing first; so they
    depend on the records alone, not on their order or on the engine.

    `keys`: for each key its code in every combination, c codes each. Categories are text or whole
    numbers: dates, times and logical values are told as text. `records`: number of records,
    ``(c,)``, int64. `weight`: exact sum of their weights in units of ``10**-WEIGHT_DECIMALS``,
    ``(c,)``, int64; None without weights.
    """

    keys: tuple[Coded, ...]
    records: NDArray[np.int64]
    weight: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.records)

    def rows(self, values: Sequence[pa.Array]) -> NDArray[np.intp]:
        """In which row of the combinations records stand.

        Gives ndarray of shape (n,): ascending from 0.
        """
        codes = [_key_codes(key, told) for key, told in zip(self.keys, values, strict=True)]
        number = self._numbering.numbers(codes)
        known = self._numbering.found
        row = np.searchsorted(known, number)
        row[row == len(known)] = 0
        strange = int(np.count_nonzero(known[row] != number))
        if strange:
            raise InputError(
                f"{strange:,} {Count(strange):record has|records have} keys that were not there "
                "when the records were counted; they have changed in the meantime: count them "
                "again"
            )
        return row

    @cached_property
    def _numbering(self) -> _Numbering:
        return _numbering(self.keys)


def in_order(names: Sequence[str], batches: pa.RecordBatchReader, weighted: bool) -> KeyCounts:
    """Put an engine's answer in order.

    `batches`: columns ``g0 …`` with the values of the keys, ``records`` and, if weighted,
    ``weight``; a row for each combination, in any order.

    >>> found = pa.table({"g0": ["m", None, "f"], "records": [3, 1, 2]})
    >>> counts = in_order(["sex"], found.to_reader(), weighted=False)
    >>> counts.keys[0].column().to_pylist(), counts.records.tolist()
    ([None, 'f', 'm'], [1, 2, 3])
    """
    coders = [_Coder.of(batches.schema.field(i).type) for i in range(len(names))]
    records: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    weight: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for batch in batches:
        for i, coder in enumerate(coders):
            coder.add(batch.column(i))
        records.append(batch.column("records").to_numpy(zero_copy_only=False))
        if weighted:
            weight.append(_sums(batch.column("weight")))
    batches.close()  # with many combinations every copy counts
    keys = [coder.coded(name) for coder, name in zip(coders, names, strict=True)]
    order = np.argsort(_numbering(keys).found)
    for i, key in enumerate(keys):
        keys[i] = replace(key, codes=key.codes[order])
    return KeyCounts(
        tuple(keys),
        np.concatenate(records)[order].astype(np.int64),
        np.concatenate(weight)[order] if weighted else None,
    )


def _sums(weight: pa.Array) -> NDArray[np.int64]:
    if weight.null_count:
        number = Count(weight.null_count)
        raise InputError(
            f"the weights of {number} {number:combination|combinations} of keys add up to more "
            f"than {2**63 // 10**WEIGHT_DECIMALS:,}; a weight says how many persons of the "
            "population a record stands for"
        )
    return weight.to_numpy(zero_copy_only=False)


# ── codes ───────────────────────────────────────────────────────────────────────────


@dataclass
class _Coder:
    """Numbers the values of a key batch by batch; all of them are put in order at the end.

    To look up each batch among all values before would take the square of their number.
    """

    batches: list[pa.DictionaryArray]

    @staticmethod
    def of(kind: pa.DataType) -> _Coder:
        return _Coder([pa.array([], kind).dictionary_encode()])

    def add(self, values: pa.Array) -> None:
        self.batches.append(values.dictionary_encode())

    def coded(self, name: str) -> Coded:
        together = pa.chunked_array(self.batches).unify_dictionaries()
        self.batches.clear()
        known = together.chunk(0).dictionary
        order = pc.sort_indices(known).to_numpy()
        rank = np.empty(len(order) + 1, dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        rank[-1] = -1  # what is missing has the code -1
        codes = [pc.fill_null(chunk.indices, -1).to_numpy() for chunk in together.chunks]
        return Coded(name, known.take(pa.array(order)), rank[np.concatenate(codes)])


def _key_codes(key: Coded, values: pa.Array) -> NDArray[np.int32]:
    """The codes of values in a key; what is not among its categories has the next code."""
    encoded = values.dictionary_encode()
    at = pc.index_in(encoded.dictionary, value_set=key.categories)
    return _looked_up(encoded, pc.fill_null(at, len(key.categories)))


def _looked_up(encoded: pa.DictionaryArray, at: pa.Array) -> NDArray[np.int32]:
    table = np.append(at.to_numpy(zero_copy_only=False).astype(np.int32), np.int32(-1))
    return table[pc.fill_null(encoded.indices, len(at)).to_numpy(zero_copy_only=False)]


# ── combinations ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Numbering:
    """One number for each combination of codes, ascending as they do.

    `widths`: how many codes each key has, missing and unknown among them. `ranks`: position of a
    key → the numbers of what stands before it, where numbers would grow beyond 64 bits: they go on
    with their ranks. `found`: the numbers of the combinations that occur.
    """

    widths: tuple[int, ...]
    ranks: dict[int, NDArray[np.int64]]
    found: NDArray[np.int64]

    def numbers(self, codes: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
        number = np.zeros(len(codes[0]), dtype=np.int64)
        for i, (column, width) in enumerate(zip(codes, self.widths, strict=True)):
            if i in self.ranks:
                number = _ranked(self.ranks[i], number)
            number = number * width + (column + 1)
        return number


def _numbering(keys: Sequence[Coded]) -> _Numbering:
    widths = tuple(len(key.categories) + 2 for key in keys)
    ranks: dict[int, NDArray[np.int64]] = {}
    number = np.zeros(len(keys[0]), dtype=np.int64)
    span = 1  # numbers so far lie in [0, span)
    for i, (key, width) in enumerate(zip(keys, widths, strict=True)):
        if span * width > _LARGEST:
            ranks[i] = np.unique(number)
            number, span = _ranked(ranks[i], number), len(ranks[i])
        number = number * width + (key.codes + 1)
        span *= width
    return _Numbering(widths, ranks, number)


def _ranked(known: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each number among those known; -1, which stays below 0, if it is unknown."""
    rank = np.searchsorted(known, number)
    rank[rank == len(known)] = 0
    return np.where(known[rank] == number, rank, -1)
