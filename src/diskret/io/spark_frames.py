"""Frames of Spark in and out, as Arrow tables."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

import pyarrow as pa

from diskret.errors import InputError


def is_spark_frame(frame: Any) -> bool:
    """Whether it is a Spark data frame, in this process or behind Spark Connect.

    >>> is_spark_frame(pa.table({"region": ["01"]}))
    False
    """
    from narwhals import dependencies as known

    return known.is_pyspark_dataframe(frame) or known.is_pyspark_connect_dataframe(frame)


def frame_to_arrow(frame: Any) -> pa.Table:
    """Fetch all rows of a Spark data frame."""
    from pyspark.errors import PySparkException

    try:
        return frame.toArrow()
    except PySparkException as error:
        raise InputError(f"the Spark frame cannot be read: {first_line(error)}") from error


def arrow_to_frame(table: pa.Table, session: Any = None) -> Any:
    """Make a Spark data frame of an Arrow table.

    `table`: the rows. Unsigned numbers become wider signed ones, which Spark lacks; a time without
    a zone stays one. `session`: the session to make it in; None: the one that is active.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = pa.schema([(field.name, _signed(field.type)) for field in table.schema])
    try:
        found = session or SparkSession.active()
        rows = table.cast(schema)
        return found.createDataFrame(rows, from_arrow_schema(schema, prefer_timestamp_ntz=True))
    except (PySparkException, pa.ArrowException, ValueError) as error:
        raise InputError(
            f"no Spark frame can be made: {first_line(error)}; keep the session open, or hand "
            "Spark columns of other types"
        ) from error


def first_line(error: BaseException) -> str:
    """What Spark says is wrong, without the query and the many lines of its trace."""
    return str(error).strip().partition("\n")[0]


def _signed(arrow_type: pa.DataType) -> pa.DataType:
    if pa.types.is_uint64(arrow_type):
        return pa.decimal128(20)
    if pa.types.is_unsigned_integer(arrow_type):
        return pa.int64() if arrow_type.bit_width == 32 else pa.int32()
    return arrow_type
