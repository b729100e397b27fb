"""Records in Spark are aggregated where they are; what comes back has the size of a table."""

from __future__ import annotations

import re
import uuid
import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

import pyarrow as pa
from sqlglot.expressions import Select

from diskret.engines import spark_sql
from diskret.engines.answer import answer
from diskret.engines.columns import Column, Kind
from diskret.engines.intervals import Intervals
from diskret.engines.key_counts import key_counts
from diskret.engines.keys import KeyCounts, KeyQuestion
from diskret.engines.perturbed import perturbed
from diskret.engines.protocol import LeafQuestion, Leaves, PerturbedCounts
from diskret.engines.spark_session import explained, session, spark_errors
from diskret.errors import InputError
from diskret.io import Source
from diskret.io.spark import arrow_to_frame


class SparkEngine:
    """Records in a Spark data frame, or in files that Spark reads.

    A frame is read in its own session, which is never stopped. Files are read in the active
    session; where there is none, one is started, and stopped with the engine. Nothing is
    written but what Spark itself spills: the engine makes temporary views with names of its
    own, which are dropped. Only aggregates and contributors in several leaf combinations
    come to this process.

    A frame is computed several times for one question, once for each query. If that is
    expensive, or does not give the same rows each time, call ``frame.cache()`` before.

    Parameters
    ----------
    source
        The records.

    Raises
    ------
    InputError
        Spark is not installed or cannot be started, the records lie in a database, or a
        file cannot be read.

    Examples
    --------
    >>> from diskret.io import PostgresTable, source
    >>> SparkEngine(source(PostgresTable("postgresql://localhost/register", "firms")))
    Traceback (most recent call last):
    ...
    diskret.errors.InputError: Spark does not read ...
    """

    name: Literal["spark"] = "spark"

    def __init__(self, source: Source) -> None:
        if source.database is not None:
            raise InputError(
                f"Spark does not read {source.database!r}; leave engine= out, or hand over the "
                "frame of spark.read.jdbc(...)"
            )
        frame = source.spark
        running, ours = session() if frame is None else (frame.sparkSession, False)
        self._views = _Views(running)
        self._close = weakref.finalize(self, _close, self._views, ours)
        self._close.atexit = False  # Spark ends with the process, and its views with it
        try:
            with explained():
                self._columns = _open(self._views, source)
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
            or Spark cannot compute the records.
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

    def close(self) -> None:
        """Drop the views; stop the session if it was started here."""
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
        with explained():
            try:
                yield _Records(self._views, self._columns)
            finally:
                self._views.drop(but="source")


@dataclass(frozen=True, eq=False)
class _Views:
    """Temporary views of a session, under names that nobody else has."""

    session: Any
    prefix: str = field(default_factory=lambda: f"diskret_{uuid.uuid4().hex}")
    frames: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def names(self) -> dict[str, str]:
        """Relation → its view."""
        return {relation: f"{self.prefix}_{relation}" for relation in self.frames}

    def make(self, relation: str, frame: Any) -> None:
        """Make a view, replacing an earlier one."""
        self._forget(relation)
        self.frames[relation] = frame
        frame.createOrReplaceTempView(self.names[relation])

    def drop(self, but: str = "") -> None:
        """Drop all views but one."""
        for relation in [relation for relation in self.frames if relation != but]:
            self._forget(relation)

    def _forget(self, relation: str) -> None:
        if relation in self.frames:
            name = self.names[relation]
            frame = self.frames.pop(relation)
            with suppress(*spark_errors()):  # a lost session has no views any more
                self.session.catalog.dropTempView(name)
                if relation == "kept":
                    frame.unpersist()


@dataclass(frozen=True, eq=False)
class _Records:
    """Records as `answer` wants them."""

    views: _Views
    columns: tuple[Column, ...]

    def fetch(self, query: Select) -> pa.Table:
        return self._asked(query).toArrow()

    def stream(self, query: Select) -> pa.RecordBatchReader:
        return self.fetch(query).to_reader()

    def attach(self, name: str, table: pa.Table) -> None:
        from pyspark.sql.functions import broadcast

        # Spark does not know that the table is small, and would sort all records for the join
        self.views.make(name, broadcast(arrow_to_frame(table, self.views.session)))

    def keep(self, name: str, query: Select) -> None:
        self.views.make(name, self._asked(query).persist())

    def _asked(self, query: Select) -> Any:
        return self.views.session.sql(spark_sql.text(query, self.views.names))


def _close(views: _Views, ours: bool) -> None:
    views.drop()
    if ours:
        with suppress(*spark_errors()):
            views.session.stop()


# ── what the records hold ───────────────────────────────────────────────────────────

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("string", "char", "varchar", "void"), "text"),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    "decimal": "decimal",
    **dict.fromkeys(("float", "double"), "float"),
    **dict.fromkeys(("boolean", "date", "time", "timestamp", "timestamp_ntz"), "other"),
}
# The zone of a session must not decide about codes.
_UTC = (
    "CONCAT(CAST(TIMESTAMPADD(MICROSECOND, UNIX_MICROS({c}), "
    "TIMESTAMP_NTZ '1970-01-01 00:00:00') AS STRING), '+00')"
)


def _open(views: _Views, source: Source) -> tuple[Column, ...]:
    """Make the relation ``source`` with the columns ``c0 …``."""
    from pyspark.sql.functions import expr

    frame = _frame(views.session, source)
    internal = [f"c{i}" for i in range(len(source.columns))]
    renamed = frame.toDF(*internal)  # by place: names may hold anything, and differ in case only
    types = [column.dataType.simpleString() for column in renamed.schema]
    read = [_read(c, name) for c, name in zip(internal, types, strict=True)]
    # Dropping a view also drops what is cached under an equal plan, which may be the user's;
    # with a column of its own no other plan is equal.
    marked = [f"'{views.prefix}' AS mark", *map("{} AS {}".format, read, internal)]
    views.make("source", renamed.select(*map(expr, marked)))
    found = zip(source.columns, internal, types, strict=True)
    return tuple(Column(name, c, _kind(kind), kind) for name, c, kind in found)


def _frame(session: Any, source: Source) -> Any:
    if source.spark is not None:
        return source.spark
    if source.arrow is not None:
        names = [f"c{i}" for i in range(source.arrow.num_columns)]
        return arrow_to_frame(source.arrow.rename_columns(names), session)
    paths = [_as_written(str(path.resolve())) for path in source.paths]
    if source.format == "csv":
        return _csv(session, paths, source)
    return session.read.parquet(*paths).select(*map(_quoted, source.columns))


def _as_written(path: str) -> str:
    """A local path in which Spark sees no pattern for several files."""
    return "file://" + re.sub(r"([*?\[\]{}\\])", r"\\\1", path)


def _csv(session: Any, paths: Sequence[str], source: Source) -> Any:
    """All columns as text, so that leading zeros stay; a line of another length is an error."""
    schema = ", ".join(f"c{i} STRING" for i in range(len(source.columns)))
    return session.read.csv(
        list(paths),
        schema=schema,
        sep=source.delimiter,
        header=True,
        quote='"',
        escape='"',
        multiLine=True,
        mode="FAILFAST",
        encoding="UTF-8",
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _read(column: str, spark_type: str) -> str:
    if spark_type == "timestamp":
        return _UTC.format(c=column)
    if " collate " in spark_type:  # text compares by code points, as elsewhere
        return f"COLLATE({column}, 'UTF8_BINARY')"
    return column


def _kind(spark_type: str) -> Kind:
    return _KINDS.get(spark_type.partition("(")[0].partition(" ")[0], "unusable")
