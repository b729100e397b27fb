"""The columns that leave as a file can hold them, a secret order, and new numbers."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.io.columns import content, some
from diskret.keys import SecretKeys

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


def leaving(md: Microdata, names: Sequence[str]) -> pa.Table:
    """The columns, with null for every missing value."""
    columns: dict[str, pa.ChunkedArray] = {}
    odd: list[str] = []
    for name in names:
        values = md.table_column(name)
        if not _plain(values.type):
            odd.append(name)
        if pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), None, values)
        columns[name] = values
    if odd:
        raise InputError(
            f"{some('column', odd)} holds {md.table_column(odd[0]).type} values, which a file of "
            "records cannot hold; turn them into text, numbers or dates, or leave the column out"
        )
    return pa.table(columns)


def _plain(type_: pa.DataType) -> bool:
    types = pa.types
    number = types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_)
    text = types.is_string(type_) or types.is_large_string(type_)
    when = types.is_date(type_) or types.is_timestamp(type_) or types.is_time(type_)
    return number or text or when or types.is_boolean(type_)


def canonical(table: pa.Table) -> NDArray[np.intp]:
    """The rows in ascending order of all columns: the same whatever order they come in, ``(n,)``.

    Rows that agree in everything keep their order.
    """
    keys = [(name, "ascending") for name in table.column_names]
    return pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.intp)


def draws(keys: SecretKeys, name: str, table: pa.Table) -> np.random.Generator:
    """Random numbers that only the holder of the key can draw again, for these very records."""
    mark = keys.fingerprint(f"order of records: {name}", content(table))
    return np.random.Generator(np.random.PCG64(int(mark, 16)))


def drawn_order(
    keys: SecretKeys, name: str, table: pa.Table
) -> tuple[NDArray[np.intp], np.random.Generator]:
    """A secret order of these records, ``(n,)``, and the source of further draws about them.

    It does not depend on the order that they come in.
    """
    first = canonical(table)
    draw = draws(keys, name, table.take(pa.array(first)))
    return first[draw.permutation(table.num_rows)], draw


def record_numbers(n: int, draw: np.random.Generator) -> pa.Array:
    """New numbers of n records in random order, all with as many digits."""
    return pa.array(_numbers(n, draw))


def household_numbers(household: Coded, draw: np.random.Generator) -> pa.Array:
    """New numbers of households, drawn at random; members keep one number in common.

    Null where a record belongs to no household.
    """
    number = np.append(_numbers(len(household.categories), draw), 0)
    return pa.array(number[household.codes], mask=household.codes < 0)


def _numbers(n: int, draw: np.random.Generator) -> NDArray[np.int64]:
    return draw.permutation(n) + 10 ** len(str(n))
