"""Frames of any kind in, the same kind out."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diskret.errors import InputError
from diskret.io.code_book import CodeBook
from diskret.io.columns import check_names, some
from diskret.io.csv_files import csv_source, read_csv
from diskret.io.data_file import OTHER_WORKBOOKS, PACKED, DataFile
from diskret.io.database import PostgresTable
from diskret.io.files import (
    parquet_blocks,
    parquet_columns,
    parquet_parts,
    parquet_schemas,
    read_parquet,
)
from diskret.io.fixed import Column, fixed_table
from diskret.io.sources import FrameKind, Source
from diskret.io.spark_frames import arrow_to_frame, frame_to_arrow, is_spark_frame

if TYPE_CHECKING:
    import narwhals as nw

#: What is read without narwhals, which takes longer to load than a small table to be read.
_ARROW = (pa.Table, pa.RecordBatch, pa.RecordBatchReader)

_ACCEPTED = (
    "accepted are pandas, Polars, PyArrow and Spark tables, DuckDB relations, the path of a "
    ".parquet, .csv, .txt, .tsv, .xlsx, .px, .json (JSON-stat), .sas7bdat, .xpt, .sav or .dta "
    "file, a DataFile that says how a file is read, a list or a folder of .parquet files, and a "
    "PostgresTable"
)

#: Said wherever nothing would be counted: tables of zeros would look like results.
NO_RECORDS = "there are no records, maybe a header and nothing below it; is it the right file?"

_INCONVERTIBLE = (pa.ArrowException, OverflowError)  # the latter for integers beyond 64 bits


def source(records: Any) -> Source:
    """Open a frame or a path (Parquet, CSV) as a source of records.

    Frames are taken into memory as Arrow; files stay where they are, only their column
    names are read; a database is not asked, and a Spark frame not computed, before an engine is.

    `records`: A pandas or Polars data frame, a Polars lazy frame, a PyArrow table, record batch or
    record batch reader, a DuckDB relation (run on its own connection), a Spark data frame, the path
    of a ``.parquet``, ``.csv``, ``.txt`` or ``.xlsx`` file, a list of ``.parquet`` paths, a
    folder of them as Spark writes it, a [`DataFile`][diskret.DataFile], or a table in a database,
    as [`PostgresTable`][diskret.io.PostgresTable]. A CSV file of which nothing is said is UTF-8
    with one header line; its delimiter, one of ``,``, ``;``, tab and ``|``, is the one that is most
    frequent in the header. It is read into memory if its lines end in more than one way. A pandas
    index is dropped, category types become plain columns.

    >>> import pyarrow as pa
    >>> opened = source(pa.table({"region": ["01", "02"], "turnover": [3, 4]}))
    >>> opened.columns, opened.kind
    (('region', 'turnover'), 'pyarrow')
    """
    if isinstance(records, Source):
        return records
    if isinstance(records, PostgresTable):
        return Source((), "pyarrow", database=records)
    if isinstance(records, (str, PathLike)):
        records = DataFile(records)
    if isinstance(records, DataFile):
        return replace(_file_source(records), opened=records)  # so that errors name its lines
    if isinstance(records, (list, tuple)):
        return _list_source(records)
    if not isinstance(records, _ARROW) and is_spark_frame(records):
        check_names(records.columns)
        return Source(tuple(records.columns), "spark", spark=records)
    table, kind = _frame_to_arrow(records)
    return Source(tuple(table.column_names), kind, arrow=table)


def to_arrow(
    frame: Any,
    numbers: Collection[str | None] = (),
    but: Collection[str] = (),
    told: Collection[str | None] = (),
) -> tuple[pa.Table, FrameKind]:
    """Read any frame as an Arrow table, and tell the kind it came as.

    Text columns are ``string`` or ``large_string``, never dictionaries. Columns of `numbers` are
    `spelled` as usual, but for texts of `but`; codes that mean missing are missing there, and in
    those of `told`.
    """
    opened = spelled(source(frame), numbers, but, told)
    return in_memory(opened), opened.kind


def spelled(
    opened: Source,
    numbers: Collection[str | None],
    but: Collection[str] = (),
    told: Collection[str | None] = (),
) -> Source:
    """The source with some columns as numbers: spelled as usual, and none that means missing.

    `told`: columns that tell units, households or answers: as they are written, and there a code
    that means missing is none, either.

    Raises
    ------
    InputError
        A text in them is no number as the file is said to write them, and none of `but`.
    """
    spelling, table = opened.spelling, opened.arrow
    if table is None:
        return opened
    for name in dict.fromkeys(told):
        if opened.book is not None and name in opened.book.with_missing and name in opened.columns:
            at = opened.columns.index(name)
            table = table.set_column(at, name, opened.book.without_missing(name, table.column(at)))
    opened = replace(opened, arrow=table)
    if spelling is None and not opened.numbers:
        return opened
    for name in dict.fromkeys(numbers):
        if name not in opened.columns:
            continue
        at = opened.columns.index(name)
        if name in opened.numbers:
            table = table.set_column(at, name, opened.numbers[name])
        elif spelling is not None:
            table = table.set_column(at, name, spelling.plain(table.column(at), name, but))
    return replace(opened, arrow=table, spelling=None, numbers={})


def in_memory(opened: Source) -> pa.Table:
    """The records of a source as an Arrow table."""
    if opened.cells is not None:
        raise InputError(
            f"the cells in {opened.cells.name!r} are computed where records are tabulated; "
            "dk.spatial.locate makes a frame that has them"
        )
    if opened.database is not None:
        raise InputError(
            f"{opened.database!r} stays in its database: it can be tabulated, but not read as a "
            "frame; fetch what you need first"
        )
    if opened.spark is not None:
        return _plain(frame_to_arrow(opened.spark))
    return opened.arrow if opened.arrow is not None else _read(opened)


def arrow_types(opened: Source) -> dict[str, pa.DataType]:
    """The type that each column has, or has once it is in memory.

    >>> arrow_types(source(pa.table({"age": [31]})))
    {'age': DataType(int64)}
    """
    if opened.format == "parquet":
        schemas = [pa.schema(_plain_fields(schema)) for schema in parquet_schemas(opened.paths)]
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    else:
        schema = in_memory(opened).schema
    return dict(zip(schema.names, schema.types, strict=True))


def blocks(opened: Source, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """The records block by block, some columns; Parquet files are not read at once.

    >>> ages = source(pa.table({"age": [31, 84, 7]}))
    >>> [block.num_rows for block in blocks(ages, ["age"], 2)]
    [2, 1]
    """
    if opened.format == "parquet":
        yield from parquet_blocks(opened.paths, columns, rows)
    else:
        yield from in_memory(opened).select(list(columns)).to_batches(max_chunksize=rows)


def from_arrow(table: pa.Table, kind: FrameKind) -> Any:
    """Turn an Arrow table into the kind of frame the user works with.

    `kind`: ``"pandas"``, ``"polars"`` (a data frame, also where a lazy frame came in),
    ``"pyarrow"``, ``"duckdb"``: a relation on a private in-memory connection, which the relation
    itself keeps open for as long as it lives, or ``"spark"``: a data frame of the active session.

    >>> from_arrow(pa.table({"region": ["01"]}), "duckdb").fetchall()
    [('01',)]
    """
    if kind == "pyarrow":
        return table
    if kind == "duckdb":
        return _duckdb_relation(table)
    if kind == "spark":
        return arrow_to_frame(table)
    import narwhals as nw

    return nw.from_arrow(table, backend=kind).to_native()


# ── frames ──────────────────────────────────────────────────────────────────────────


def _frame_to_arrow(frame: Any) -> tuple[pa.Table, FrameKind]:
    if not isinstance(frame, _ARROW):
        return _other_to_arrow(frame)
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()
    elif isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    check_names(frame.column_names)
    return _plain(frame), "pyarrow"


def _other_to_arrow(frame: Any) -> tuple[pa.Table, FrameKind]:
    import narwhals as nw
    from narwhals import dependencies as known

    if known.is_pandas_dataframe(frame):
        check_names(frame.columns)  # before narwhals: it makes text of all names
        return _plain(_pandas_to_arrow(frame)), "pandas"
    if known.is_polars_dataframe(frame) or known.is_polars_lazyframe(frame):
        table = _polars_to_arrow(nw.from_native(frame).lazy().collect())
        check_names(table.column_names)
        return _plain(table), "polars"
    if known.is_duckdb_relation(frame):
        table = frame.to_arrow_table()
        check_names(table.column_names)
        return _plain(table), "duckdb"
    raise InputError(f"{_kind(frame)} cannot be read as a table; {_ACCEPTED}")


def _pandas_to_arrow(frame: Any) -> pa.Table:
    import narwhals as nw

    classes = {name: frame[name].astype("string") for name in frame.columns if _spans(frame[name])}
    if classes:
        frame = frame.assign(**classes)
    # narwhals carries an index over as a column; it is no variable of the records.
    records = nw.maybe_reset_index(nw.from_native(frame, eager_only=True))
    try:
        return records.to_arrow()
    except _INCONVERTIBLE as error:
        mixed = [name for name in records.columns if not _convertible(records[name])]
        raise InputError(
            f"{some('column', mixed)} of the pandas frame cannot be converted to one type "
            f"({error.args[0]}); give every value the same type, e.g. "
            "frame[name] = frame[name].astype(str), or leave the column out"
        ) from error


def inconvertible(frame: Any, but: Collection[str] = ()) -> list[str]:
    """The columns of a pandas frame that hold values of no one type, but for some not looked at."""
    import narwhals as nw

    if not frame.columns.is_unique:
        return []  # said where names are checked
    names = [name for name in frame.columns if isinstance(name, str) and name not in but]
    loose = [name for name in names if str(frame[name].dtype) in ("object", "category")]
    records = nw.from_native(frame[loose], eager_only=True)
    return [name for name in loose if not _convertible(records[name])]


def _spans(column: Any) -> bool:
    """Whether a column of pandas holds classes such as (0, 5] or months, which Arrow does not."""
    categories = getattr(column.dtype, "categories", None)
    dtype = column.dtype if categories is None else categories.dtype
    return str(dtype).startswith(("interval", "period"))


def _convertible(column: nw.Series[Any]) -> bool:
    try:
        column.to_arrow()
    except _INCONVERTIBLE:
        return False
    return True


def _polars_to_arrow(frame: nw.DataFrame[Any]) -> pa.Table:
    import narwhals as nw

    # Polars would hand the memory addresses of Python objects over as if they were data.
    objects = [name for name, dtype in frame.schema.items() if dtype == nw.Object]
    if objects:
        raise InputError(
            f"{some('column', objects)} of the Polars frame holds Python objects; "
            "convert them to text or numbers, or leave them out"
        )
    return frame.to_arrow()


def _plain(table: pa.Table) -> pa.Table:
    """Decode dictionaries, make untyped columns text, drop metadata."""
    return table.cast(pa.schema(_plain_fields(table.schema))).replace_schema_metadata(None)


def _plain_fields(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, _plain_type(field.type)) for field in schema]


def _plain_type(arrow_type: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(arrow_type):
        inner = _plain_type(arrow_type.value_type)
        # Decoded text can be far longer than the dictionary was.
        return pa.large_string() if pa.types.is_string(inner) else inner
    if pa.types.is_null(arrow_type) or pa.types.is_string_view(arrow_type):
        return pa.large_string()
    return arrow_type


def _duckdb_relation(table: pa.Table) -> Any:
    import duckdb

    # Records must not be spilled into the user's working folder, DuckDB's default.
    connection = duckdb.connect(config={"temp_directory": ""})
    # DuckDB renames Arrow columns that differ in case only; a projection leaves names alone.
    plain = [f"c{i}" for i in range(table.num_columns)]
    relation = connection.from_arrow(table.rename_columns(plain))
    names = zip(plain, table.column_names, strict=True)
    return relation.project(*(duckdb.ColumnExpression(c).alias(name) for c, name in names))


# ── files ───────────────────────────────────────────────────────────────────────────


def _list_source(paths: list[Any] | tuple[Any, ...]) -> Source:
    others = [path for path in paths if not isinstance(path, (str, PathLike))]
    if not paths or others:
        what = f"a list with {_kind(others[0])} in it" if others else "an empty list"
        raise InputError(f"{what} cannot be read as a table; {_ACCEPTED}")
    if len(paths) == 1:
        return _file_source(DataFile(paths[0]))
    files = [DataFile(path) for path in paths]
    for one in files:
        _check_there(one)
    if any(one.format != "parquet" for one in files):
        raise InputError(f"several files can be read together only if all are Parquet; {_ACCEPTED}")
    together = tuple(one.file for one in files)
    return Source(parquet_columns(together), "pyarrow", paths=together, format="parquet")


def _file_source(said: DataFile) -> Source:
    path = said.file
    parts = parquet_parts(path) if path.is_dir() and said.format in (None, "parquet") else ()
    if parts:
        return Source(parquet_columns(parts), "pyarrow", paths=parts, format="parquet")
    _check_there(said)
    if said.format == "parquet":
        return Source(parquet_columns((path,)), "pyarrow", paths=(path,), format="parquet")
    if said.format == "fixed":
        columns = [column for column in said.columns if isinstance(column, Column)]
        table = fixed_table(path, columns, said.encoding or "utf-8")
    elif said.format == "xlsx":
        from diskret.io.workbook import read_workbook

        table = read_workbook(said)
    elif said.format in ("sas7bdat", "xpt", "sav", "dta"):
        from diskret.io.statistical import read_statistical

        table, numbers, book = read_statistical(said)
        names = tuple(table.column_names)
        return Source(names, "pyarrow", arrow=table, numbers=numbers, book=book)
    elif said.format in ("px", "jsonstat", "sdmx"):
        table, book = _exchanged(said)
        return Source(tuple(table.column_names), "pyarrow", arrow=table, book=book)
    else:
        return csv_source(said)
    return Source(tuple(table.column_names), "pyarrow", arrow=table, spelling=said.spelling)


def _exchanged(said: DataFile) -> tuple[pa.Table, CodeBook]:
    """The cells of a file for exchange, and what it says of them."""
    match said.format:
        case "px":
            from diskret.io.px import read_px as read
        case "jsonstat":
            from diskret.io.json_stat import read_json_stat as read
        case _:
            from diskret.io.sdmx_csv import read_sdmx_csv as read
    return read(said)


def _check_there(said: DataFile) -> None:
    path = said.file
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a file; {_ACCEPTED}")
    if path.suffix.lower() in OTHER_WORKBOOKS and said.format is None:
        raise InputError(
            f"{path}: is read as .xlsx only; open it in a spreadsheet program and save it so"
        )
    if path.suffix.lower() in PACKED and said.format is None:
        raise InputError(f"{path}: is packed; unpack it, and name what was in it")
    if said.format is None:
        raise InputError(f"{path}: the suffix {path.suffix!r} is not known; {_ACCEPTED}")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file in {path.parent.resolve()}")


def _read(opened: Source) -> pa.Table:
    if opened.format == "parquet":
        tables = [_plain(table.select(opened.columns)) for table in read_parquet(opened.paths)]
        return pa.concat_tables(tables, promote_options="permissive")
    return read_csv(opened.paths[0], opened.columns, opened.delimiter)


def _kind(thing: Any) -> str:
    return f"an object of type {type(thing).__name__!r}"
