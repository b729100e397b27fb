"""What columns of a type hold."""

import pyarrow as pa


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds whole or floating point numbers; decimals are neither."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)
