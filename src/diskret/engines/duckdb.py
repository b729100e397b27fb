"""The default engine: DuckDB inside this process, fenced off from everything else."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import duckdb
import pyarrow as pa
from sqlglot.expressions import Select

from diskret.engines import sql
from diskret.engines.answer import answer
from diskret.engines.columns import Column, Kind
from diskret.engines.duckdb_connection import connected, first_line
from diskret.engines.intervals import Intervals
from diskret.engines.key_counts import key_counts, key_values
from diskret.engines.keys import KeyCounts, KeyQuestion
from diskret.engines.perturbed import perturbed
from diskret.engines.protocol import LeafQuestion, Leaves, PerturbedCounts
from diskret.errors import InputError
from diskret.io import Source
from diskret.io.files import mixed_line_ends

#: Rows of an answer that are handed over together.
BATCH = 1_000_000


class DuckDBEngine:
    """Records in an in-memory DuckDB of their own.

    The connection reaches no network, no extensions and no files but those of the source and
    a private spill folder, which is removed with the engine. Few records in memory need no folder;
    the empty database is kept for the next engine after this one.

    Parameters
    ----------
    source
        The records: scanned where they are, not copied.
    memory_limit
        What DuckDB may use before it spills to disk, e.g. ``"4GB"``; None: 80 % of memory.
    threads
        Number of threads, ≥ 1; None: all cores, or one for few records in memory. No answer
        depends on it.

    Raises
    ------
    InputError
        An option cannot be used, or a file cannot be read.

    Examples
    --------
    >>> from diskret.engines import LeafQuestion
    >>> from diskret.hierarchy import Hierarchy
    >>> records = pa.table({"region": ["N", "N", "S"], "turnover": ["1.5", "2", "4"]})
    >>> question = LeafQuestion(by={"region": None}, values={"turnover": 1})
    >>> with DuckDBEngine(Source(("region", "turnover"), "pyarrow", records)) as engine:
    ...     leaves = engine.leaves(question)
    >>> leaves.count.tolist(), leaves.sums["turnover"].tolist()
    ([2, 1], [35, 40])
    """

    name: Literal["duckdb"] = "duckdb"

    def __init__(
        self, source: Source, memory_limit: str | None = None, threads: int | None = None
    ) -> None:
        if source.database is not None:
            raise InputError(f"DuckDB does not read {source.database!r}; leave engine= out")
        if source.spark is not None:
            raise InputError("DuckDB does not read Spark frames; leave engine= out")
        connection, close = connected(source, memory_limit, threads)
        self._close = weakref.finalize(self, close)
        self._csv = source.paths if source.format == "csv" else ()
        try:
            self._records = _open(connection, source)
        except BaseException:
            self.close()
            raise

    def leaves(self, question: LeafQuestion) -> Leaves:
        """Aggregate the records at leaf level, exactly.

        Parameters
        ----------
        question
            What to aggregate.

        Raises
        ------
        InputError
            As stated by [`Engine.leaves`][diskret.engines.Engine]; or the engine is closed,
            out of memory, or a file cannot be read.
        HierarchyError
            A code is not a leaf of its tree.
        """
        with self._asked() as records:
            return answer(question, records)

    def perturbed(
        self, question: LeafQuestion, noise: Intervals, threshold: int = 1
    ) -> PerturbedCounts:
        """Count and perturb all cells, totals included, in one statement.

        Parameters
        ----------
        question
            What to count.
        noise
            The noise of each count and cell key.
        threshold
            The least perturbed count that comes back, ≥ 1.

        Raises
        ------
        InputError
            As stated by [`Engine.perturbed`][diskret.engines.Engine]; or as for `leaves`.
        HierarchyError
            A code is not a leaf of its tree.
        """
        with self._asked() as records:
            return perturbed(question, noise, threshold, records)

    def frequencies(self, question: KeyQuestion) -> KeyCounts:
        """Count the records of each combination of keys, and add up their weights, exactly.

        Parameters
        ----------
        question
            Keys, weight and filter.

        Raises
        ------
        InputError
            As stated by [`Engine.frequencies`][diskret.engines.Engine]; or as for `leaves`.
        """
        with self._asked() as records:
            return key_counts(question, records)

    def key_values(self, question: KeyQuestion) -> Generator[tuple[pa.RecordBatch, list[pa.Array]]]:
        """The records with all their columns, and what they have in each key, block by block.

        They come in the order in which they lie; if there is a filter, those that satisfy it.

        Parameters
        ----------
        question
            Keys, weight and filter.

        Raises
        ------
        InputError
            As for `frequencies`.
        """
        with self._asked() as records:
            number = len(records.columns)
            for block in records.in_order(key_values(question, records)):
                yield block.select(range(number)), block.columns[number:]

    def close(self) -> None:
        """Give back memory and the private spill folder."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _asked(self) -> Generator[_Records]:
        if not self._close.alive:
            raise InputError("the engine is closed; open a new one for another question")
        with _explained(self._csv):
            yield self._records


