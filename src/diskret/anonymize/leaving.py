"""The columns that leave, as a file of records can hold them."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.io.names import some

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


def leaving(md: Microdata, names: Sequence[str]) -> pa.Table:
    """The columns, with null for every missing value.

    Raises
    ------
    InputError
        A file of records cannot hold the values of a column.
    """
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
