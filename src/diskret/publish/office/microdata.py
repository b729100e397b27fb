"""What the office keeps of released records: which they were, their counts, what was claimed."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.columns import content
from diskret.keys import SecretKeys
from diskret.tables.counted import TableCounts
from diskret.tables.lists import TableLists, each


@dataclass(frozen=True, eq=False)
class Inside:
    """What the office knows of the released records and claims are checked with. Confidential.

    For each record, ``(n,)``: its row in the original file, from 1; its weight, None if the records
    are all there are; a number for its household (null: it has none), None if households are not
    named.
    """

    row: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    household: pa.ChunkedArray | None

    def columns(self) -> pa.Table:
        """The same as columns ``row``, ``weight`` and ``household``, those that there are."""
        made: dict[str, Any] = {"row": pa.array(self.row)}
        if self.weight is not None:
            made["weight"] = pa.array(self.weight)
        if self.household is not None:
            made["household"] = self.household
        return pa.table(made)

    @classmethod
    def read(cls, columns: pa.Table) -> Inside:
        """From these columns, as they are read back from the office's file."""
        there = columns.column_names
        return cls(
            columns.column("row").to_numpy(),
            columns.column("weight").to_numpy() if "weight" in there else None,
            columns.column("household") if "household" in there else None,
        )


def record_marks(
    keys: SecretKeys, original: pa.Table | None, records: pa.Table, kept: Iterable[bytes]
) -> dict[str, str]:
    """Keyed fingerprints of the original file, and of what left with what the office keeps."""
    released = keys.fingerprint("released records", [*content(records), *kept])
    if original is None:
        return {"released": released}
    return {"records": keys.fingerprint("records", content(original)), "released": released}


def claim_as_json(claim: Any) -> dict[str, Any]:
    """A claim by its name and arguments; a population is left out."""
    return {
        "claim": type(claim).__name__,
        **{
            field.name: value
            for field in fields(claim)
            if _kept(value := getattr(claim, field.name))
        },
    }


def claim_from_json(content_: Mapping[str, Any]) -> Any:
    """The claim again; the population of a `KMap` is not kept, and None here.

    An `InputError` if there is no such claim.
    """
    from diskret.attack.microdata.claims import Claim, KMap, Safe

    kinds: dict[str, Any] = {kind.__name__: kind for kind in (*get_args(Claim), Safe)}
    arguments = {name: value for name, value in content_.items() if name != "claim"}
    kind = str(content_.get("claim"))
    if kind not in kinds:
        raise InputError(f"{kind!r} is no claim of microdata")
    return kinds[kind](**({"population": None} if kind == KMap.__name__ else {}), **arguments)


def _kept(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, tuple, list, dict))


# ── the cells of controlled tables in the original file, beside a safe file ──────────


def controlled_cells(counts: Sequence[TableCounts]) -> pa.Table:
    """One row for each cell: ``table`` from 1, the values ``code 1``, …, and ``original``."""
    most = max((len(one.columns) for one in counts), default=0)
    tables = [
        pa.table(
            {
                "table": pa.array(np.full(len(one.count), number, dtype=np.int32)),
                **{
                    f"code {at + 1}": one.values[at].dictionary_decode()
                    if at < len(one.values)
                    else pa.nulls(len(one.count), pa.string())
                    for at in range(most)
                },
                "original": pa.array(one.count),
            }
        )
        for number, one in enumerate(counts, start=1)
    ]
    return pa.concat_tables(tables)


def read_controlled(cells: pa.Table, lists: TableLists) -> Iterator[TableCounts]:
    """The counts again, one table after another; an `InputError` if these are not their cells."""
    tables = each(lists)
    try:
        number = cells.column("table").to_numpy()
        ends = np.searchsorted(number, np.arange(len(tables) + 1), side="right")
        if (np.diff(number) < 0).any() or ends[0] or ends[-1] != len(number):
            raise InputError("the cells are not in the order of the tables")
        for (columns, counter), start, end in zip(tables, ends[:-1], ends[1:], strict=True):
            part = cells.slice(start, end - start)
            values = tuple(_encoded(part.column(f"code {at + 1}")) for at in range(len(columns)))
            count = part.column("original").to_numpy().astype(np.int64)
            yield TableCounts(columns, counter, values, count)
    except (KeyError, pa.ArrowException) as error:
        raise InputError(f"the cells of controlled tables cannot be read: {error}") from None


def _encoded(values: pa.ChunkedArray) -> pa.DictionaryArray:
    encoded = values.cast(pa.string()).combine_chunks().dictionary_encode()
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