@dataclass(frozen=True, eq=False)
class _Records:
    """Records as `answer` wants them."""

    connection: duckdb.DuckDBPyConnection
    columns: tuple[Column, ...]

    def fetch(self, query: Select) -> pa.Table:
        return self.connection.sql(_text(query)).to_arrow_table()

    def stream(self, query: Select) -> pa.RecordBatchReader:
        return self.connection.sql(_text(query)).to_arrow_reader(BATCH)

    def in_order(self, query: Select) -> Generator[pa.RecordBatch]:
        self.connection.execute("SET preserve_insertion_order = true")
        try:
            yield from self.stream(query)
        finally:
            self.connection.execute("SET preserve_insertion_order = false")

    def attach(self, name: str, table: pa.Table) -> None:
        self.connection.register(name, table)

    def keep(self, name: str, query: Select) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {_text(query)}")


@lru_cache(maxsize=128)
def _text(query: Select) -> str:
    return sql.text(query, "duckdb")


_CSV = """
    SELECT * FROM read_csv(
        $paths, delim = $delimiter, columns = $columns,
        header = true, quote = '"', escape = '"', auto_detect = false
    )
"""


def _open(connection: duckdb.DuckDBPyConnection, source: Source) -> _Records:
    """Make the relation ``source`` with the columns ``c0 …``."""
    names = [f"c{i}" for i in range(len(source.columns))]
    paths = [str(Path(path).resolve()) for path in source.paths]
    connection.execute("SET enable_progress_bar = false")
    with _explained(source.paths if source.format == "csv" else ()):
        if source.arrow is not None:
            connection.register("source", source.arrow.rename_columns(names))
        elif source.format == "csv":
            # all columns as text, so that leading zeros stay
            columns = dict.fromkeys(names, "VARCHAR")
            options = {"paths": paths, "delimiter": source.delimiter, "columns": columns}
            connection.sql(_CSV, params=options).create_view("source")
        else:
            scan = "SELECT * FROM read_parquet($paths, hive_partitioning = false)"
            scan += f" AS t({', '.join(names)})"
            connection.sql(scan, params={"paths": paths}).create_view("source")
        types = connection.table("source").types
    found = zip(source.columns, names, types, strict=True)
    return _Records(connection, tuple(Column(n, c, _kind(t.id), str(t)) for n, c, t in found))


_SIGNED = ("tinyint", "smallint", "integer", "bigint")
_KINDS: dict[str, Kind] = {
    "varchar": "text",
    "null": "text",  # a column with nothing but nulls
    **dict.fromkeys(("decimal", "hugeint", "uhugeint"), "decimal"),
    **dict.fromkeys((*_SIGNED, *(f"u{name}" for name in _SIGNED)), "integer"),
    **dict.fromkeys(("float", "double"), "float"),
    **dict.fromkeys(("boolean", "date", "time", "uuid", "enum"), "other"),
}


def _kind(type_id: str) -> Kind:
    return "other" if type_id.startswith("timestamp") else _KINDS.get(type_id, "unusable")


@contextmanager
def _explained(csv: Sequence[Path] = ()) -> Generator[None]:
    """Errors of DuckDB as ours; `csv`: files that may be to blame."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            "DuckDB ran out of memory; give it more with memory_limit=, fewer threads=, or more "
            f"space for temporary files ({first_line(error)})"
        ) from error
    except duckdb.Error as error:
        mixed = next(filter(None, map(mixed_line_ends, csv)), None)
        raise InputError(mixed or _unreadable(csv, error)) from error


def _unreadable(files: Sequence[Path], error: duckdb.Error) -> str:
    check = "check that every row has all columns"
    if not files:
        return f"the records cannot be read; {check} ({first_line(error)})"
    return f"{', '.join(map(str, files))}: cannot be read; {check} ({first_line(error)})"
