"""The cells of controlled tables in the original file, kept by the office beside a safe file."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from diskret.errors import InputError
from diskret.tables.counted import TableCounts
from diskret.tables.lists import TableLists, each


def written(counts: Sequence[TableCounts]) -> pa.Table:
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


def read(cells: pa.Table, lists: TableLists) -> Iterator[TableCounts]:
    """The counts again, one table after another.

    Raises
    ------
    InputError
        These are not the cells of these tables.
    """
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
